// Applies the events of an action plan to the page. Texts are set as text, never as
// HTML.

import { followHistory } from './histories.js';
import { showLocalTimes } from './times.js';

const ICONS = {
  PENDING: '○', ONGOING: '▶', SUSPENDED: '‖', SUCCEEDED: '✓', FAILED: '✗',
  CANCELLED: '⊘', SKIPPED: '↷',
};
const ENDED = new Set(['SUCCEEDED', 'FAILED', 'CANCELLED', 'SUPERSEDED', 'DELETED']);
const SUMMARY = 1000;

export function followEvents(main) {
  followHistory(new Page(main));
}

class Page {
  constructor(main) {
    this.main = main;
    this.url = main.dataset.events;
    this.name = 'events';
    this.after = main.dataset.after || '0';
    this.timer = null;
    this.counting = null;
  }

  // Whether the plan that the page showed last has ended.
  isOver() {
    return ENDED.has(document.getElementById('summary').dataset.plan);
  }

  end() {
    this.refreshSummary();
  }

  apply(event) {
    if (event.action_uuid && event.new_state) {
      const state = event.suspended ? 'SUSPENDED' : event.new_state;
      const selector = `[data-action="${CSS.escape(event.action_uuid)}"]`;
      for (const element of this.main.querySelectorAll(selector)) {
        showState(element, state, event.message);
      }
      this.recount();
    }
    if (!event.action_uuid || event.action_uuid === this.main.dataset.watch) {
      this.refreshSummary();
    }
  }

  // Counted here, because the service would have to read all actions.
  recount() {
    const list = document.getElementById('counts');
    if (!list || this.counting) {
      return;
    }
    this.counting = setTimeout(() => {
      this.counting = null;
      const counts = new Map();
      for (const badge of this.main.querySelectorAll('#actions .state')) {
        const name = badge.querySelector('.state-name').textContent;
        const [shown, count] = counts.get(name) || [badge, 0];
        counts.set(name, [shown, count + 1]);
      }
      list.replaceChildren(
        ...[...counts.values()].map(([badge, count]) => {
          const item = document.createElement('li');
          item.append(badge.cloneNode(true), ` ${count}`);
          return item;
        }),
      );
    }, SUMMARY);
  }

  // The state and its buttons, and the outputs of an action: fetched at most once a
  // second.
  refreshSummary() {
    if (!this.main.dataset.summary || this.timer) {
      return;
    }
    this.timer = setTimeout(async () => {
      this.timer = null;
      const answer = isInUse() ? null : await fetchOrNull(this.main.dataset.summary);
      // The service is away, or a form may have been opened meanwhile.
      if (answer === null || isInUse()) {
        this.refreshSummary();
        return;
      }
      if (answer.ok && !answer.redirected) {
        const parsed = new DOMParser().parseFromString(await answer.text(), 'text/html');
        if (!isInUse()) {
          replace('summary', parsed);
          replace('outputs', parsed);
        }
      }
    }, SUMMARY);
  }
}

// Replaces a part of the page, if both pages have it.
function replace(id, parsed) {
  const [shown, found] = [document.getElementById(id), parsed.getElementById(id)];
  if (shown && found) {
    showLocalTimes(found);
    shown.replaceWith(found);
  }
}

async function fetchOrNull(url) {
  try {
    return await fetch(url);
  } catch (error) {
    return null;
  }
}

// Whether somebody is about to use a form of the summary, which must not be replaced.
function isInUse() {
  return document.querySelector('#summary details[open]') !== null;
}

function showState(element, state, message) {
  const name = `state-${state.toLowerCase()}`;
  if (element.classList.contains('node')) {
    element.setAttribute('class', `node ${name}`);
    element.querySelector('.icon').textContent = ICONS[state] || '?';
    const parts = element.getAttribute('aria-label').split(', ');
    parts[parts.length - 1] = state;
    element.setAttribute('aria-label', parts.join(', '));
    return;
  }
  const badge = element.querySelector('.state');
  if (badge) {
    badge.className = `state ${name}`;
    badge.querySelector('.icon').textContent = ICONS[state] || '?';
    badge.querySelector('.state-name').textContent = state;
  }
  const text = element.querySelector('.message');
  if (text) {
    text.textContent = message || '';
  }
}
