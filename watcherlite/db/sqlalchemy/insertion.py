"""The part of a transaction that stores new actions and their edges."""

from collections.abc import Iterable, Sequence

from watcherlite import exceptions
from watcherlite.db.sqlalchemy.columns import NEW_ACTION
from watcherlite.db.sqlalchemy.dialects import INTEGER, TEXT, Batch, insertion
from watcherlite.db.sqlalchemy.mappers import new_action
from watcherlite.db.sqlalchemy.statement_group import StatementGroup
from watcherlite.domain.actions import Edge, NewAction

#: Rows in one statement: more gain nothing and need memory on both sides.
PORTION = 2000

_NAMES = ', '.join(NEW_ACTION)
_INTO = f'INSERT INTO actions ({_NAMES}, audit_id)'
_AUDIT = '(SELECT p.audit_id FROM action_plans AS p WHERE p.id = {})'
_PLACES = ', '.join('?' * len(NEW_ACTION))
_PLAN_ID = f'?{list(NEW_ACTION).index("plan_id") + 1}'
#: Whatever stores an action, its audit is that of its plan.
ACTIONS = Batch(
    f'{_INTO} SELECT {_NAMES}, {_AUDIT.format("r.plan_id")} FROM ROWS(:rows)',
    NEW_ACTION,
    one=f'{_INTO} VALUES ({_PLACES}, {_AUDIT.format(_PLAN_ID)})',
)
EDGES = insertion(
    'action_dependencies', {'parent_id': INTEGER, 'child_id': INTEGER, 'needs': TEXT}
)
IDS = 'SELECT uuid, id FROM actions WHERE uuid IN_TEXTS(:uuids)'


class Insertion(StatementGroup):
    """Storing in bulk."""

    def insert_actions(
        self, actions: Sequence[NewAction], edges: Sequence[Edge]
    ) -> list[int]:
        ids: list[int] = []
        for at in range(0, len(actions), PORTION):
            ids += self._insert_portion(actions[at : at + PORTION])
        if edges:
            known = dict(zip((action.uuid for action in actions), ids, strict=True))
            self._insert_edges(edges, known)
        return ids

    def _insert_portion(self, actions: Sequence[NewAction]) -> Sequence[int]:
        """Store actions, all in one statement; return their ids."""
        ids = self._reserve(len(actions), 'actions')
        sealing = self._session.mapper.sealing
        rows = [
            new_action(action, key, sealing)
            for action, key in zip(actions, ids, strict=True)
        ]
        self._insert(ACTIONS, rows)
        return ids

    def _insert_edges(self, edges: Sequence[Edge], known: dict[str, int]) -> None:
        unknown = {uuid for e in edges for uuid in (e.parent, e.child)} - known.keys()
        if unknown:
            known = {**known, **self._ids(unknown)}
        rows: dict[tuple[int, int], str] = {}
        for edge in edges:
            try:
                rows[known[edge.parent], known[edge.child]] = edge.needs
            except KeyError as missing:
                raise exceptions.NotFound(
                    f'Action {missing.args[0]}, named by the dependency of '
                    f'{edge.child} on {edge.parent}, could not be found.'
                ) from None
        items = [(parent, child, needs) for (parent, child), needs in rows.items()]
        for at in range(0, len(items), PORTION):
            self._insert(EDGES, items[at : at + PORTION])

    def _ids(self, uuids: Iterable[str]) -> dict[str, int]:
        """Return the ids of stored actions by their uuids."""
        wanted = sorted(uuids)
        found: dict[str, int] = {}
        for at in range(0, len(wanted), PORTION):
            texts = self._session.dialect.texts(wanted[at : at + PORTION])
            found.update(self._session.rows(IDS, uuids=texts))  # type: ignore[arg-type]
        return found
