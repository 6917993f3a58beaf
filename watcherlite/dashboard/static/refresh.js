// Loads a page again periodically, for pages without a stream of events.

import { showLocalTimes } from './times.js';

export function refreshPeriodically(main) {
  const refresh = () => replaceContent(main);
  setInterval(refresh, Number(main.dataset.refresh) * 1000);
  // Whoever returns to the page sees the present state.
  document.addEventListener('visibilitychange', refresh);
}

async function replaceContent(main) {
  if (document.visibilityState !== 'visible' || isInUse(main)) {
    return;
  }
  const address = new URL(location.href);
  address.searchParams.delete('done');
  try {
    const answer = await fetch(address);
    if (!answer.ok || answer.redirected) {
      return;
    }
    const parsed = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const found = parsed.getElementById('main');
    if (found && !isInUse(main)) {
      showLocalTimes(found);
      main.replaceChildren(...found.childNodes);
    }
  } catch (error) {
    // The service is away; try again.
  }
}

// Whether somebody reads or fills in what a replacement would close or lose.
function isInUse(main) {
  const focused = document.activeElement;
  return (
    main.querySelector('details[open]') !== null ||
    (focused !== main && main.contains(focused)) ||
    !document.getSelection().isCollapsed
  );
}
