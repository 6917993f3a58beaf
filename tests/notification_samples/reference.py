"""The generated parts of the reference of notifications."""

from collections.abc import Iterable, Sequence

from tests.notification_samples import documents
from watcherlite.notifications.rules import subjects
from watcherlite.objects import base, registry


def blocks() -> dict[str, str]:
    """Return the generated parts of the page, in reStructuredText, by name."""
    return {
        'event types': _event_types(),
        'payloads': _payloads(),
        'samples': _samples(),
    }


def fill_page(page: str) -> str:
    """Return a page with its generated parts replaced.

    They are enclosed in `.. begin NAME` and `.. end NAME`.

    :raises ValueError: the page lacks one of the marks
    """
    for name, block in blocks().items():
        begin, end = f'.. begin {name}\n', f'.. end {name}\n'
        before, _, rest = page.partition(begin)
        _, mark, after = rest.partition(end)
        if not mark:
            raise ValueError(f'the page has no {begin!r} followed by {end!r}')
        page = f'{before}{begin}\n{block}\n{end}{after}'
    return page


def _event_types() -> str:
    rows = [
        (
            f'``{subject.prefix}.{name}``',
            notification.priority,
            f'``{notification.payload}``',
            notification.when.replace('`', '``'),
        )
        for subject in subjects.SUBJECTS.values()
        for name, notification in subject.notifications.items()
    ]
    return _table(('Event type', 'Priority', 'Payload', 'When'), rows)


def _payloads() -> str:
    classes = registry.payload_classes()
    parts = []
    own: set[str] = set()
    for subject in subjects.SUBJECTS.values():
        notifications = subject.notifications.values()
        names = list(dict.fromkeys(row.payload for row in notifications))
        own.update(names)
        every = [_rows(classes[name]) for name in names]
        common = {
            key: row for key, row in every[0].items() if all(key in r for r in every)
        }
        parts.append(_titled(f'All of {subject.prefix}.*', common.values()))
        parts.extend(
            f'``{name}`` also has:\n\n'
            + _fields_table([row for key, row in rows.items() if key not in common])
            for name, rows in zip(names, every, strict=True)
            if rows.keys() - common.keys()
        )
    parts.extend(
        _titled(name, _rows(cls).values())
        for name, cls in classes.items()
        if name not in own
    )
    return '\n'.join(parts)


def _samples() -> str:
    parts = []
    for event_type in documents.samples():
        title = f'{event_type}\n{"~" * len(event_type)}\n'
        path = f'../notification_samples/{documents.file_name(event_type)}'
        parts.append(f'{title}\n.. literalinclude:: {path}\n   :language: json\n')
    return '\n'.join(parts)


def _rows(cls: type[base.Payload]) -> dict[str, tuple[str, str, str, str]]:
    """Return field -> its row: name, type, whether it is nullable, first version."""
    history: dict[str, dict[str, base.PayloadField]] = {}
    for version in cls.versions():
        for field in cls.fields_in(version):
            history.setdefault(field.name, {})[version] = field
    rows = {}
    for name, fields in history.items():
        since, field = next(iter(fields)), fields[cls.VERSION]
        older = {
            earlier.version: version
            for version, earlier in fields.items()
            if earlier.version != field.version
        }
        kind = f'``{field.payload}`` {field.version}' if field.payload else field.kind
        kind += ''.join(f' (in {ours}: {theirs})' for theirs, ours in older.items())
        rows[name] = (f'``{name}``', kind, 'yes' if field.nullable else '', since)
    return rows


def _titled(title: str, rows: Iterable[tuple[str, str, str, str]]) -> str:
    return f'{title}\n{"~" * len(title)}\n\n{_fields_table(rows)}'


def _fields_table(rows: Iterable[tuple[str, str, str, str]]) -> str:
    return _table(('Field', 'Type', 'Null', 'Since'), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for row in (head, *rows):
        for index, cell in enumerate(row):
            lines.append(f'   {"*" if index == 0 else " "} - {cell}'.rstrip())
    return '\n'.join(lines) + '\n'
