"""The responses to generated requests conform to the OpenAPI documents."""

from typing import Any

import hypothesis
from hypothesis import given, settings

from tests import base
from tests.functional.api import fixtures
from watcherlite.api.infra_optim.handlers import ALIAS_OF_PLANS
from watcherlite.api.openapi import NAME
from watcherlite.domain.audits import EVENT, AuditRequest, AuditTemplateRequest
from watcherlite.domain.clusters import Owner
from watcherlite.domain.documents import plan_document
from watcherlite.domain.stacks import StackRequest
from watcherlite.engine.clusters.requests.values import (
    ClusterRequest,
    NodeRequest,
    ReceiverRequest,
    RequestContext,
)

#: The number of requests of each kind for each operation.
EXAMPLES = 2
#: The number for the first version of an API, whose document is a part of the last one.
FEW_EXAMPLES = 1
#: The modes of schemathesis: valid requests, and requests that are invalid in one way.
POSITIVE, NEGATIVE = 'positive', 'negative'
#: The parameter of an operation with the version of the API.
VERSION = {'$ref': '#/components/parameters/Version'}


def _of_version(version):
    """Return the application with a fixed version in all requests.

    Generated requests may contain an invalid header, and responses of another version
    differ.
    """
    application = fixtures.application()
    header = {'HTTP_OPENSTACK_API_VERSION': version}
    return lambda environ, start_response: application(
        {**environ, **header}, start_response
    )


def _remove_version(document):
    """Remove the version from the headers of all operations.

    `_of_version` replaces it, so that a request with an invalid one would be valid.
    """
    for item in document['paths'].values():
        for method in item.keys() - {'parameters'}:
            found = item[method]['parameters']
            item[method]['parameters'] = [one for one in found if one != VERSION]


def _has_input(operation):
    """Return whether an operation has inputs other than its path, which may be any."""
    return bool(operation.query or operation.headers or operation.body)


class ConformanceCase(base.TestCase):
    """Generated requests that are valid, or invalid in one way.

    :cvar mount: the path of the API
    """

    examples = EXAMPLES
    mount = ''

    def setUp(self) -> None:
        super().setUp()
        self.fixture = fixtures.ApiFixture.of(self)
        self.calls = 0
        self.there = self.store()

    def store(self):
        """Store an object of each kind; return collection -> identifier."""
        runtime = self.fixture.runtime
        plan = runtime.plans.create(
            plan_document.from_mapping(
                {
                    'actions': [
                        {
                            'name': name,
                            'action_type': 'nop',
                            'input_parameters': {'message': name},
                        }
                        for name in ('a', 'b')
                    ]
                }
            )
        )
        goal, strategy = 'dummy', 'dummy'
        runtime.templates.create(AuditTemplateRequest(name='daily', goal=goal))
        runtime.audits.create(
            AuditRequest(name='hook', audit_type=EVENT, goal=goal, strategy=strategy)
        )
        return {
            'goals': goal,
            'strategies': strategy,
            'audit_templates': 'daily',
            'audits': 'hook',
            'webhooks': 'hook',
            'action_plans': plan.uuid,
            'actions': runtime.store.list_actions(plan_id=plan.id)[0].uuid,
        }

    def try_all(self, mode: str, application: Any = None) -> None:
        """Test all operations of a document; report the failures."""
        # Imported here: each test process imports this module.
        import schemathesis

        schema: Any = schemathesis.openapi.from_wsgi(
            f'{self.mount}/v1/{NAME}', application or fixtures.application()
        )
        # It would try the literals of the modules of the tests.
        schema.config.analysis.constants.enabled = False
        _remove_version(schema.raw_schema)
        found = []
        for result in schema.get_all_operations():
            operation = result.ok()
            if not self.is_tested(operation):
                continue
            if mode == NEGATIVE and not _has_input(operation):
                continue
            try:
                self.try_one(operation, schemathesis.GenerationMode(mode))
            except (AssertionError, BaseExceptionGroup) as error:
                found.append(f'{operation.label}: {error}')
        self.assertEqual([], found)

    def is_tested(self, operation):
        """Return whether an operation is tested; all of them are."""
        return True

    def use_existing_objects(self, case):
        """Use an existing object in every second request."""
        self.calls += 1
        if case.path_parameters and self.calls % 2:
            case.path_parameters = {
                name: self.there.get(self.kind_of(case, name), value)
                for name, value in case.path_parameters.items()
            }

    def kind_of(self, case, name):
        """Return the key in `there` of a path variable: its name."""
        return name

    def try_one(self, operation, mode):
        from schemathesis.checks import not_a_server_error
        from schemathesis.specs.openapi import checks

        all_checks = [
            not_a_server_error,
            checks.status_code_conformance,
            checks.content_type_conformance,
            checks.response_schema_conformance,
        ]

        @settings(
            max_examples=self.examples,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(hypothesis.HealthCheck),
            phases=[hypothesis.Phase.generate],
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def call(case):
            self.use_existing_objects(case)
            case.call_and_validate(checks=all_checks)

        call()


class TestInfraOptimConformance(ConformanceCase):
    """The infra-optim API."""

    def is_tested(self, operation):
        """Return whether an operation is tested; those of the alias are the same."""
        return not operation.path.startswith(ALIAS_OF_PLANS)

    def kind_of(self, case, name):
        """Return the collection, since all collections name their variable alike."""
        return case.operation.path.split('/')[2]

    def test_valid_requests_of_latest_version_conform(self):
        self.try_all(POSITIVE, _of_version('infra-optim 1.8'))

    def test_invalid_requests_of_latest_version_conform(self):
        self.try_all(NEGATIVE, _of_version('infra-optim 1.8'))

    def test_valid_requests_of_first_version_conform(self):
        self.examples = FEW_EXAMPLES
        self.try_all(POSITIVE, _of_version('infra-optim 1.0'))


class TestOrchestrationConformance(ConformanceCase):
    """The orchestration API."""

    mount = '/orchestration'

    def store(self):
        """Store a stack; return the path variables that identify its parts."""
        template = {
            'heat_template_version': '2018-08-31',
            'parameters': {'word': {'type': 'string', 'default': 'amber'}},
            'resources': {
                'web': {
                    'type': 'OS::Heat::Value',
                    'properties': {'value': {'get_param': 'word'}},
                }
            },
            'outputs': {'word': {'value': {'get_attr': ['web', 'value']}}},
        }
        stack = self.fixture.runtime.stacks.create(
            StackRequest('one', template), 'acme'
        )
        software = self.fixture.runtime.software
        config = software.create_config('acme', {'name': 'setup'})
        deployment = {'server_id': 'server-1', 'config_id': config.uuid}
        return {
            'tenant': 'acme',
            'config_id': config.uuid,
            'deployment_id': software.create_deployment('acme', deployment),
            'server_id': 'server-1',
            'stack_name': stack.name,
            'stack_id': stack.uuid,
            'resource_name': 'web',
            'output_key': 'word',
            'type_name': 'OS::Heat::Value',
            'template_version': 'heat_template_version.2018-08-31',
        }

    def is_tested(self, operation):
        """Return whether an operation is tested; of redirects, one per target."""
        redirects = '302' in operation.definition.raw['responses']
        return not redirects or operation.path == '/v1/{tenant}/stacks/{stack_name}'

    def test_valid_requests_conform(self):
        self.try_all(POSITIVE)

    def test_invalid_requests_conform(self):
        self.try_all(NEGATIVE)


class TestClusteringConformance(ConformanceCase):
    """The clustering API."""

    mount = '/clustering'

    def store(self):
        """Store an object of each kind; return the path variables."""
        clusters = self.fixture.runtime.clusters
        by = RequestContext(Owner('default', 'ada'), True)
        spec = {'type': 'os.heat.value', 'version': '1.0', 'properties': {'value': 'x'}}
        scaling = {
            'type': 'senlin.policy.scaling',
            'version': '1.0',
            'properties': {'event': 'CLUSTER_SCALE_IN'},
        }
        profile = clusters.profiles.create('sample', spec, by)
        policy = clusters.policies.create('shrink', scaling, by)
        made = clusters.create(ClusterRequest('web', 'sample', desired_capacity=1), by)
        node = clusters.nodes.create(NodeRequest('n1', 'sample'), by)
        new = ReceiverRequest('hook', 'webhook', 'web', 'CLUSTER_SCALE_OUT')
        receiver = clusters.receivers.create(new, by, 'http://127.0.0.1/v1')
        return {
            'profile': profile.uuid,
            'policy': policy.uuid,
            'cluster': made.row.uuid,
            'node': node.row.uuid,
            'action': made.action,
            'receiver': receiver.receiver.uuid,
            'profile_type': 'os.heat.test_resource-1.0',
            'policy_type': 'senlin.policy.scaling-1.0',
            'path': '$.name',
        }

    def test_valid_requests_of_latest_version_conform(self):
        self.try_all(POSITIVE, _of_version('clustering 1.15'))

    def test_invalid_requests_of_latest_version_conform(self):
        self.try_all(NEGATIVE, _of_version('clustering 1.15'))

    def test_valid_requests_of_first_version_conform(self):
        self.examples = FEW_EXAMPLES
        self.try_all(POSITIVE, _of_version('clustering 1.0'))
