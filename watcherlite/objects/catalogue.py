"""The table from which the daemons write payloads, derived from the classes."""

import textwrap
from collections.abc import Mapping

from oslo_utils import versionutils

from watcherlite.objects import (
    action,
    action_plan,
    audit,
    base,
    cluster,
    exception,
    fields,
    goal,
    stack,
    strategy,
)

#: name, kind, nullable, nested class, its version
Field = tuple[str, str, bool, str | None, str | None]

_KINDS = {
    fields.UUIDField: 'uuid',
    fields.StringField: 'string',
    fields.BooleanField: 'boolean',
    fields.IntegerField: 'integer',
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


#: Those of nested payloads first.
_MODULES = (*(exception, goal, strategy, audit, action_plan, action, stack, cluster),)


def payload_classes() -> dict[str, type[base.Payload]]:
    """Return all payload classes by their names on the wire, nested ones first."""
    registered = base.registered()
    return {
        cls.obj_name(): cls
        for module in _MODULES
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
    longer = []
    likes = []
    written: dict[str, str] = {}
    for name, versions in table().items():
        like = written.setdefault(repr(versions), name)
        if like != name:
            likes.append(f'PAYLOADS[{name!r}] = PAYLOADS[{like!r}]\n')
            continue
        lines.append(f'{name!r}: {{')
        before: tuple[Field, ...] | None = None
        # The order of the versions is kept: none may come before its predecessor.
        later = False
        for version, rows in versions.items():
            later = later or (before is not None and rows[: len(before)] == before)
            if later:
                longer.append(_later(name, version, versions))
            else:
                lines.append(f'    {version!r}: (')
                lines.extend(f'        {row!r},' for row in rows)
                lines.append('    ),')
            before = rows
        lines.append('},')
    body = textwrap.indent('\n'.join(lines), '    ')
    return f'{_HEAD}{body}\n}}\n{"".join(longer)}{"".join(likes)}'


def _later(name: str, version: str, versions: Mapping[str, tuple[Field, ...]]) -> str:
    """Return the source of a version, by what it has more than the one before it."""
    place = f'PAYLOADS[{name!r}]'
    known = list(versions)
    before = known[known.index(version) - 1]
    rows, begin = versions[version], ''
    if rows[: len(versions[before])] == versions[before]:
        rows = rows[len(versions[before]) :]
        begin = f'    *{place}[{before!r}],\n'
    body = ''.join(f'    {row!r},\n' for row in rows)
    return f'{place}[{version!r}] = (\n{begin}{body})\n'


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
