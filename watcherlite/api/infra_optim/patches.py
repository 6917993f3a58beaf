"""JSON patches (RFC 6902) with the operations add, replace and remove.

The errors are those of Watcher.
"""

import copy
import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import jsonpatch
import jsonpointer

from watcherlite import exceptions
from watcherlite.api.operation import Versioned, unversioned

ADD = 'add'
REPLACE = 'replace'
REMOVE = 'remove'
OPS = (ADD, REPLACE, REMOVE)
PATH = r'^(/[\w-]+)+$'
#: Attributes of all objects that patches cannot change.
INTERNAL = ('id', 'uuid', 'links', 'created_at', 'updated_at', 'deleted_at')

#: For `Operation.body`; it does not restrict the attributes.
SCHEMA: Versioned = unversioned(
    {
        'title': 'patch',
        'type': 'array',
        'description': 'A JSON patch (RFC 6902) with these three operations.',
        'items': {
            'type': 'object',
            'properties': {
                'op': {'type': 'string', 'enum': list(OPS)},
                'path': {
                    'type': 'string',
                    'pattern': PATH,
                    'description': 'The attribute, behind a slash.',
                },
                'value': {'description': 'For add and replace.'},
            },
            'required': ['op', 'path'],
            'additionalProperties': False,
        },
    }
)


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """An operation of a patch.

    :param name: the attribute, which is the first part of the path
    :param path: the path as given, with the slash
    :param value: None for REMOVE
    """

    op: str
    name: str
    path: str
    value: Any = None


def parse(
    body: Sequence[Mapping[str, Any]],
    *,
    allowed: Collection[str],
    mandatory: Collection[str] = (),
    internal: Collection[str] = (),
) -> list[Change]:
    """Return the changes of a patch; Invalid if one is not allowed.

    :param body: it fits `SCHEMA`
    :param allowed: the attributes that it may name
    :param mandatory: attributes that cannot be removed
    :param internal: attributes that it cannot change, in addition to INTERNAL
    """
    return [_change(line, allowed, mandatory, (*INTERNAL, *internal)) for line in body]


def _change(
    line: Mapping[str, Any],
    allowed: Collection[str],
    mandatory: Collection[str],
    internal: Collection[str],
) -> Change:
    op, path = line['op'], line['path']
    name = path.split('/')[1]
    if name not in allowed:
        raise exceptions.Invalid(
            f"'{path}' is not an allowed attribute and can not be updated"
        )
    if name in internal:
        raise exceptions.Invalid(
            f"'{path}' is an internal attribute and can not be updated"
        )
    if op == REMOVE:
        if name in mandatory and path == f'/{name}':
            raise exceptions.Invalid(
                f"'{path}' is a mandatory attribute and can not be removed"
            )
        return Change(op, name, path)
    if 'value' not in line:
        raise exceptions.Invalid("'add' and 'replace' operations needs value")
    return Change(op, name, path, line['value'])


def apply(document: Mapping[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
    """Return a patched copy of a document.

    Invalid, with the path, for a change that does not apply. Values are not repeated,
    because parameters may contain secrets.
    """
    patched: dict[str, Any] = copy.deepcopy(dict(document))
    for change in changes:
        line: dict[str, Any] = {'op': change.op, 'path': change.path}
        if change.op != REMOVE:
            line['value'] = change.value
        try:
            # The messages of the library may contain secrets.
            jsonpatch.apply_patch(patched, [line], in_place=True)
        except (
            jsonpatch.JsonPatchException,
            jsonpointer.JsonPointerException,
            LookupError,
            TypeError,
        ):
            raise exceptions.Invalid(
                f"Couldn't apply patch '{change.path}'. Reason: {_reason(change)}"
            ) from None
    return patched


def _reason(change: Change) -> str:
    if change.op == ADD:
        return 'nothing can be added there'
    return f'there is nothing to {change.op}'
