// Appends new lines to the log of an action.

import { followHistory } from './histories.js';

// The oldest lines are removed from the page beyond this number of entries.
const MOST = 5000;
const ENDED = new Set(['SUCCEEDED', 'FAILED', 'CANCELLED', 'SKIPPED', 'DELETED']);

export function followLog(section) {
  followHistory(new Log(section));
}

class Log {
  constructor(section) {
    this.section = section;
    this.lines = section.querySelector('pre');
    this.url = section.dataset.log;
    this.name = 'logs';
    this.after = section.dataset.after;
  }

  // Whether the action that the page shows has ended.
  isOver() {
    const state = document.querySelector('#summary [data-action] .state-name');
    return state !== null && ENDED.has(state.textContent);
  }

  apply(entry) {
    const lines = this.lines;
    const atEnd = lines.scrollTop + lines.clientHeight >= lines.scrollHeight - 4;
    const attempt = String(entry.attempt);
    const last = lines.lastElementChild;
    if (last !== null && last.dataset.attempt !== attempt) {
      lines.append(this.line('log', attempt, `Attempt ${attempt}\n`));
    }
    const element = this.line(entry.stream, attempt, entry.text);
    element.title = `${entry.stream} ${entry.logged_at}`;
    lines.append(element);
    while (lines.childElementCount > MOST) {
      lines.firstElementChild.remove();
    }
    this.section.hidden = false;
    if (atEnd) {
      lines.scrollTop = lines.scrollHeight;
    }
  }

  line(stream, attempt, text) {
    const element = document.createElement('span');
    element.className = stream;
    element.dataset.attempt = attempt;
    element.textContent = text;
    return element;
  }

  end() {}
}
