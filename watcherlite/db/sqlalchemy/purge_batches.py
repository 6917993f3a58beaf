"""Deleting actions and events in blocks, each a transaction of its own."""

from typing import Any

from watcherlite.db.sqlalchemy.database import Session

#: Rows that are deleted in one transaction, which others may have to wait for.
BLOCK = 2000

#: That nobody waits for an action any more: who waits for derived actions looks at how
#: they ended when the last of them has, and at those of this run alone.
NOT_AWAITED = (
    'NOT EXISTS (SELECT 1 FROM actions AS origin '
    "WHERE origin.id = actions.derived_from AND origin.ended = '' "
    'AND origin.end_time IS NULL '
    'AND COALESCE(origin.start_time, actions.created_at) <= actions.created_at)'
)

DELETE_EDGES = 'DELETE FROM action_dependencies WHERE {} IN_IDS(:ids)'
DELETE_LOCKS = 'DELETE FROM locks WHERE action_id IN_IDS(:ids)'
DELETE_ACTIONS = 'DELETE FROM actions WHERE id IN_IDS(:ids)'
DELETE_EVENTS = 'DELETE FROM events WHERE sequence IN_IDS(:ids)'


def delete_block(
    session: Session, counts: dict[str, int], actions: str, events: str, **values: Any
) -> bool:
    """Delete some actions and events; return whether there may be more.

    :param counts: `actions` and `events` in it grow by how many went
    :param actions: the condition for those that go
    :param events: likewise
    """
    found = session.rows(
        f'SELECT id FROM actions WHERE {actions} ORDER BY id LIMIT :limit',
        limit=BLOCK,
        **values,
    )
    ids = [row[0] for row in found]
    if ids:
        listed = session.dialect.ids(ids)
        for column in ('parent_id', 'child_id'):
            session.count(DELETE_EDGES.format(column), ids=listed)
        session.count(DELETE_LOCKS, ids=listed)
        counts['actions'] += session.count(DELETE_ACTIONS, ids=listed)
    found = session.rows(
        f'SELECT sequence FROM events WHERE {events} ORDER BY sequence LIMIT :limit',
        limit=BLOCK,
        **values,
    )
    sequences = [row[0] for row in found]
    if sequences:
        listed = session.dialect.ids(sequences)
        counts['events'] += session.count(DELETE_EVENTS, ids=listed)
    return BLOCK in (len(ids), len(sequences))
