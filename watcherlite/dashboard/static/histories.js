// Follows a history, such as the events of a plan: by a stream of server-sent events,
// or by polling where no stream is available.
//
// A history has `url`, `name` (of its rows in a page), `after` (the number of the last
// known row), `apply(row)`, `isOver()`, and `end()` for the end of its stream.

const POLL = 5000;

export function followHistory(history) {
  if (!history.isOver()) {
    openStream(history);
  }
}

function openStream(history) {
  if (!window.EventSource) {
    poll(history);
    return;
  }
  const source = new EventSource(`${history.url}?after=${history.after}`);
  source.onmessage = (message) => take(history, JSON.parse(message.data));
  source.addEventListener('end', () => {
    source.close();
    history.end();
  });
  source.onerror = () => {
    // The browser reconnects by itself, unless the service has no stream left.
    if (source.readyState === EventSource.CLOSED) {
      poll(history);
    }
  };
}

async function poll(history) {
  let over = false;
  while (!over) {
    await new Promise((resolve) => setTimeout(resolve, POLL));
    // Before the rows: all rows of an ended subject are found.
    over = history.isOver();
    try {
      const answer = await fetch(`${history.url}?after=${history.after}`, {
        headers: { Accept: 'application/json' },
      });
      if (answer.status === 401 || answer.redirected) {
        return;
      }
      if (answer.ok) {
        (await answer.json())[history.name].forEach((row) => take(history, row));
      }
    } catch (error) {
      // The service is away; try again.
      over = false;
    }
  }
}

function take(history, row) {
  history.after = String(row.sequence);
  history.apply(row);
}
