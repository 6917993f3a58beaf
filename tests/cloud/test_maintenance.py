"""The maintenance of a host of a real cloud, from the audit to the empty host."""

from tests.acceptance.daemons import APPLIER, ENGINE, wait_until
from tests.cloud import case
from tests.cloud.plan_case import HOSTS, POLLED, TIMEOUT, PlanCase
from watcherlite.plugins.base import ACTION_TYPES

LATEST = 'infra-optim latest'
REASON = 'Busy until 18:00'


class MaintenanceCase(PlanCase):
    """The API, an engine and an applier, and servers on chosen hosts."""

    def start_all(self, **groups):
        """Start the three daemons."""
        options = {
            'openstack': {
                'cloud': case.SERVICE,
                'client_config_file': self.clouds_file,
            },
            'applier': {'sweep_interval': 0.3},
            'engine': {'sweep_interval': 0.3},
            # A server created for the test must be in the model.
            'data_models': {'max_age': 0},
            **{f'{ACTION_TYPES}.{name}': {'poll_interval': 0.5} for name in POLLED},
            **groups,
        }
        _, self.port = self.serve(**options)
        for what in (ENGINE, APPLIER):
            self.start_ready(what, self.ini(**options))

    def get(self, path):
        """Return the body of a response at the latest version."""
        status, body = self.ask(self.port, 'GET', path, OpenStack_API_Version=LATEST)
        self.assertEqual(200, status, body)
        return body

    def post(self, path, body):
        """Return the created object."""
        status, created = self.ask(self.port, 'POST', path, body)
        self.assertEqual(201, status, created)
        return created

    def connect_to_new_project(self):
        """Return a connection as administrator of a project with a quota of its own."""
        identity = self.admin.identity
        name = self.unique_name('project')
        project = identity.create_project(name=name, domain_id='default')
        self.addCleanup(identity.delete_project, project)
        user = self.admin.session.auth.get_access(self.admin.session).user_id
        for role in ('admin', 'member'):
            identity.assign_project_role_to_user(
                project, user, identity.find_role(role).id
            )
        clouds = self.open_clouds(
            cloud=None,
            client_config_file=None,
            auth=self.options(case.ADMIN, project_name=name),
            region_name=self.variables['OS_REGION_NAME'],
        )
        return clouds.service_connection()

    def create_server_on(self, host, connection):
        """Create a server on a host; delete it at the end of the test."""
        compute = connection.compute
        server = compute.create_server(
            name=self.unique_name('maintenance'),
            image_id=self.admin.image.find_image('tiny').id,
            flavor_id=compute.find_flavor('m1.nano').id,
            networks=[{'uuid': self.admin.network.find_network('shared').id}],
            availability_zone=f'nova:{host}',
        )
        self.addCleanup(self.delete_server, server.id)
        return self.wait_for_server(server.id, status='ACTIVE', task_state=None).id

    def service(self, host):
        """Return the compute service of a host."""
        return next(iter(self.admin.compute.services(host=host, binary='nova-compute')))

    def enable(self, host):
        """Enable the compute service of a host, for other users of the cloud."""
        self.admin.compute.enable_service(self.service(host))

    def run_audit(self, strategy, goal, scope=(), **parameters):
        """Run an audit; return it at its end."""
        template = self.post(
            '/v1/audit_templates',
            {
                'name': self.unique_name('template'),
                'goal': goal,
                'strategy': strategy,
                'scope': list(scope),
            },
        )
        audit = self.post(
            '/v1/audits',
            {
                'audit_type': 'ONESHOT',
                'audit_template_uuid': template['uuid'],
                'parameters': parameters,
            },
        )
        path = f'/v1/audits/{audit["uuid"]}'
        wait_until(
            lambda: self.get(path)['state'] in ('SUCCEEDED', 'FAILED'),
            lambda: str(self.get(path)),
            TIMEOUT,
        )
        return self.get(path)

    def others(self, *servers):
        """Return the scope that excludes the servers of others."""
        found = self.admin.compute.servers(details=False, all_projects=True)
        uuids = [one.id for one in found if one.id not in servers]
        instances = {'instances': [{'uuid': uuid} for uuid in uuids]}
        return [{'compute': [{'exclude': [instances]}]}] if uuids else []


class TestMaintenance(MaintenanceCase):
    def test_every_server_leaves_the_host_except_for_those_that_are_skipped(self):
        host, there = HOSTS
        connection = self.connect_to_new_project()
        busy, gone, first, second = (
            self.create_server_on(host, connection) for _ in range(4)
        )
        mine = {busy, gone, first, second}
        self.start_all()

        audit = self.run_audit(
            'host_maintenance',
            'cluster_maintaining',
            self.others(*mine),
            maintenance_node=host,
        )
        self.assertEqual('SUCCEEDED', audit['state'], audit['status_message'])
        shown = self.get(f'/v1/data_model?audit_uuid={audit["uuid"]}')['context']
        (plan,) = self.get(f'/v1/action_plans?audit_uuid={audit["uuid"]}')[
            'action_plans'
        ]
        place = f'/v1/action_plans/{plan["uuid"]}'
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

    def by_resource(self, place):
        """Return the actions of a plan by the object that they act on."""
        return {
            one['input_parameters']['resource_id']: one
            for one in self.actions(place).values()
        }


class TestNeeds(MaintenanceCase):
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
