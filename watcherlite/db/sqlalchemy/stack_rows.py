"""The rows of stacks, and how dataclasses are made of them; see `columns`.

A column differs from its field in one name: `user` is `user_name`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite.db.sqlalchemy.columns import named
from watcherlite.db.sqlalchemy.dialects import INTEGER, TEXT, TIME, dumps
from watcherlite.db.sqlalchemy.encryption import SEALED, FieldCipher
from watcherlite.db.sqlalchemy.mappers import Mapper, json_text, loads, time_or_null
from watcherlite.domain.stacks import Definition, Resource, Stack
from watcherlite.states.stack import State

#: In the order of the fields.
STACK = {
    'uuid': TEXT,
    'name': TEXT,
    'tenant': TEXT,
    'definition_id': INTEGER,
    'action': TEXT,
    'status': TEXT,
    'status_reason': TEXT,
    'id': INTEGER,
    'previous_id': INTEGER,
    'owner_id': INTEGER,
    'owner_resource': TEXT,
    'root_id': INTEGER,
    'depth': INTEGER,
    'operation': TEXT,
    'under_lock': TEXT,
    'lock_level': TEXT,
    'inherited_level': TEXT,
    'disable_rollback': INTEGER,
    'timeout': INTEGER,
    'deadline': TIME,
    'tags': TEXT,
    'description': TEXT,
    'user_name': TEXT,
    'context': TEXT,
    'created_at': TIME,
    'updated_at': TIME,
    'deleted_at': TIME,
}
RESOURCE = {
    'uuid': TEXT,
    'stack_id': INTEGER,
    'name': TEXT,
    'type': TEXT,
    'handler': TEXT,
    'action': TEXT,
    'status': TEXT,
    'status_reason': TEXT,
    'id': INTEGER,
    'physical_id': TEXT,
    'nested_id': INTEGER,
    'definition_id': INTEGER,
    'properties': TEXT,
    'attributes': TEXT,
    'metadata': TEXT,
    'data': TEXT,
    'requires': TEXT,
    'deletion_policy': TEXT,
    'superseded_by': INTEGER,
    'under_lock': TEXT,
    'under_mark': TEXT,
    'protected': INTEGER,
    'reference': TEXT,
    'created_at': TIME,
    'updated_at': TIME,
    'deleted_at': TIME,
}
#: Of the fields, in their order; the digest is found by.
DEFINITION = ('template', 'environment', 'files', 'parameters', 'id')
STACK_COLUMNS = named('stacks', STACK)
RESOURCE_COLUMNS = named('resources', RESOURCE)
DEFINITION_COLUMNS = named('definitions', DEFINITION)

_OBJECTS = frozenset({'properties', 'attributes', 'metadata', 'data', 'context'})
_NAMES = frozenset({'tags', 'requires'})
_STATES = frozenset({'under_lock', 'under_mark'})
_FLAGS = frozenset({'disable_rollback', 'protected'})
_FIELDS = {'user_name': 'user'}


def state_or_null(state: State | None) -> str | None:
    """Return a state to be stored, NULL for None."""
    if state is None:
        return None
    return dumps([state.action, state.status, state.reason])


def to_state(text: str | None) -> State | None:
    """Return a state that was stored."""
    return None if text is None else State(*loads(text))


def name_text(name: str) -> str:
    """Return a tag or a name as it stands in a list of them, in JSON.

    There is no quote in it but those around it, so that it can be searched for.
    """
    # Backslashes that stand for themselves come in pairs.
    pairs = dumps(name)[1:-1].split('\\\\')
    inner = '\\\\'.join(part.replace('\\"', '\\u0022') for part in pairs)
    return f'"{inner}"'


def _names_text(names: Sequence[str]) -> str:
    return f'[{",".join(map(name_text, names))}]'


def _to_names(text: str) -> tuple[str, ...]:
    return () if text == '[]' else tuple(loads(text))


def _to_object(text: str) -> Mapping[str, Any]:
    # Most are empty, and each that is read passes here.
    return {} if text == '{}' else loads(text)


def _text_or_null(text: str | None) -> str | None:
    """Return a text to be stored: no database keeps NUL characters in it."""
    return text.replace('\x00', '?') if text and '\x00' in text else text


def _writer(column: str, kind: str) -> Callable[[Any], Any] | None:
    """Return what makes a value of a field to be stored; None: nothing has to."""
    if column in _OBJECTS:
        return json_text
    if column in _NAMES:
        return _names_text
    if column in _STATES:
        return state_or_null
    if column in _FLAGS:
        return int
    if kind == TIME:
        return time_or_null
    return _text_or_null if kind == TEXT else None


def _reader(column: str) -> Callable[[Any], Any] | None:
    """Return what makes a field of a value, times left aside; None: nothing has to."""
    if column in _OBJECTS:
        return _to_object
    if column in _NAMES:
        return _to_names
    if column in _STATES:
        return to_state
    return bool if column in _FLAGS else None


class _Rows:
    """Both ways between one kind of rows and its dataclass, by position."""

    def __init__(self, table: str, columns: Mapping[str, str]) -> None:
        sealed = SEALED[table]
        self._sealed = [(at, sealed[c]) for at, c in enumerate(columns) if c in sealed]
        self._fields = [
            (_FIELDS.get(column, column), _writer(column, kind))
            for column, kind in columns.items()
        ]
        readers = [(at, _reader(column)) for at, column in enumerate(columns)]
        self._readers = [(at, reader) for at, reader in readers if reader is not None]
        kinds = list(columns.values())
        self._times = [at for at, kind in enumerate(kinds) if kind == TIME]

    def values(self, row: object, sealing: FieldCipher) -> list[Any]:
        """Return what is stored of a dataclass."""
        found = []
        for field, writer in self._fields:
            value = getattr(row, field)
            found.append(value if writer is None else writer(value))
        for at, whole in self._sealed:
            found[at] = sealing.stored(found[at], whole)
        return found

    def fields(self, row: Sequence[Any], mapper: Mapper) -> list[Any]:
        """Return the fields of a row."""
        values = list(row)
        for at, _ in self._sealed:
            if values[at] is not None:
                values[at] = mapper.sealing.opened(values[at])
        for at, reader in self._readers:
            values[at] = reader(values[at])
        for at in self._times:
            if values[at] is not None:
                values[at] = mapper.time(values[at])
        return values


_STACK_ROWS = _Rows('stacks', STACK)
_RESOURCE_ROWS = _Rows('resources', RESOURCE)


def new_stack(stack: Stack, sealing: FieldCipher) -> dict[str, Any]:
    """Return the values of STACK."""
    return dict(zip(STACK, _STACK_ROWS.values(stack, sealing), strict=True))


def new_resource(resource: Resource, sealing: FieldCipher) -> dict[str, Any]:
    """Return the values of RESOURCE."""
    return dict(zip(RESOURCE, _RESOURCE_ROWS.values(resource, sealing), strict=True))


def new_definition(definition: Definition, sealing: FieldCipher) -> dict[str, Any]:
    """Return the values of a definition but for the id, and what it is found by."""
    return {
        'digest': sealing.keyed(definition.digest),
        'template': sealing.document(definition.template, whole=True),
        'environment': sealing.document(definition.environment, whole=True),
        'files': sealing.document(definition.files, whole=True),
        'parameters': sealing.document(definition.parameters, whole=True),
    }


def to_stack(row: Sequence[Any], mapper: Mapper) -> Stack:
    """Return the stack of a row of STACK."""
    return Stack(*_STACK_ROWS.fields(row, mapper))


def to_resource(row: Sequence[Any], mapper: Mapper) -> Resource:
    """Return the resource of a row of RESOURCE."""
    return Resource(*_RESOURCE_ROWS.fields(row, mapper))


def to_definition(row: Sequence[Any], mapper: Mapper) -> Definition:
    """Return the definition of a row of DEFINITION."""
    template, environment, files, parameters, key = row
    loads = mapper.sealing.loads
    return Definition(
        loads(template), loads(environment), loads(files), loads(parameters), key
    )
