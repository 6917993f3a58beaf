"""The table from which the daemons write payloads, derived from the classes."""

import textwrap

from oslo_utils import versionutils

from watcherlite.objects import (
    action,
    action_plan,
    audit,
    base,
    exception,
    fields,
    goal,
    strategy,
)

#: name, kind, nullable, nested class, its version
Field = tuple[str, str, bool, str | None, str | None]

_KINDS = {
    fields.UUIDField: 'uuid',
    fields.StringField: 'string',
    fields.BooleanField: 'boolean',
    fields.DateTimeField: 'datetime',
    fields.FlexibleDictField: 'dict',
    fields.FlexibleListField: 'list',
    fields.ListOfUUIDField: 'uuids',
    fields.ObjectField: 'object',
}

_HEAD = '''\
"""The payloads as a table, for code that must not import the versioned objects.

Written by `python -m watcherlite.notifications.generate`; do not edit.
Payload class -> version -> its fields, each as
(name, kind, nullable, nested class or None, its version or None).
"""

Field = tuple[str, str, bool, str | None, str | None]

PAYLOADS: dict[str, dict[str, tuple[Field, ...]]] = {
'''


def payload_classes() -> dict[str, type[base.Payload]]:
    """Return all payload classes by their names on the wire, nested ones first."""
    registered = base.registered()
    return {
        cls.obj_name(): cls
        for module in (exception, goal, strategy, audit, action_plan, action)
        for cls in vars(module).values()
        if isinstance(cls, type)
        and issubclass(cls, base.Payload)
        and cls.obj_name() in registered
    }


def table() -> dict[str, dict[str, tuple[Field, ...]]]:
    """Return the fields of all versions of all classes."""
    return {
        name: {version: _fields(cls, version) for version in cls.versions()}
        for name, cls in payload_classes().items()
    }


def source() -> str:
    """Return the text of `notifications/schema.py`."""
    lines = []
    likes = []
    written: dict[str, str] = {}
    for name, versions in table().items():
        like = written.setdefault(repr(versions), name)
        if like != name:
            likes.append(f'PAYLOADS[{name!r}] = PAYLOADS[{like!r}]\n')
            continue
        lines.append(f'{name!r}: {{')
        for version, rows in versions.items():
            lines.append(f'    {version!r}: (')
            lines.extend(f'        {row!r},' for row in rows)
            lines.append('    ),')
        lines.append('},')
    body = textwrap.indent('\n'.join(lines), '    ')
    return f'{_HEAD}{body}\n}}\n{"".join(likes)}'


def _fields(cls: type[base.Payload], version: str) -> tuple[Field, ...]:
    target = versionutils.convert_version_to_tuple(version)
    rows = []
    for name in _names(cls):
        if _since(cls, name) > target:
            continue
        field = cls.fields[name]
        nested = getattr(field, 'objname', None)
        nested_version = _nested_version(cls, name, version) if nested else None
        kind = _KINDS[type(field)]
        rows.append((name, kind, field.nullable, nested, nested_version))
    return tuple(rows)


def _names(cls: type[base.Payload]) -> list[str]:
    """Return the fields in the order of versions, the base class's own first."""
    names: dict[str, None] = {}
    for parent in reversed(cls.mro()):
        names.update(dict.fromkeys(vars(parent).get('fields', ())))
    return sorted(names, key=lambda name: _since(cls, name))


def _since(cls: type[base.Payload], field: str) -> tuple[int, ...]:
    return versionutils.convert_version_to_tuple(cls.added_in.get(field, '1.0'))


def _nested_version(cls: type[base.Payload], field: str, version: str) -> str:
    """Return the version of a nested payload that goes into a version of ours."""
    target = versionutils.convert_version_to_tuple(version)
    known = [
        theirs
        for ours, theirs in cls.obj_relationships[field]
        if versionutils.convert_version_to_tuple(ours) <= target
    ]
    return known[-1]
