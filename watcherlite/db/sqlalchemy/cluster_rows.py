"""The rows of clusters and nodes, and how dataclasses are made of them; see `columns`.

A column differs from its field in three names: `user` is `user_name`, `index` is
`node_index`, and `last` is `last_action`. An owner is three columns.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from watcherlite.db.sqlalchemy.columns import named
from watcherlite.db.sqlalchemy.dialects import INTEGER, TEXT, TIME
from watcherlite.db.sqlalchemy.encryption import SEALED, FieldCipher
from watcherlite.db.sqlalchemy.mappers import Mapper, json_text, loads, time_or_null
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import (
    Binding,
    Cluster,
    Node,
    Owner,
    PolicyObject,
    Profile,
    Receiver,
)

Kind = TypeVar('Kind')

_OWNER = {'tenant': TEXT, 'user_name': TEXT, 'domain': TEXT}
_CHANGED = {'created_at': TIME, 'updated_at': TIME}
_TIMES = {'init_at': TIME, **_CHANGED, 'deleted_at': TIME}
#: In the order of the fields.
PROFILE = {
    'uuid': TEXT,
    'name': TEXT,
    'type': TEXT,
    'handler': TEXT,
    'spec': TEXT,
    **_OWNER,
    'metadata': TEXT,
    'id': INTEGER,
    **_CHANGED,
}
POLICY = {
    'uuid': TEXT,
    'name': TEXT,
    'type': TEXT,
    'spec': TEXT,
    **_OWNER,
    'data': TEXT,
    'id': INTEGER,
    **_CHANGED,
}
CLUSTER = {
    'uuid': TEXT,
    'name': TEXT,
    **_OWNER,
    'profile_id': INTEGER,
    'desired_capacity': INTEGER,
    'min_size': INTEGER,
    'max_size': INTEGER,
    'next_index': INTEGER,
    'timeout': INTEGER,
    'status': TEXT,
    'status_reason': TEXT,
    'metadata': TEXT,
    'config': TEXT,
    'data': TEXT,
    'dependents': TEXT,
    'id': INTEGER,
    **_TIMES,
}
NODE = {
    'uuid': TEXT,
    'name': TEXT,
    **_OWNER,
    'profile_id': INTEGER,
    'handler': TEXT,
    'cluster_id': INTEGER,
    'node_index': INTEGER,
    'role': TEXT,
    'tainted': INTEGER,
    'status': TEXT,
    'status_reason': TEXT,
    'metadata': TEXT,
    'data': TEXT,
    'dependents': TEXT,
    'physical_id': TEXT,
    'properties': TEXT,
    'attributes': TEXT,
    'kept': TEXT,
    'origin': TEXT,
    'last_action': TEXT,
    'id': INTEGER,
    **_TIMES,
}
BINDING = {
    'uuid': TEXT,
    'cluster_id': INTEGER,
    'policy_id': INTEGER,
    'priority': INTEGER,
    'enabled': INTEGER,
    'data': TEXT,
    'last_op': TIME,
    'id': INTEGER,
}
RECEIVER = {
    'uuid': TEXT,
    'name': TEXT,
    'type': TEXT,
    **_OWNER,
    'cluster_id': INTEGER,
    'action': TEXT,
    'actor': TEXT,
    'params': TEXT,
    'channel': TEXT,
    'id': INTEGER,
    **_CHANGED,
    'token_digest': TEXT,
}

_OBJECTS = frozenset(
    {
        *('spec', 'metadata', 'data', 'config', 'dependents', 'properties'),
        *('attributes', 'kept', 'actor', 'params', 'channel'),
    }
)
_FLAGS = frozenset({'tainted', 'enabled'})
_FIELDS = {'user_name': 'user', 'node_index': 'index', 'last_action': 'last'}


def _to_object(text: str) -> Mapping[str, Any]:
    # Most are empty, and each that is read passes here.
    return {} if text == '{}' else loads(text)


def _clean(text: str | None) -> str | None:
    """Return a text to be stored: no database keeps NUL characters in it."""
    return text.replace('\x00', '?') if text and '\x00' in text else text


def _writer(column: str, kind: str) -> Callable[[Any], Any] | None:
    """Return what makes a value of a field to be stored; None: nothing has to."""
    if column in _OBJECTS:
        return json_text
    if column in _FLAGS:
        return int
    if kind == TIME:
        return time_or_null
    return _clean if kind == TEXT else None


class Rows(Generic[Kind]):
    """Both ways between one kind of rows and its dataclass, by position.

    :ivar select: the columns, for SELECT
    """

    def __init__(
        self, kind: type[Kind], table: str, columns: Mapping[str, str]
    ) -> None:
        self.kind, self.table, self.columns = kind, table, columns
        self.select = named(table, columns)
        names = list(columns)
        #: Where the three columns of the owner begin.
        self._owner = names.index('tenant') if 'tenant' in columns else None
        sealed = SEALED.get(table, {})
        self._sealed = [(names.index(c), whole) for c, whole in sealed.items()]
        self._writers = [
            (_FIELDS.get(name, name), name in _OWNER, _writer(name, columns[name]))
            for name in names
        ]
        self._objects = [at for at, name in enumerate(names) if name in _OBJECTS]
        self._flags = [at for at, name in enumerate(names) if name in _FLAGS]
        self._times = [at for at, name in enumerate(names) if columns[name] == TIME]

    def values(self, row: Any, sealing: FieldCipher) -> dict[str, Any]:
        """Return what is stored of a dataclass, by column."""
        found = []
        for field, of_owner, writer in self._writers:
            value = getattr(row.owner if of_owner else row, field)
            found.append(value if writer is None else writer(value))
        for at, whole in self._sealed:
            found[at] = sealing.stored(found[at], whole)
        return dict(zip(self.columns, found, strict=True))

    def made(self, row: Sequence[Any], mapper: Mapper) -> Kind:
        """Return the dataclass of a row."""
        values = list(row)
        for at, _ in self._sealed:
            values[at] = mapper.sealing.opened(values[at])
        for at in self._objects:
            values[at] = _to_object(values[at])
        for at in self._flags:
            values[at] = bool(values[at])
        for at in self._times:
            values[at] = mapper.time(values[at])
        if self._owner is not None:
            begin = self._owner
            values[begin : begin + 3] = [Owner(*values[begin : begin + 3])]
        return self.kind(*values)


PROFILES = Rows(Profile, 'profiles', PROFILE)
POLICIES = Rows(PolicyObject, 'policies', POLICY)
CLUSTERS = Rows(Cluster, 'clusters', CLUSTER)
NODES = Rows(Node, 'nodes', NODE)
BINDINGS = Rows(Binding, 'bindings', BINDING)
RECEIVERS = Rows(Receiver, 'receivers', RECEIVER)
#: By the type of what is listed.
NOUNS: Mapping[type, Rows[Any]] = {
    rows.kind: rows for rows in (PROFILES, POLICIES, CLUSTERS, NODES, RECEIVERS)
}


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """Where the rows of a noun are, and which of them are shown.

    :param shown: the condition for those
    :param hidden: whether indexes begin with the column `hidden`
    """

    table: str
    shown: str
    hidden: bool = False


PLACES: Mapping[type, Place] = {
    **{kind: Place(rows.table, '1 = 1') for kind, rows in NOUNS.items()},
    Cluster: Place('clusters', 'clusters.hidden = 0', hidden=True),
    Node: Place('nodes', 'nodes.hidden = 0', hidden=True),
    Action: Place('actions', 'actions.tenant IS NOT NULL'),
}
