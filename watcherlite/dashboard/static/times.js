// Shows times in the zone of the viewer; the title has the exact time in UTC. Times of
// filters are entered in this zone as well; their forms send them in UTC.

const format = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'medium',
});

export function showLocalTimes(root) {
  for (const element of root.querySelectorAll('time[datetime]')) {
    element.textContent = format.format(new Date(element.dateTime));
  }
  for (const input of root.querySelectorAll('input[data-time]')) {
    enterLocalTime(input);
  }
}

// Replaces the field of a form by one in local time, and a hidden one with the time in UTC.
function enterLocalTime(input) {
  const time = input.value === '' ? null : new Date(withOffset(input.value.trim()));
  if (time !== null && isNaN(time)) {
    // Its format is one of the server alone: it remains in UTC.
    return;
  }
  const sent = document.createElement('input');
  sent.type = 'hidden';
  sent.name = input.name;
  sent.value = input.value;
  input.after(sent);
  input.removeAttribute('name');
  input.removeAttribute('data-time');
  input.type = 'datetime-local';
  input.step = 'any';
  // A browser that restores the field would not restore the hidden one.
  input.autocomplete = 'off';
  input.value = time === null ? '' : withoutOffset(time, time.getTimezoneOffset());
  input.addEventListener('input', () => {
    sent.value = input.value === '' ? '' : withoutOffset(new Date(input.value), 0);
  });
  for (const label of input.labels) {
    label.querySelector('.zone').textContent = 'local time';
  }
}

// A time without an offset is in UTC, as for the API.
function withOffset(text) {
  const time = text.replace(' ', 'T');
  if (/([zZ]|[+-]\d\d:?\d\d)$/.test(time)) {
    return time;
  }
  return time.includes('T') ? `${time}Z` : `${time}T00:00Z`;
}

// The time that a clock shows which is behind UTC by a number of minutes.
function withoutOffset(time, behind) {
  const shown = new Date(time.getTime() - behind * 60_000).toISOString();
  return shown.replace(/(:00)?\.000Z$/, '').replace(/Z$/, '');
}
