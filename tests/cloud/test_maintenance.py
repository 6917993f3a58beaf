"""The maintenance of a host of a real cloud, from the audit to the empty host."""

from tests.cloud.audit_case import LATEST, AuditCase
from tests.cloud.plan_case import HOSTS

REASON = 'Busy until 18:00'


class TestMaintenance(AuditCase):
    def test_every_server_leaves_the_host_except_for_those_that_are_skipped(self):
        host, there = HOSTS
        connection = self.connect_to_new_project()
        busy, gone, first, second = self.create_servers_on(connection, *[host] * 4)
        mine = {busy, gone, first, second}
        self.start_all()

        audit = self.run_audit(
            'host_maintenance',
            'cluster_maintaining',
            self.others(*mine),
            maintenance_node=host,
        )
        shown = self.get(f'/v1/data_model?audit_uuid={audit["uuid"]}')['context']
        place = self.plan_of(audit)
        actions = self.by_resource(place)
        status, _ = self.ask(
            self.port,
            'PATCH',
            f'/v1/actions/{actions[busy]["uuid"]}',
            [
                {'op': 'replace', 'path': '/state', 'value': 'SKIPPED'},
                {'op': 'replace', 'path': '/status_message', 'value': REASON},
            ],
            OpenStack_API_Version=LATEST,
        )
        self.assertEqual(200, status)
        self.delete_server(gone)
        self.addCleanup(self.enable, host)
        self.ask(self.port, 'POST', f'{place}/start')
        state = self.wait_for_plan(place)
        service = self.service(host)
        self.enable(host)

        plan, actions = self.get(place), self.by_resource(place)
        states = {uuid: one['state'] for uuid, one in actions.items()}
        messages = {uuid: one['status_message'] for uuid, one in actions.items()}
        self.assertEqual(
            {busy: 'SKIPPED', gone: 'SKIPPED', first: 'SUCCEEDED', second: 'SUCCEEDED'},
            {uuid: state for uuid, state in states.items() if uuid in mine},
            messages,
        )
        self.assertEqual(5, len(actions), 'the service, and the servers of this test')
        self.assertEqual('SUCCEEDED', state, plan['status_message'])
        self.assertEqual(f'Action skipped by user. Reason: {REASON}', messages[busy])
        self.assertEqual(
            f'Action was skipped automatically: Instance {gone} not found',
            messages[gone],
        )
        self.assertIn('One or more actions were skipped.', plan['status_message'])
        self.assertEqual(
            ('disabled', 'watcher_maintaining'),
            (service.status, service.disabled_reason),
        )
        self.assertEqual(
            {busy: host, first: there, second: there},
            {uuid: self.server(uuid).compute_host for uuid in mine - {gone}},
        )
        self.assertEqual(
            {host},
            {
                row['node_hostname']
                for row in shown
                if row.get('server_uuid') in mine and not row['server_watcher_exclude']
            },
        )


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
