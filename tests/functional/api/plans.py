"""Plans and actions in every state, with fixed uuids.

Plan n is `aaaaaaaa-0000-4000-8000-00000000000n` and has one PENDING action,
`bbbbbbbb-…n`; its state is in PLAN_STATES. Plan 9 is ONGOING and has actions in the
other states, `cccccccc-…n`. All belong to one audit, `dddddddd-…1`, except for plan 9,
which belongs to `dddddddd-…2`.
"""

from typing import Any

from tests.factories import at, make_action, make_audit, make_plan, make_strategy
from watcherlite.db.action_logs import LogEntry
from watcherlite.db.api import Store
from watcherlite.domain.actions import Action
from watcherlite.domain.audits import NewGoal
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

PLAN_STATES = (
    plan_states.RECOMMENDED,
    plan_states.PENDING,
    plan_states.ONGOING,
    plan_states.SUCCEEDED,
    plan_states.FAILED,
    plan_states.CANCELLING,
    plan_states.CANCELLED,
    plan_states.SUPERSEDED,
)
#: The actions of plan 9.
ACTIONS: tuple[dict[str, Any], ...] = (
    {
        'status': states.SKIPPED,
        'status_message': 'Action skipped by user. Reason: not now',
    },
    {
        'status': states.SKIPPED,
        'status_message': 'Action was skipped automatically: the host is gone',
    },
    {'status': states.RUNNING, 'start_time': at(1)},
    {'status': states.SUSPENDED, 'start_time': at(1)},
    {
        'status': states.SUCCEEDED,
        'start_time': at(1),
        'end_time': at(2),
        'outputs': {'exit_code': 0, 'stdout': 'password=s3cret\ndone <b>'},
    },
    {
        'status': states.FAILED,
        'status_message': 'Action failed in execute: no disk',
        'start_time': at(1),
        'end_time': at(2),
    },
    {'status': states.CANCELLED},
    {'status': states.WAITING, 'pending': 1},
    {
        'action_type': 'sleep',
        'name': 'rest',
        'target': 'host-7',
        'inputs': {'duration': 1.5, 'password': 's3cret'},
    },
)


def uuid(letter: str, number: int) -> str:
    """Return the uuid of an object."""
    return f'{letter * 8}-0000-4000-8000-{number:012d}'


#: A finished action, and its log.
LOGGED = uuid('c', 5)
LOG = (
    ('stdout', 'copying <b>\n'),
    ('stderr', 'password=***\n'),
    ('log', 'GET http://127.0.0.1/: status 200 after 0.010 s\n'),
)


def store_all(store: Store) -> None:
    """Store all plans and actions."""
    with store.transaction() as tx:
        goal = tx.ensure_goal(
            NewGoal(uuid('e', 1), 'reached', 'Reached', created_at=at(0))
        )
        strategy = tx.ensure_strategy(
            make_strategy(uuid=uuid('e', 2), name='by_hand', goal_id=goal.id)
        )
        audits = [
            tx.insert_audit(
                make_audit(
                    goal.id,
                    uuid=uuid('d', number),
                    name=f'audit-{number}',
                    strategy_id=strategy.id,
                )
            )
            for number in (1, 2)
        ]
        common = {'strategy_id': strategy.id, 'updated_at': at(3)}
        for number, state in enumerate(PLAN_STATES, 1):
            plan = tx.insert_plan(
                make_plan(
                    uuid=uuid('a', number),
                    state=state,
                    audit_id=audits[0].id,
                    total=1,
                    unfinished=1,
                    **common,
                )
            )
            tx.insert_actions([_action('b', number, plan.id)], [])
        plan = tx.insert_plan(
            make_plan(
                uuid=uuid('a', 9),
                name='nightly',
                audit_id=audits[1].id,
                status_message='One or more actions were skipped.',
                total=len(ACTIONS),
                unfinished=4,
                active=2,
                failed=1,
                skipped=2,
                global_efficacy=[
                    {'name': 'saved', 'description': 'd', 'unit': '%', 'value': 50.0}
                ],
                **common,
            )
        )
        tx.insert_actions(
            [
                _action('c', number, plan.id, **values)
                for number, values in enumerate(ACTIONS, 1)
            ],
            [],
        )
    action_id = store.get_action(LOGGED).id
    store.insert_log_entries(
        [LogEntry(action_id, 1, stream, text, at(1)) for stream, text in LOG]
    )


def _action(letter: str, number: int, plan_id: int | None, **values: Any) -> Action:
    return make_action(uuid=uuid(letter, number), plan_id=plan_id, **values)
