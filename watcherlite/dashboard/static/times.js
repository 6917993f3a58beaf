// Shows times in the zone of the viewer; the title has the exact time in UTC.

const format = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'medium',
});

export function showLocalTimes(root) {
  for (const element of root.querySelectorAll('time[datetime]')) {
    element.textContent = format.format(new Date(element.dateTime));
  }
}
