"""The base case of tests of audits of a cloud, from the audit to the executed plan."""

import json
import urllib.parse

from tests.acceptance.clients.commands import shared_clients
from tests.acceptance.daemons import APPLIER, ENGINE, STANDALONE, wait_until
from tests.cloud import case
from tests.cloud.own_servers import OwnServers
from tests.cloud.plan_case import ENDED, HOSTS, POLLED, TIMEOUT, PlanCase
from watcherlite.plugins.base import ACTION_TYPES

LATEST = 'infra-optim latest'


class AuditCase(PlanCase):
    """The API, an engine and an applier, and servers on chosen hosts."""

    # The product

    def groups(self, **groups):
        """Return the options of the daemons, by group."""
        return {
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

    def start_all(self, **groups):
        """Start the three daemons."""
        options = self.groups(**groups)
        _, self.port = self.serve(**options)
        for what in (ENGINE, APPLIER):
            self.start_ready(what, self.ini(**options))

    def start_standalone(self, **groups):
        """Start one process with the API, an engine and an applier; return it."""
        daemon, self.port = self.serve(STANDALONE, **self.groups(**groups))
        return daemon

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
        return self.wait_for_audit(audit['uuid'])

    def wait_for_audit(self, uuid):
        """Wait for the end of an audit; return it."""
        path = f'/v1/audits/{uuid}'
        wait_until(
            lambda: self.get(path)['state'] in ('SUCCEEDED', 'FAILED'),
            lambda: str(self.get(path)),
            TIMEOUT,
        )
        return self.get(path)

    def by_resource(self, place):
        """Return the actions of a plan by the object that they act on."""
        return {
            one['input_parameters']['resource_id']: one
            for one in self.actions(place).values()
        }

    # The unmodified client

    def optimize(self, *argv, version='1.5'):
        """Run `openstack optimize`; return its result."""
        return shared_clients().run(
            'openstack',
            '--os-auth-type=none',
            f'--os-endpoint=http://127.0.0.1:{self.port}',
            f'--os-infra-optim-api-version={version}',
            'optimize',
            *argv,
        )

    def optimize_json(self, *argv, **options):
        """Run `openstack optimize`; return the JSON that it prints."""
        return self.optimize(*argv, '-f', 'json', **options).json()

    def audit_by_client(self, strategy, goal, scope=(), **parameters):
        """Run an audit by the client; return the path of its plan."""
        shown = self.show_audit_by_client(strategy, goal, scope, **parameters)
        (plan,) = self.optimize_json('actionplan', 'list', '--audit', shown['UUID'])
        return f'/v1/action_plans/{plan["UUID"]}'

    def show_audit_by_client(self, strategy, goal, scope=(), **parameters):
        """Run an audit by the client; return how it is shown when it has SUCCEEDED."""
        name = self.unique_name('template')
        path = self.home / f'{name}.json'
        # YAML includes JSON.
        path.write_text(json.dumps(list(scope)))
        self.optimize_json(
            *('audittemplate', 'create', name, goal, '-s', strategy),
            *(('--scope', str(path)) if scope else ()),
        )
        given = [
            argument
            for key, value in parameters.items()
            for argument in ('-p', f'{key}={json.dumps(value)}')
        ]
        uuid = self.optimize_json('audit', 'create', '-a', name, *given)['UUID']

        def show():
            return self.optimize_json('audit', 'show', uuid)

        wait_until(
            lambda: show()['State'] in ('SUCCEEDED', 'FAILED'),
            lambda: str(show()),
            TIMEOUT,
        )
        shown = show()
        self.assertEqual('SUCCEEDED', shown['State'], shown['Status Message'])
        return shown

    def execute_by_client(self, place):
        """Start a plan by the client; return its state at its end."""
        uuid = place.rpartition('/')[2]
        self.optimize_json('actionplan', 'start', uuid)

        def state():
            return self.optimize_json('actionplan', 'show', uuid)['State']

        wait_until(lambda: state() in ENDED, lambda: str(self.actions(place)), TIMEOUT)
        return state()

    # The cloud

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

    def create_servers_on(self, connection, *hosts, **values):
        """Create a server on each of these hosts at the same time; return their uuids.

        They are deleted at the end of the test.
        """
        compute = connection.compute
        image = self.admin.image.find_image('tiny').id
        flavor = compute.find_flavor('m1.nano').id
        network = self.admin.network.find_network('shared').id
        created = []
        self.addCleanup(self.delete_servers, created)
        for host in hosts:
            server = compute.create_server(
                name=self.unique_name('server'),
                image_id=image,
                flavor_id=flavor,
                networks=[{'uuid': network}],
                availability_zone=f'nova:{host}',
                **values,
            )
            created.append(server.id)
        for uuid in created:
            self.wait_for_server(uuid, status='ACTIVE', task_state=None)
        return created

    def hosts_of(self, *servers):
        """Return the hosts of servers, by uuid."""
        return {uuid: self.server(uuid).compute_host for uuid in servers}

    def show_only(self, *servers, **values):
        """Hide all other servers from the daemons.

        :param values: other values of the cloud in clouds.yaml
        """
        nova = urllib.parse.urlsplit(self.admin.compute.get_endpoint())
        view = self.useFixture(OwnServers(f'http://{nova.netloc}', *servers))
        self.clouds_file = self.changed_clouds(
            compute_endpoint_override=f'{view.url}{nova.path}', **values
        )

    def service(self, host):
        """Return the compute service of a host."""
        return next(iter(self.admin.compute.services(host=host, binary='nova-compute')))

    def enable(self, host):
        """Enable the compute service of a host, for other users of the cloud."""
        self.admin.compute.enable_service(self.service(host))

    def others(self, *mine, within=None):
        """Return the scope that excludes the servers and volumes of others.

        :param within: the only host in the scope; None: all
        """
        servers = self.admin.compute.servers(details=False, all_projects=True)
        volumes = self.admin.block_storage.volumes(details=False, all_projects=True)
        instances, disks = (
            [{'uuid': one.id} for one in found if one.id not in mine]
            for found in (servers, volumes)
        )
        hosts = [{'name': host} for host in HOSTS if within not in (None, host)]
        excluded = [
            {kind: found}
            for kind, found in (('instances', instances), ('compute_nodes', hosts))
            if found
        ]
        scope = []
        if excluded:
            scope.append({'compute': [{'exclude': excluded}]})
        if disks:
            scope.append({'storage': [{'exclude': [{'volumes': disks}]}]})
        return scope
