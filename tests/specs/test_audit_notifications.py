"""What is told of audits, from their creation to their deletion."""

import dataclasses
from collections.abc import Callable
from typing import Any

from tests import factories
from tests.functional.db.stores import MYSQL, POSTGRESQL, SQLITE, define_tests
from tests.specs.test_action_plan_notifications import DEADLINE, Recorder
from tests.unit.notifications import expectations
from watcherlite.clock import SystemClock
from watcherlite.domain import audits, events
from watcherlite.notifications.relay import Relay
from watcherlite.notifications.samples import infra_optim
from watcherlite.notifications.settings import NotificationSettings, RelaySettings

FAULT = {
    'exception': 'StrategyFailed',
    'message': 'There is no host to move anything to.',
    'module': 'dummy',
    'function': 'execute',
}
RUN = (
    events.STRATEGY_START,
    events.STRATEGY_END,
    events.PLANNER_START,
    events.PLANNER_END,
)


class AuditNotifications:
    """What happens is stored as the engine stores it: row and event at once."""

    #: Returns an empty store; from the kind of store.
    make_store: Callable[[], Any]

    def setUp(self):
        super().setUp()
        self.store = self.make_store()
        self.publisher = Recorder()
        self.relay = Relay(
            self.store,
            self.publisher,
            NotificationSettings('localhost'),
            factories.new_uuid(),
            SystemClock(),
            RelaySettings(sweep_interval=600.0),
        )

    def create(self, **values):
        """Store an audit and what it names; return it."""
        with self.store.transaction() as tx:
            goal = tx.ensure_goal(factories.make_goal(name='dummy'))
            strategy = tx.ensure_strategy(
                factories.make_strategy(
                    name='dummy',
                    goal_id=goal.id,
                    parameters_spec=infra_optim.PARAMETERS_SPEC,
                )
            )
            named = {'strategy_id': strategy.id, 'name': factories.new_uuid()}
            audit = tx.insert_audit(
                factories.make_audit(goal.id, **{**named, 'state': 'PENDING', **values})
            )
            tx.add_events([_event(audit, events.CREATED, None, audit.state)])
        return audit

    def becomes(self, audit, state, message=None, kind=events.STATE_CHANGED, **values):
        """Change an audit as it is stored."""
        with self.store.transaction() as tx:
            before = tx.lock_audit(audit.uuid)
            tx.save_audit(before.evolve(state=state, status_message=message, **values))
            tx.add_events([_event(audit, kind, before.state, state, message)])

    def steps(self, audit, *steps, fault=None):
        """Have steps of a run begin, end or fail."""
        detail = {'fault': fault} if fault else {}
        for step in steps:
            with self.store.transaction() as tx:
                state = tx.lock_audit(audit.uuid).state
                event = _event(audit, events.STEPPED, state, state)
                detail = {**detail, 'step': step}
                tx.add_events([dataclasses.replace(event, detail=detail)])

    def sent(self):
        """Publish what there is; return all messages so far."""
        self.assertTrue(self.relay.stop(DEADLINE))
        self.relay.run()
        return self.publisher.messages

    def test_one_that_runs_once_from_its_creation_to_its_deletion(self):
        audit = self.create()
        self.becomes(audit, 'ONGOING')
        self.steps(audit, *RUN[:3])
        self.proposes(audit)
        self.steps(audit, RUN[3])
        self.becomes(audit, 'SUCCEEDED')
        self.becomes(audit, 'DELETED', kind=events.DELETED, deleted_at=factories.NOW)

        self.assertEqual(
            [
                'audit.create: PENDING',
                'audit.update: PENDING -> ONGOING',
                'audit.strategy.start: ONGOING',
                'audit.strategy.end: ONGOING',
                'audit.planner.start: ONGOING',
                'actionplan.create: RECOMMENDED',
                'audit.planner.end: ONGOING',
                'audit.update: ONGOING -> SUCCEEDED',
                'audit.update: SUCCEEDED -> DELETED',
                'audit.delete: DELETED',
            ],
            expectations.story(self.sent()),
        )

    def test_one_whose_strategy_fails(self):
        audit = self.create()
        self.becomes(audit, 'ONGOING')
        self.steps(audit, events.STRATEGY_START)
        self.steps(audit, events.STRATEGY_ERROR, fault=FAULT)
        self.becomes(audit, 'FAILED', FAULT['message'])

        sent = self.sent()

        self.assertEqual(
            [
                'audit.create: PENDING',
                'audit.update: PENDING -> ONGOING',
                'audit.strategy.start: ONGOING',
                'audit.strategy.error: ONGOING',
                'audit.update: ONGOING -> FAILED',
            ],
            expectations.story(sent),
        )
        self.assertEqual(
            [
                (
                    'versioned_notifications.error',
                    infra_optim.AUDIT_FAULTS['strategy.error'],
                )
            ],
            [
                (routing_key, _data(message)['fault']['watcher_object.data'])
                for message in sent
                for routing_key in [message[0]]
                if routing_key.endswith('.error')
            ],
        )
        self.assertEqual(FAULT['message'], _data(sent[-1])['status_message'])

    def test_one_whose_planner_fails(self):
        audit = self.create()
        self.becomes(audit, 'ONGOING')
        self.steps(audit, *RUN[:3])
        self.steps(audit, events.PLANNER_ERROR, fault={**FAULT, 'module': 'weight'})
        self.becomes(audit, 'FAILED', FAULT['message'])

        sent = self.sent()

        self.assertEqual(
            [
                'audit.strategy.start: ONGOING',
                'audit.strategy.end: ONGOING',
                'audit.planner.start: ONGOING',
                'audit.planner.error: ONGOING',
                'audit.update: ONGOING -> FAILED',
            ],
            expectations.story(sent[2:]),
        )
        faults = [_data(message)['fault'] for message in sent[2:6]]
        self.assertEqual([None] * 3, faults[:3])
        self.assertEqual('weight', faults[3]['watcher_object.data']['module_name'])

    def test_one_that_repeats_goes_on_after_a_run_that_failed(self):
        audit = self.create(audit_type=audits.CONTINUOUS, interval='3600')
        self.becomes(audit, 'ONGOING', next_run_time=factories.at(3600))
        self.steps(audit, *RUN)
        self.steps(audit, events.STRATEGY_START)
        self.steps(audit, events.STRATEGY_ERROR, fault=FAULT)
        self.becomes(
            audit, 'ONGOING', FAULT['message'], events.MESSAGE_CHANGED, interval='60'
        )
        self.steps(audit, *RUN)
        self.becomes(audit, 'SUCCEEDED', next_run_time=None)

        run = [f'audit.{step}: ONGOING' for step in RUN]
        sent = self.sent()
        self.assertEqual(
            [
                'audit.create: PENDING',
                'audit.update: PENDING -> ONGOING',
                *run,
                'audit.strategy.start: ONGOING',
                'audit.strategy.error: ONGOING',
                'audit.update: ONGOING -> ONGOING',
                *run,
                'audit.update: ONGOING -> SUCCEEDED',
            ],
            expectations.story(sent),
        )
        self.assertEqual(
            {('CONTINUOUS', '60')},
            {(_data(m)['audit_type'], _data(m)['interval']) for m in sent},
        )

    def test_one_that_is_paused_goes_on_and_is_cancelled(self):
        audit = self.create(audit_type=audits.CONTINUOUS, interval='3600')
        self.becomes(audit, 'ONGOING')
        self.becomes(audit, 'SUSPENDED')
        self.becomes(audit, 'ONGOING')
        self.becomes(audit, 'CANCELLED')

        self.assertEqual(
            [
                'audit.create: PENDING',
                'audit.update: PENDING -> ONGOING',
                'audit.update: ONGOING -> SUSPENDED',
                'audit.update: SUSPENDED -> ONGOING',
                'audit.update: ONGOING -> CANCELLED',
            ],
            expectations.story(self.sent()),
        )

    def test_two_at_once_are_told_of_in_the_order_of_each(self):
        first, second = self.create(), self.create()
        self.becomes(first, 'ONGOING')
        self.steps(first, *RUN[:1])
        self.becomes(second, 'ONGOING')
        self.steps(second, *RUN[:2])
        self.steps(first, *RUN[1:2])
        self.becomes(second, 'CANCELLED')
        self.becomes(first, 'CANCELLED')

        stories = {first.uuid: [], second.uuid: []}
        for message in self.sent():
            stories[_data(message)['uuid']].append(*expectations.story([message]))
        story = [
            'audit.create: PENDING',
            'audit.update: PENDING -> ONGOING',
            'audit.strategy.start: ONGOING',
            'audit.strategy.end: ONGOING',
            'audit.update: ONGOING -> CANCELLED',
        ]
        self.assertEqual({first.uuid: story, second.uuid: story}, stories)

    def test_each_is_whole_and_has_an_id_of_its_own(self):
        audit = self.create(parameters=infra_optim.PARAMETERS, auto_trigger=True)
        self.becomes(audit, 'ONGOING')
        self.becomes(audit, 'CANCELLED')
        self.becomes(audit, 'DELETED', kind=events.DELETED, deleted_at=factories.NOW)

        sent = [expectations.inner(message) for message in self.sent()]

        self.assertEqual(
            [
                ('AuditCreatePayload', '1.2'),
                ('AuditUpdatePayload', '1.2'),
                ('AuditUpdatePayload', '1.2'),
                ('AuditUpdatePayload', '1.2'),
                ('AuditDeletePayload', '1.2'),
            ],
            [
                tuple(
                    n['payload'][f'watcher_object.{key}'] for key in ('name', 'version')
                )
                for n in sent
            ],
        )
        self.assertEqual(5, len({n['message_id'] for n in sent}))
        for notification in sent:
            data = notification['payload']['watcher_object.data']
            self.assertEqual(
                (
                    audit.uuid,
                    audit.name,
                    infra_optim.PARAMETERS,
                    True,
                    'dummy',
                    'dummy',
                    infra_optim.PARAMETERS_SPEC,
                ),
                (
                    data['uuid'],
                    data['name'],
                    data['parameters'],
                    data['auto_trigger'],
                    data['goal']['watcher_object.data']['name'],
                    data['strategy']['watcher_object.data']['name'],
                    data['strategy']['watcher_object.data']['parameters_spec'],
                ),
            )

    def proposes(self, audit):
        """Store a plan of an audit."""
        with self.store.transaction() as tx:
            plan = tx.insert_plan(
                factories.make_plan(
                    audit_id=audit.id,
                    strategy_id=audit.strategy_id,
                    state='RECOMMENDED',
                )
            )
            tx.add_events(
                [
                    factories.make_event(
                        plan,
                        kind=events.CREATED,
                        old_status=None,
                        new_status='RECOMMENDED',
                    )
                ]
            )


class DatabaseAuditNotifications(AuditNotifications):
    """On a database; mixed in before a kind of database."""

    def make_store(self):
        store = self.open_empty()
        self.addCleanup(store.close)
        return store


def _event(audit, kind, old, new, message=None):
    return expectations.audit_event(
        0, old, new, audit=audit, kind=kind, message=message
    ).event


def _data(message):
    return expectations.inner(message)['payload']['watcher_object.data']


define_tests(
    __name__,
    DatabaseAuditNotifications,
    on=(SQLITE, POSTGRESQL, MYSQL),
    name='AuditNotifications',
)
