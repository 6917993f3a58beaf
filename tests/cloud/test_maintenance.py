"""The maintenance of a host of a real cloud, by the unmodified `openstack optimize`."""

from tests.cloud.audit_case import AuditCase
from tests.cloud.plan_case import HOSTS

REASON = 'Busy until 18:00'


class TestMaintenance(AuditCase):
    def test_every_server_leaves_the_host_except_for_those_that_are_skipped(self):
        host, there = HOSTS
        connection = self.connect_to_new_project()
        busy, gone, first, second = self.create_servers_on(connection, *[host] * 4)
        mine = {busy, gone, first, second}
        self.start_all()
        self.check_catalogs()

        audit = self.show_audit_by_client(
            'host_maintenance',
            'cluster_maintaining',
            self.others(*mine),
            maintenance_node=host,
        )
        shown = self.optimize_json('datamodel', 'list', '--audit', audit['UUID'])
        (plan,) = self.optimize_json('actionplan', 'list', '--audit', audit['UUID'])
        place = f'/v1/action_plans/{plan["UUID"]}'
        actions = self.actions_by_client(plan['UUID'])
        # In the lower case of the specification.
        self.optimize_json(
            *('action', 'update', actions[busy]['UUID']),
            *('--state', 'skipped', '--reason', REASON),
        )
        self.delete_server(gone)
        self.addCleanup(self.enable, host)
        state = self.execute_by_client(place)
        service = self.service(host)
        self.enable(host)

        plan = self.optimize_json('actionplan', 'show', plan['UUID'])
        actions = self.actions_by_client(plan['UUID'])
        states = {uuid: one['State'] for uuid, one in actions.items()}
        messages = {
            uuid: self.optimize_json('action', 'show', one['UUID'])['Status Message']
            for uuid, one in actions.items()
        }
        self.assertEqual(
            {busy: 'SKIPPED', gone: 'SKIPPED', first: 'SUCCEEDED', second: 'SUCCEEDED'},
            {uuid: state for uuid, state in states.items() if uuid in mine},
            messages,
        )
        self.assertEqual(5, len(actions), 'the service, and the servers of this test')
        self.assertEqual('SUCCEEDED', state, plan['Status Message'])
        self.assertEqual(f'Action skipped by user. Reason: {REASON}', messages[busy])
        self.assertEqual(
            f'Action was skipped automatically: Instance {gone} not found',
            messages[gone],
        )
        self.assertIn('One or more actions were skipped.', plan['Status Message'])
        self.assertEqual(
            ('disabled', 'watcher_maintaining'),
            (service.status, service.disabled_reason),
        )
        self.assertEqual(
            {busy: host, first: there, second: there},
            {uuid: self.server(uuid).compute_host for uuid in mine - {gone}},
        )
        self.assertEqual(
            dict.fromkeys(mine, host),
            {
                row['Server UUID']: row['Node Host Name']
                for row in shown
                if row['Server UUID'] in mine
            },
        )
        self.assertEqual('here', audit['Hostname'])

    def actions_by_client(self, plan):
        """Return the actions of a plan by the object that they act on."""
        listed = self.optimize_json('action', 'list', '--action-plan', plan, '--detail')
        return {one['Parameters']['resource_id']: one for one in listed}

    def check_catalogs(self):
        """Check what an operator reads before the first audit."""
        services = self.optimize_json('service', 'list')
        goals = self.optimize_json('goal', 'list')
        strategies = self.optimize_json(
            'strategy', 'list', '--goal', 'cluster_maintaining'
        )
        needs = self.optimize_json('strategy', 'state', 'host_maintenance')
        scorers = self.optimize_json('scoringengine', 'list')
        model = self.optimize_json('datamodel', 'list', '--detail')

        self.assertEqual(
            [
                ('watcher-applier', 'here', 'ACTIVE'),
                ('watcher-decision-engine', 'here', 'ACTIVE'),
            ],
            sorted((s['Name'], s['Host'], s['Status']) for s in services),
        )
        self.assertIn('cluster_maintaining', {goal['Name'] for goal in goals})
        self.assertEqual(['host_maintenance'], [one['Name'] for one in strategies])
        self.assertEqual(
            {'Datasource', 'Metrics', 'CDM', 'Name'}, {need['Type'] for need in needs}
        )
        self.assertIn('dummy_scorer', {scorer['Name'] for scorer in scorers})
        self.assertLessEqual(set(HOSTS), {row['Node Host Name'] for row in model})


class TestNeeds(AuditCase):
    def test_an_audit_without_the_requirements_of_its_strategy_reports_them(self):
        self.start_all()

        for strategy, goal, parameters, text in (
            (
                'host_maintenance',
                'cluster_maintaining',
                {'maintenance_node': 'missing'},
                'There is no compute node missing in the compute model',
            ),
            (
                'basic',
                'server_consolidation',
                {},
                'No datasource has host_cpu_usage, instance_cpu_usage: prometheus is '
                'not configured',
            ),
            (
                'saving_energy',
                'saving_energy',
                {},
                'The data model: the service catalog has no endpoint of the baremetal '
                'service',
            ),
        ):
            audit = self.run_audit(strategy, goal, **parameters)

            self.assertEqual('FAILED', audit['state'])
            self.assertIn(
                f'Strategy {strategy} failed: {text}', audit['status_message']
            )
