"""Audits for tests: one in each state, named after it."""

from tests.factories import make_audit
from watcherlite.db.api import Store
from watcherlite.domain.audits import CONTINUOUS, EVENT, ONESHOT
from watcherlite.states import audit as states

#: name -> (type, state, interval)
STORED = {
    'pending': (ONESHOT, states.PENDING, None),
    'ongoing': (CONTINUOUS, states.ONGOING, '3600'),
    'suspended': (CONTINUOUS, states.SUSPENDED, '3600'),
    'succeeded': (ONESHOT, states.SUCCEEDED, None),
    'failed': (ONESHOT, states.FAILED, None),
    'cancelled': (ONESHOT, states.CANCELLED, None),
    'event-pending': (EVENT, states.PENDING, None),
    'event-other': (EVENT, states.PENDING, None),
    'event-versions': (EVENT, states.PENDING, None),
    'event-none': (EVENT, states.PENDING, None),
    'event-ongoing': (EVENT, states.ONGOING, None),
    'event-succeeded': (EVENT, states.SUCCEEDED, None),
    'event-failed': (EVENT, states.FAILED, None),
}


def store_all(store: Store) -> None:
    """Store the audits, for the existing goal and strategy dummy."""
    goal = store.find_goal('dummy').goal
    strategy = store.find_strategy('dummy').strategy
    with store.transaction() as tx:
        for name, (kind, state, interval) in STORED.items():
            tx.insert_audit(
                make_audit(
                    goal.id,
                    name=name,
                    audit_type=kind,
                    state=state,
                    strategy_id=strategy.id,
                    parameters={'para1': 3.2, 'para2': 'hello'},
                    interval=interval,
                    status_message=(
                        'Nobody knows why.' if state == states.FAILED else None
                    ),
                )
            )
