"""Notifications of plans and audits that real daemons execute."""

from tests.acceptance.daemons import APPLIER, ENGINE, DaemonTestCase, wait_until
from tests.acceptance.listening import NotificationCase, data, notification_lines
from tests.acceptance.test_api import ApiCase

WATCHER = ('watcher_object.name', 'watcher_object.version', 'watcher_object.namespace')


class PlanNotificationTest(NotificationCase, DaemonTestCase):
    """The notifications of a plan, received by an oslo.messaging listener."""

    def setUp(self):
        super().setUp()
        self.start_ready(APPLIER, self.path)

    def names(self, uuid):
        return {a.uuid: name for name, a in self.operators.actions(uuid).items()}

    def test_a_plan_that_succeeds_and_is_deleted(self):
        operator = self.operators
        uuid = operator.start(
            ('drain', 'nop', {'message': 'x'}),
            ('restart', 'nop', {'message': 'x'}, 'drain'),
        )
        operator.wait_until_ended(uuid)
        audit = operator.store.plan_relations(operator.plan(uuid).id).audit.uuid
        operator.plans.delete(uuid)

        notifications = self.receive(uuid)

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
            notification_lines(notifications, self.names(uuid)),
        )
        self.assertEqual(
            {
                ('actionplan.create', 'ActionPlanCreatePayload', '1.3'),
                ('actionplan.update', 'ActionPlanUpdatePayload', '1.3'),
                ('actionplan.execution.start', 'ActionPlanActionPayload', '1.3'),
                ('actionplan.execution.end', 'ActionPlanActionPayload', '1.3'),
                ('actionplan.delete', 'ActionPlanDeletePayload', '1.3'),
                ('action.create', 'ActionCreatePayload', '1.2'),
                ('action.update', 'ActionUpdatePayload', '1.2'),
                ('action.execution.start', 'ActionExecutionPayload', '1.2'),
                ('action.execution.end', 'ActionExecutionPayload', '1.2'),
                ('action.delete', 'ActionDeletePayload', '1.2'),
            },
            {
                (n['event_type'], *(n['payload'][key] for key in WATCHER[:2]))
                for n in notifications
            },
        )
        self.assertEqual(
            {('watcher', 'infra-optim:here')},
            {(n['payload'][WATCHER[2]], n['publisher_id']) for n in notifications},
        )
        self.assertEqual(
            {('actionplan', audit, uuid), ('action', audit, uuid)},
            {_subject_of(n) for n in notifications},
        )

    def test_a_plan_with_a_skipped_a_failed_and_a_cancelled_action(self):
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

        notifications = self.receive(uuid)

        self.assertEqual(
            [
                'actionplan.create: RECOMMENDED',
                *(f'action.create {name}: PENDING' for name in found),
                'action.update by_user: PENDING -> SKIPPED',
                'actionplan.update: RECOMMENDED -> RECOMMENDED',
                'actionplan.update: RECOMMENDED -> PENDING',
                'actionplan.update: PENDING -> ONGOING',
                'actionplan.execution.start: ONGOING',
                'action.update by_itself: PENDING -> SKIPPED',
                'actionplan.update: ONGOING -> ONGOING',
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
            notification_lines(notifications, self.names(uuid)),
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
                '': '2 actions failed: Failed in execute. '
                'One or more actions were skipped. '
                f'Action {found["by_user"].uuid} was skipped by user. '
                f'Action {found["by_itself"].uuid} was skipped automatically.',
            },
            # The last notification of each object.
            {
                self.names(uuid).get(data(n)['uuid'], ''): data(n)['status_message']
                for n in notifications
            },
        )
        self.assertEqual(
            [
                ('FailedOnPurpose', 'Failed in execute', 'execute'),
                ('FailedOnPurpose', 'Failed in pre_condition', 'pre_condition'),
                ('FailedOnPurpose', 'Failed in execute', 'execute'),
            ],
            [
                (fault['exception'], fault['exception_message'], fault['function_name'])
                for n in notifications
                if n['priority'] == 'ERROR'
                for fault in [data(n)['fault']['watcher_object.data']]
            ],
        )

    def test_a_running_plan_is_cancelled(self):
        operator = self.operators
        uuid = operator.start(
            ('first', 'nop', {'message': 'x'}),
            ('stopped', 'sleep', {'duration': 1000}, 'first'),
            ('never', 'nop', {'message': 'x'}, 'stopped'),
        )
        operator.wait_for_status(uuid, 'RUNNING', 'stopped')
        operator.plans.cancel(uuid)
        operator.wait_until_ended(uuid)

        lines = notification_lines(self.receive(uuid), self.names(uuid))

        begin = lines.index('actionplan.update: ONGOING -> CANCELLING')
        self.assertEqual(
            [
                'actionplan.update: ONGOING -> CANCELLING',
                'actionplan.cancel.start: CANCELLING',
                'action.cancel.start stopped: ONGOING',
            ],
            lines[begin : begin + 3],
        )
        # Two threads run them, in any order.
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


class AuditNotificationTest(NotificationCase, ApiCase):
    """The notifications of an audit that a user requests over HTTP.

    The API stores the request, the engine executes it; both publish notifications.
    """

    database = DaemonTestCase.database
    broker = True

    def setUp(self):
        super().setUp()
        self.start_ready(ENGINE, self.path)
        _, self.port = self.serve()

    def post(self, **body):
        """Request an audit; return its uuid."""
        status, audit = self.ask(self.port, 'POST', '/v1/audits', body)
        self.assertEqual(201, status, audit)
        return audit['uuid']

    def patch(self, uuid, **changes):
        """Change an audit."""
        lines = [
            {'op': 'replace', 'path': f'/{key}', 'value': value}
            for key, value in changes.items()
        ]
        status, answer = self.ask(self.port, 'PATCH', f'/v1/audits/{uuid}', lines)
        self.assertEqual(200, status, answer)

    def audit(self, uuid):
        return self.ask(
            self.port,
            'GET',
            f'/v1/audits/{uuid}',
            OpenStack_API_Version='infra-optim 1.5',
        )[1]

    def plans(self, uuid):
        """Return the uuids of the plans that an audit has proposed."""
        _, found = self.ask(self.port, 'GET', f'/v1/action_plans?audit_uuid={uuid}')
        return [plan['uuid'] for plan in found['action_plans']]

    def wait_for(self, uuid, state):
        wait_until(
            lambda: self.audit(uuid)['state'] == state,
            lambda: f'{state} of {self.audit(uuid)}',
        )

    def wait_for_plans(self, uuid, count):
        wait_until(
            lambda: len(self.plans(uuid)) == count,
            lambda: f'{count} plans of {self.audit(uuid)}',
        )

    def test_audits_whose_strategy_or_planner_fails(self):
        first = self.post(goal='airflow_optimization', audit_type='ONESHOT')
        self.wait_for(first, 'FAILED')
        actions = [{'action_type': 'teleport', 'input_parameters': {}}]
        second = self.post(
            goal='unclassified',
            strategy='actuator',
            audit_type='ONESHOT',
            parameters={'actions': actions},
        )
        self.wait_for(second, 'FAILED')

        notifications = self.receive(first, second)

        no_cloud = (
            'No cloud is configured: set [openstack] cloud, or auth_url and the user '
            'of this service'
        )
        no_weight = (
            'There is no weight for the action type teleport; add it to weights in '
            '[watcherlite.planners.weight]'
        )
        self.assertEqual(
            [
                'audit.create first: PENDING',
                'audit.update first: PENDING -> ONGOING',
                'audit.strategy.start first: ONGOING',
                f'ERROR audit.strategy.error first: ONGOING, {no_cloud}',
                'audit.update first: ONGOING -> FAILED',
                'audit.create second: PENDING',
                'audit.update second: PENDING -> ONGOING',
                'audit.strategy.start second: ONGOING',
                'audit.strategy.end second: ONGOING',
                'audit.planner.start second: ONGOING',
                f'ERROR audit.planner.error second: ONGOING, {no_weight}',
                'audit.update second: ONGOING -> FAILED',
            ],
            notification_lines(notifications, {first: 'first', second: 'second'}),
        )
        self.assertEqual(
            [
                (
                    'ConfigurationError',
                    'watcherlite.plugins.openstack.connections',
                    '_opened',
                ),
                ('Invalid', 'watcherlite.plugins.planners.weights', 'sort'),
            ],
            [
                (fault['exception'], fault['module_name'], fault['function_name'])
                for n in notifications
                if n['priority'] == 'ERROR'
                for fault in [data(n)['fault']['watcher_object.data']]
            ],
        )
        self.assertEqual(
            {
                first: f'Strategy uniform_airflow failed: {no_cloud}',
                second: f'Planner weight failed: {no_weight}',
            },
            # The last notification of each object.
            {data(n)['uuid']: data(n)['status_message'] for n in notifications},
        )

    def test_a_continuous_audit_is_changed_suspended_and_cancelled(self):
        uuid = self.post(
            goal='dummy', strategy='dummy', audit_type='CONTINUOUS', interval='3600'
        )
        self.wait_for_plans(uuid, 1)
        # Fields other than states are read when the notification is built.
        self.notification_queue.wait_for_all(self.operators.store)
        self.patch(uuid, interval='7200')
        self.patch(uuid, state='SUSPENDED')
        self.patch(uuid, state='ONGOING')
        self.wait_for_plans(uuid, 2)
        self.patch(uuid, state='CANCELLED')

        notifications = self.receive(uuid, *self.plans(uuid))

        notifications = [
            n for n in notifications if n['event_type'].startswith('audit.')
        ]
        run = [
            'audit.strategy.start: ONGOING',
            'audit.strategy.end: ONGOING',
            'audit.planner.start: ONGOING',
            'audit.planner.end: ONGOING',
        ]
        self.assertEqual(
            [
                'audit.create: PENDING',
                'audit.update: PENDING -> ONGOING',
                *run,
                'audit.update: ONGOING -> ONGOING',
                'audit.update: ONGOING -> SUSPENDED',
                'audit.update: SUSPENDED -> ONGOING',
                *run,
                'audit.update: ONGOING -> CANCELLED',
            ],
            notification_lines(notifications, {}),
        )
        self.assertEqual(
            ['3600'] * 6 + ['7200'] * 8, [data(n)['interval'] for n in notifications]
        )

    def test_an_audit_with_a_plan_is_notified_until_its_deletion(self):
        uuid = self.post(
            name='nightly',
            goal='dummy',
            strategy='dummy',
            audit_type='ONESHOT',
            parameters={'para2': 'good morning'},
        )
        self.wait_for(uuid, 'SUCCEEDED')
        plans = self.plans(uuid)
        self.ask(self.port, 'DELETE', f'/v1/audits/{uuid}')

        everything = self.receive(uuid, *plans)

        self.assertEqual(
            [
                'audit.create: PENDING',
                'audit.update: PENDING -> ONGOING',
                'audit.strategy.start: ONGOING',
                'audit.strategy.end: ONGOING',
                'audit.planner.start: ONGOING',
                'actionplan.create: RECOMMENDED',
                *['action.create: PENDING'] * 3,
                'audit.planner.end: ONGOING',
                'audit.update: ONGOING -> SUCCEEDED',
                'audit.update: SUCCEEDED -> DELETED',
                'audit.delete: DELETED',
            ],
            notification_lines(everything, {}),
        )
        notifications = [n for n in everything if n['event_type'].startswith('audit.')]
        self.assertEqual(
            [
                ('AuditCreatePayload', '1.2', 'watcher'),
                ('AuditUpdatePayload', '1.2', 'watcher'),
                *[('AuditActionPayload', '1.2', 'watcher')] * 4,
                *[('AuditUpdatePayload', '1.2', 'watcher')] * 2,
                ('AuditDeletePayload', '1.2', 'watcher'),
            ],
            [tuple(n['payload'][key] for key in WATCHER) for n in notifications],
        )
        self.assertEqual({'infra-optim:here'}, {n['publisher_id'] for n in everything})
        self.assertEqual(len(everything), len({n['message_id'] for n in everything}))
        store = self.operators.store
        goal = store.find_goal('dummy').goal
        strategy = store.find_strategy('dummy').strategy
        for notification in notifications:
            fields = data(notification)
            nested = fields['strategy']['watcher_object.data']
            self.assertEqual(
                {
                    'uuid': uuid,
                    'name': 'nightly',
                    'audit_type': 'ONESHOT',
                    'parameters': {'para1': 3.2, 'para2': 'good morning'},
                    'scope': [],
                    'interval': None,
                    'auto_trigger': False,
                    'next_run_time': None,
                    'status_message': None,
                    'goal_uuid': goal.uuid,
                    'strategy_uuid': strategy.uuid,
                    'goal': (goal.uuid, 'dummy', 'Dummy goal'),
                    'strategy': (strategy.uuid, 'dummy', strategy.parameters_spec),
                },
                {
                    **{
                        key: value
                        for key, value in fields.items()
                        if key not in (*CHANGING, 'fault', 'state_update')
                    },
                    'goal': tuple(
                        fields['goal']['watcher_object.data'][key]
                        for key in ('uuid', 'name', 'display_name')
                    ),
                    'strategy': tuple(
                        nested[key] for key in ('uuid', 'name', 'parameters_spec')
                    ),
                },
            )
        self.assertEqual(
            [True] * 7 + [False] * 2,
            [data(n)['deleted_at'] is None for n in notifications],
        )
        (created,) = (n for n in everything if n['event_type'] == 'actionplan.create')
        audit = data(created)['audit']['watcher_object.data']
        self.assertEqual(
            (uuid, plans, uuid),
            (audit['uuid'], [data(created)['uuid']], data(created)['audit_uuid']),
        )


#: The fields that differ between the notifications of an audit.
CHANGING = ('state', 'created_at', 'updated_at', 'deleted_at')


def _subject_of(notification):
    """Return the noun of a notification, its audit and its plan."""
    noun, fields = notification['event_type'].partition('.')[0], data(notification)
    if noun == 'action':
        terse = fields['action_plan']['watcher_object.data']
        return noun, terse['audit_uuid'], terse['uuid']
    return noun, fields['audit']['watcher_object.data']['uuid'], fields['uuid']
