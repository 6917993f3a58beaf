"""What consumers hear of plans that real daemons execute."""

from tests.acceptance.daemons import APPLIER, DaemonTestCase
from tests.acceptance.listening import Ear, Listener, data, story

WATCHER = ('watcher_object.name', 'watcher_object.version', 'watcher_object.namespace')


class StoryTest(DaemonTestCase):
    """The whole story of a plan, as an unmodified oslo.messaging listener hears it."""

    def setUp(self):
        super().setUp()
        self.ear = self.useFixture(Ear(self.vhost.url))
        self.path = self.ini()
        self.operators = self.operator(self.path)
        self.start_ready(APPLIER, self.path)

    def names(self, uuid):
        return {a.uuid: name for name, a in self.operators.actions(uuid).items()}

    def hear(self, uuid):
        """Return all that is told of a plan; a listener is told the same."""
        told = self.ear.hear_all(self.operators.store, uuid)
        listener = self.useFixture(Listener(self.vhost.url))
        heard = listener.endpoint.wait_for(len(told))
        for priority in ('INFO', 'ERROR'):
            # Each priority is a queue of its own, and has an order of its own.
            self.assertEqual(
                [without_id(n) for n in told if n['priority'] == priority],
                [n for n in heard if n['priority'] == priority],
            )
        return told

    def test_one_that_succeeds_and_is_deleted(self):
        operator = self.operators
        uuid = operator.start(
            ('drain', 'nop', {'message': 'x'}),
            ('restart', 'nop', {'message': 'x'}, 'drain'),
        )
        operator.wait_until_ended(uuid)
        operator.plans.delete(uuid)

        self.assertEqual(
            [
                'actionplan.create: RECOMMENDED',
                'action.create drain: PENDING',
                'action.create restart: PENDING',
                'actionplan.update: RECOMMENDED -> PENDING',
                'actionplan.update: PENDING -> ONGOING',
                'actionplan.execution.start: ONGOING',
                'action.update drain: PENDING -> ONGOING',
                'action.execution.start drain: ONGOING',
                'action.update drain: ONGOING -> SUCCEEDED',
                'action.execution.end drain: SUCCEEDED',
                'action.update restart: PENDING -> ONGOING',
                'action.execution.start restart: ONGOING',
                'action.update restart: ONGOING -> SUCCEEDED',
                'action.execution.end restart: SUCCEEDED',
                'actionplan.update: ONGOING -> SUCCEEDED',
                'actionplan.execution.end: SUCCEEDED',
                'action.update drain: SUCCEEDED -> DELETED',
                'action.delete drain: DELETED',
                'action.update restart: SUCCEEDED -> DELETED',
                'action.delete restart: DELETED',
                'actionplan.update: SUCCEEDED -> DELETED',
                'actionplan.delete: DELETED',
            ],
            story(self.hear(uuid), self.names(uuid)),
        )

    def test_one_with_an_action_that_is_skipped_one_that_fails_and_a_cancelled_one(
        self,
    ):
        operator = self.operators
        uuid = operator.create(
            ('by_user', 'nop', {'message': 'x'}),
            ('by_itself', 'nop', {'message': 'x', 'skip_pre_condition': True}),
            ('stopped', 'sleep', {'duration': 1000}, 'by_itself', 'by_user'),
            ('broken', 'nop', {'message': 'x', 'fail_execute': True}, 'stopped'),
            ('refused', 'nop', {'message': 'x', 'fail_pre_condition': True}, 'broken'),
            ('fine', 'nop', {'message': 'x'}, 'refused'),
        )
        found = operator.actions(uuid)
        operator.plans.skip_action(found['by_user'].uuid, 'not today')
        operator.plans.start(uuid)
        operator.wait_for_status(uuid, 'RUNNING', 'stopped')
        operator.plans.signal_action(found['stopped'].uuid, 'CANCEL')
        operator.wait_until_ended(uuid)

        told = self.hear(uuid)

        self.assertEqual(
            [
                'actionplan.create: RECOMMENDED',
                *(f'action.create {name}: PENDING' for name in found),
                'action.update by_user: PENDING -> SKIPPED',
                'actionplan.update: RECOMMENDED -> PENDING',
                'actionplan.update: PENDING -> ONGOING',
                'actionplan.execution.start: ONGOING',
                'action.update by_itself: PENDING -> SKIPPED',
                'action.update stopped: PENDING -> ONGOING',
                'action.execution.start stopped: ONGOING',
                'action.cancel.start stopped: ONGOING',
                'action.update stopped: ONGOING -> CANCELLED',
                'action.cancel.end stopped: CANCELLED',
                'action.update broken: PENDING -> ONGOING',
                'action.execution.start broken: ONGOING',
                'action.update broken: ONGOING -> FAILED',
                'ERROR action.execution.error broken: FAILED, Failed in execute',
                'action.update refused: PENDING -> FAILED',
                'ERROR action.execution.error refused: FAILED, Failed in pre_condition',
                'action.update fine: PENDING -> ONGOING',
                'action.execution.start fine: ONGOING',
                'action.update fine: ONGOING -> SUCCEEDED',
                'action.execution.end fine: SUCCEEDED',
                'actionplan.update: ONGOING -> FAILED',
                'ERROR actionplan.execution.error: FAILED, Failed in execute',
            ],
            story(told, self.names(uuid)),
        )
        self.assertEqual(
            {
                'by_user': 'Action skipped by user. Reason: not today',
                'by_itself': 'Action was skipped automatically: Skipped in '
                'pre_condition',
                'stopped': 'Action was cancelled while it ran.',
                'broken': 'Action failed in execute: Failed in execute',
                'refused': 'Action failed in pre_condition: Failed in pre_condition',
                'fine': None,
                '': 'One or more actions were skipped. '
                f'Action {found["by_user"].uuid} was skipped by user. '
                f'Action {found["by_itself"].uuid} was skipped automatically. '
                '2 actions failed: Failed in execute',
            },
            # What was told last of each
            {
                self.names(uuid).get(data(n)['uuid'], ''): data(n)['status_message']
                for n in told
            },
        )
        self.assertEqual(
            [
                ('FailedOnPurpose', 'Failed in execute', 'execute'),
                ('FailedOnPurpose', 'Failed in pre_condition', 'pre_condition'),
                ('FailedOnPurpose', 'Failed in execute', 'execute'),
            ],
            [
                (
                    fault['exception'],
                    fault['exception_message'],
                    fault['function_name'],
                )
                for n in told
                if n['priority'] == 'ERROR'
                for fault in [data(n)['fault']['watcher_object.data']]
            ],
        )

    def test_one_that_is_cancelled_while_it_runs(self):
        operator = self.operators
        uuid = operator.start(
            ('first', 'nop', {'message': 'x'}),
            ('stopped', 'sleep', {'duration': 1000}, 'first'),
            ('never', 'nop', {'message': 'x'}, 'stopped'),
        )
        operator.wait_for_status(uuid, 'RUNNING', 'stopped')
        operator.plans.cancel(uuid)
        operator.wait_until_ended(uuid)

        lines = story(self.hear(uuid), self.names(uuid))

        begin = lines.index('actionplan.update: ONGOING -> CANCELLING')
        self.assertEqual(
            [
                'actionplan.update: ONGOING -> CANCELLING',
                'actionplan.cancel.start: CANCELLING',
                'action.cancel.start stopped: ONGOING',
            ],
            lines[begin : begin + 3],
        )
        # Two threads, of which either may be the first.
        self.assertEqual(
            [
                'action.cancel.end stopped: CANCELLED',
                'action.update never: PENDING -> CANCELLED',
                'action.update stopped: ONGOING -> CANCELLED',
            ],
            sorted(lines[begin + 3 : -2]),
        )
        self.assertEqual(
            [
                'actionplan.update: CANCELLING -> CANCELLED',
                'actionplan.cancel.end: CANCELLED',
            ],
            lines[-2:],
        )

    def test_each_is_whole(self):
        operator = self.operators
        uuid = operator.start(('only', 'nop', {'message': 'x'}))
        operator.wait_until_ended(uuid)

        told = self.hear(uuid)

        self.assertEqual(
            [
                ('ActionPlanCreatePayload', '1.1', 'watcher'),
                ('ActionCreatePayload', '1.1', 'watcher'),
                ('ActionPlanUpdatePayload', '1.1', 'watcher'),
                ('ActionPlanUpdatePayload', '1.1', 'watcher'),
                ('ActionPlanActionPayload', '1.1', 'watcher'),
                ('ActionUpdatePayload', '1.1', 'watcher'),
                ('ActionExecutionPayload', '1.1', 'watcher'),
                ('ActionUpdatePayload', '1.1', 'watcher'),
                ('ActionExecutionPayload', '1.1', 'watcher'),
                ('ActionPlanUpdatePayload', '1.1', 'watcher'),
                ('ActionPlanActionPayload', '1.1', 'watcher'),
            ],
            [tuple(n['payload'][key] for key in WATCHER) for n in told],
        )
        self.assertEqual({'infra-optim:here'}, {n['publisher_id'] for n in told})
        plan = operator.plan(uuid)
        audits = {
            data(n)['audit']['watcher_object.data']['uuid']
            for n in told
            if n['event_type'].startswith('actionplan.')
        }
        surroundings = operator.store.plan_surroundings(plan.id)
        self.assertEqual({surroundings.audit.uuid}, audits)
        self.assertEqual(
            {(surroundings.audit.uuid, uuid)},
            {
                (terse['audit_uuid'], terse['uuid'])
                for n in told
                if n['event_type'].startswith('action.')
                for terse in [data(n)['action_plan']['watcher_object.data']]
            },
        )


def without_id(notification):
    """Return a notification without what oslo.messaging keeps to itself."""
    return {key: value for key, value in notification.items() if key != '_unique_id'}
