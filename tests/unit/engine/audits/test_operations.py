"""The operations of users on audits: accepted and rejected requests."""

import datetime
from typing import Any

from tests.audit_worlds import AuditCase
from tests.factories import at
from watcherlite import exceptions
from watcherlite.clock import EPOCH
from watcherlite.domain.actions import ActionChange
from watcherlite.domain.audits import Audit, AuditRequest, AuditTemplateRequest
from watcherlite.domain.creators import LOCAL, Creator
from watcherlite.states import action as action_states
from watcherlite.states import audit as states
from watcherlite.testing.clock import ManualClock

NOW = ManualClock().now()
HOUR = datetime.timedelta(hours=1)
CONTINUOUS: dict[str, Any] = {'audit_type': 'CONTINUOUS', 'interval': '60'}


class OperationsCase(AuditCase):
    """A world without workers: requests are stored, and nothing executes them."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_audit_world()

    def make(self, **keys: Any) -> Audit:
        return self.world.audits.create(
            AuditRequest(**{'audit_type': 'ONESHOT', **keys})
        )

    def assert_refused(self, error: type[Exception], message: str, **keys: Any) -> None:
        raised = self.assertRaises(error, self.make, **keys)
        self.assertIn(message, str(raised))
        self.assertEqual([], self.world.events())

    def update(self, audit: Audit, **changes: Any) -> Audit:
        updated = self.world.audits.update(audit.uuid, changes)
        self.assertEqual(updated, self.world.reload(audit))
        return updated

    def not_updated(
        self, audit: Audit, error: type[Exception], message: str, **changes: Any
    ) -> None:
        before = self.world.reload(audit), self.world.events()
        raised = self.assertRaises(error, self.world.audits.update, audit.uuid, changes)
        self.assertIn(message, str(raised))
        self.assertEqual(before, (self.world.reload(audit), self.world.events()))

    def in_state(self, state: str, **keys: Any) -> Audit:
        """Return an audit in a state."""
        audit = self.make(goal='dummy', **keys)
        with self.world.store.transaction() as tx:
            locked = tx.lock_audit(audit.uuid)
            assert locked is not None
            tx.save_audit(locked.evolve(state=state))
        return self.world.reload(audit)

    def create_template(self, **keys: Any) -> Any:
        desired = {'name': 'a template', 'goal': 'dummy', 'strategy': 'dummy', **keys}
        return self.world.templates.create(AuditTemplateRequest(**desired))


class CreateTest(OperationsCase):
    """New audits."""

    def test_the_defaults_of_the_strategy_are_written_into_the_parameters(self) -> None:
        for given, stored in (
            (None, {'para1': 3.2, 'para2': 'hello'}),
            ({'para1': 2}, {'para1': 2, 'para2': 'hello'}),
        ):
            audit = self.make(goal='dummy', strategy='dummy', parameters=given)
            self.assertEqual(stored, audit.parameters)

    def test_a_generated_name_has_the_strategy_and_the_time(self) -> None:
        self.create_template(name='t' * 63, strategy=None)
        time = '2030-01-01T00:00:00'
        for keys, prefix in (
            ({'goal': 'dummy', 'strategy': 'dummy'}, 'dummy'),
            ({'goal': 'unclassified'}, 'unclassified'),
            ({'audit_template': 't' * 63}, 't' * 43),
        ):
            audit = self.make(**keys)
            self.assertEqual(f'{prefix}-{time}', audit.name)
            self.assertLessEqual(len(audit.name), 63)

    def test_omitted_values_come_from_the_template(self) -> None:
        template = self.create_template(
            scope=[{'compute': []}], default_parameters={'para1': 2}
        )
        audit = self.make(audit_template='A Template')
        self.assertEqual(
            (
                template.goal_id,
                template.strategy_id,
                [{'compute': []}],
                {'para1': 2, 'para2': 'hello'},
            ),
            (audit.goal_id, audit.strategy_id, audit.scope, audit.parameters),
        )
        other = self.make(
            audit_template=template.uuid,
            parameters={'para2': 'x'},
            scope=[],
            name='other',
        )
        self.assertEqual(
            ([], {'para1': 3.2, 'para2': 'x'}), (other.scope, other.parameters)
        )

    def test_the_action_is_due_immediately_or_at_the_start_time(self) -> None:
        for start, due in (
            (None, EPOCH),
            (NOW - HOUR, EPOCH),
            (NOW + HOUR, NOW + HOUR),
        ):
            given = {'start_time': start} if start else {}
            audit = self.make(goal='dummy', name=str(start), **given, **CONTINUOUS)
            key = audit.action_id or 0
            action = self.world.store.actions_by_id([key])[key]
            self.assertEqual((due, 'READY'), (action.not_before, action.status))

    def test_a_rejected_request_stores_nothing(self) -> None:
        dummy: dict[str, Any] = {'goal': 'dummy', 'strategy': 'dummy'}
        for gone in ({'goal': 'nothing', 'strategy': None}, {'strategy': 'nothing'}):
            self.assert_refused(exceptions.NotFound, 'nothing', **{**dummy, **gone})
        repeated = {'audit_type': 'CONTINUOUS'}
        above = 'parameters.para1: 99 is greater than the maximum of 10.2'
        one_shot = 'of audit must not be set for ONESHOT.'
        for message, keys in (
            ('Audit type DAILY could not be found', {'audit_type': 'DAILY'}),
            ("does not relate to the 'unclassified' goal", {'goal': 'unclassified'}),
            (f'Interval {one_shot}', {'interval': '5'}),
            ('Interval of audit must be specified for CONTINUOUS.', repeated),
            (f'Start or End time {one_shot}', {'start_time': NOW}),
            (
                'must be after its start',
                {'start_time': NOW, 'end_time': NOW, **CONTINUOUS},
            ),
            ('cron line', {**repeated, 'interval': 'soon'}),
            ('no future time', {**repeated, 'interval': '0 0 1 1 * 0 1999'}),
            ('Audit parameter zz are not allowed', {'parameters': {'zz': 1}}),
            (above, {'parameters': {'para1': 99}}),
            (
                'Specify parameters but no predefined strategy',
                {'strategy': None, 'parameters': {'para1': 2}},
            ),
            ('parameters.para2: ', {'parameters': {'para2': 'a\0b'}}),
            ('cannot be used: it has 1 to 63', {'name': 'n' * 64}),
            ('cannot be used', {'name': ''}),
            ('cannot be used', {'name': 'a\nb'}),
            ('is not a list of objects', {'scope': ['compute']}),
        ):
            self.assert_refused(exceptions.Invalid, message, **{**dummy, **keys})


class UpdateTest(OperationsCase):
    """Changes of audits."""

    def test_an_update_without_changes_does_nothing(self) -> None:
        audit = self.make(goal='dummy', strategy='dummy')
        before = self.world.events()
        for changes in ({}, {'state': 'PENDING'}, {'force': False}):
            self.assertEqual(audit, self.update(audit, **changes))
        self.assertEqual(before, self.world.events())

    def test_an_edit_stores_an_event_without_a_change_of_state(self) -> None:
        audit = self.make(goal='dummy', strategy='dummy')
        changes: dict[str, Any] = {
            'name': 'better',
            'force': True,
            'auto_trigger': True,
            'scope': [{'storage': []}],
            'parameters': {'para2': 'x'},
        }
        after = self.update(audit, **changes)
        self.assertEqual(
            ('better', True, True, [{'storage': []}], {'para1': 3.2, 'para2': 'x'}),
            (
                after.name,
                after.force,
                after.auto_trigger,
                after.scope,
                after.parameters,
            ),
        )
        self.assertEqual(
            ['created', 'message_changed'],
            [line[0] for line in self.world.audit_events(audit)],
        )

    def test_the_event_of_an_edit_has_what_was_changed(self) -> None:
        audit = self.make(
            goal='dummy', strategy='dummy', audit_type='CONTINUOUS', interval='60'
        )
        end = at(3600)
        self.update(audit, interval='90', end_time=end, state='CANCELLED')
        stored = self.world.store.list_events(subject='audit', subject_id=audit.id)
        self.assertEqual(
            {
                'changes': {
                    'interval': {'old': '60', 'new': '90'},
                    'end_time': {'old': None, 'new': end.isoformat()},
                }
            },
            stored[-1].event.detail,
        )

    def test_changes_of_state_follow_the_state_machine(self) -> None:
        for source in states.STATES:
            if source == states.DELETED:
                continue
            for target in states.STATES:
                if target == source:
                    continue
                audit = self.in_state(source, name=f'{source} to {target}')
                pending_run = (source, target) == (states.PENDING, states.ONGOING)
                if target != states.DELETED and (
                    states.MACHINE.allows(source, target) or pending_run
                ):
                    self.assertEqual(target, self.update(audit, state=target).state)
                else:
                    self.not_updated(
                        audit,
                        exceptions.TransitionNotAllowed,
                        f'State transition not allowed: ({source} -> {target})',
                        state=target,
                    )
        # Only its webhook runs an EVENT audit.
        audit = self.make(goal='dummy', audit_type='EVENT')
        self.not_updated(
            audit, exceptions.TransitionNotAllowed, '-> ONGOING', state='ONGOING'
        )

    def test_event_after_the_end_of_a_run_is_a_run_of_its_own(self) -> None:
        audit = self.in_state(states.SUCCEEDED, audit_type='EVENT')
        first = self.world.audits.trigger(audit.uuid)
        # The run has stored its end in the audit; its action ends with a later commit.
        with self.world.store.transaction() as tx:
            (action,) = tx.lock_actions(filter(None, [first.action_id])).values()
            running = action.evolve(status=action_states.RUNNING)
            tx.change_actions([ActionChange(action, running)])

        second = self.world.audits.trigger(audit.uuid)
        third = self.world.audits.trigger(audit.uuid)

        self.assertNotEqual(first.action_id, second.action_id)
        self.assertEqual(second.action_id, third.action_id)
        self.assertEqual(
            ['RUNNING', 'READY'], [a.status for a in self.world._actions()]
        )

    def test_invalid_changes_are_rejected(self) -> None:
        audit = self.make(goal='dummy', strategy='dummy', name='x')
        self.make(goal='dummy', name='taken')
        invalid = exceptions.Invalid
        for error, message, changes in (
            (invalid, 'Invalid state: BOGUS', {'state': 'BOGUS'}),
            (invalid, 'Invalid state: None', {'state': None}),
            (invalid, 'hostname of an audit cannot be changed', {'hostname': 'x'}),
            (invalid, 'para1', {'parameters': {'para1': 'x'}}),
            (invalid, 'not allowed', {'parameters': {'zz': 'x'}}),
            (invalid, 'an object', {'parameters': [1]}),
            (invalid, 'true or false', {'force': 'yes'}),
            (invalid, 'needs a name', {'name': None}),
            (invalid, 'cannot be used', {'name': ' '}),
            (invalid, 'not be set for EVENT', {'audit_type': 'EVENT', 'interval': 5}),
            (invalid, 'now', {'interval': 'now and then'}),
            (invalid, 'seconds or a cron line', {'interval': [5]}),
            (invalid, 'could not be found', {'audit_type': 'DAILY'}),
            (invalid, 'needs a goal', {'goal': None}),
            (invalid, 'does not relate', {'goal': 'unclassified'}),
            (exceptions.NotFound, 'unknown', {'strategy': 'unknown'}),
            (exceptions.Conflict, '', {'name': 'taken'}),
        ):
            self.not_updated(audit, error, message, **changes)

    def test_a_new_type_before_the_first_run_reschedules_the_audit(self) -> None:
        audit = self.make(goal='dummy', name='x')
        audit = self.update(audit, audit_type='EVENT')
        self.assertEqual('CANCELLED', self.world.action('x').status)
        audit = self.update(audit, audit_type='CONTINUOUS', interval=60)
        self.assertEqual(
            ('READY', 60),
            (self.world.action('x').status, self.world.action('x').interval),
        )
        ongoing = self.in_state('ONGOING', name='y')
        self.not_updated(
            ongoing,
            exceptions.Conflict,
            'only before its first run',
            audit_type='EVENT',
        )


class CreatorTest(OperationsCase):
    """The authority of an audit is limited to that of every user who changed it."""

    def changed(self, before: Creator, by: Creator, **changes: Any) -> Creator:
        new = AuditRequest('ONESHOT', goal='dummy', strategy='dummy')
        audit = self.world.audits.create(new, creator=before)
        self.world.audits.update(audit.uuid, changes, by=by)
        return self.world.reload(audit).creator

    def test_only_a_change_of_the_proposal_limits_the_authority(self) -> None:
        mine, other = Creator('me', 'a'), Creator('other', 'b')
        changes: dict[str, Any] = {'parameters': {'para1': 7}}
        self.assertEqual(
            [mine, Creator('me'), Creator(None, 'b'), LOCAL, LOCAL, LOCAL],
            [
                self.changed(mine, LOCAL, **changes),
                self.changed(mine, other, **changes),
                self.changed(LOCAL, other, scope=[{'compute': []}]),
                self.changed(LOCAL, LOCAL, **changes),
                self.changed(LOCAL, other, state='CANCELLED'),
                self.changed(LOCAL, other, auto_trigger=True),
            ],
        )


class DeleteTest(OperationsCase):
    """Deletion."""

    def test_ended_audits_can_be_deleted(self) -> None:
        for state in states.STATES:
            if state == states.DELETED:
                continue
            audit = self.in_state(state, name=state)
            if states.MACHINE.allows(state, states.DELETED):
                self.world.audits.delete(state)
                self.assertRaises(
                    exceptions.NotFound, self.world.store.find_audit, state
                )
                self.assertEqual(
                    ('deleted', 'DELETED', None), self.world.audit_events(audit)[-1]
                )
            else:
                error = self.assertRaises(
                    exceptions.Invalid, self.world.audits.delete, state
                )
                self.assertEqual(
                    f"Couldn't delete when state is '{state}'.", str(error)
                )


class ConcurrentChangesTest(OperationsCase):
    """Two concurrent changes of one audit."""

    def test_a_concurrently_removed_strategy_is_not_restored(self) -> None:
        audit = self.make(goal='dummy', strategy='dummy')
        store = self.world.store
        find = store.find_audit

        def find_then_change(name: str, deleted: bool = False) -> Any:
            found = find(name, deleted)
            self.patch(store, 'find_audit', find)
            self.world.audits.update(audit.uuid, {'strategy': None, 'parameters': {}})
            return found

        self.patch(store, 'find_audit', find_then_change)
        error = self.assertRaises(
            exceptions.Invalid,
            self.world.audits.update,
            audit.uuid,
            {'parameters': {'para1': 2}},
        )
        self.assertIn('no predefined strategy', str(error))
        found = self.world.reload(audit)
        self.assertEqual((None, {}), (found.strategy_id, found.parameters))
