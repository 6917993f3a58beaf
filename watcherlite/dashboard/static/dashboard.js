// Makes pages live. Everything works without it: times are in UTC then, also those that
// are entered, and a page shows the present state when it is loaded again.

import { showLocalTimes } from './times.js';
import { followEvents } from './events.js';
import { followLog } from './logs.js';
import { refreshPeriodically } from './refresh.js';

showLocalTimes(document);
const main = document.getElementById('main');
if (main.dataset.events) {
  followEvents(main);
}
const log = document.getElementById('log');
if (log) {
  followLog(log);
}
if (main.dataset.refresh) {
  refreshPeriodically(main);
}
