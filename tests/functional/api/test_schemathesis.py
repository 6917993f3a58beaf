"""Whatever a client sends, the answer is one that the description of the API has."""

import hypothesis
import schemathesis
from hypothesis import given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests import base
from tests.functional.api import fixtures
from watcherlite.api.openapi import NAME
from watcherlite.domain import documents
from watcherlite.domain.audits import EVENT, NewAudit, NewAuditTemplate

#: Requests that are tried of each kind, for each operation.
EXAMPLES = 6
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


def _of_version(version):
    """Return the application to which all requests are of one version.

    What is tried wrongly is the header too, and answers of another version look
    different.
    """
    application = fixtures.application()
    header = {'HTTP_OPENSTACK_API_VERSION': f'infra-optim {version}'}
    return lambda environ, start_response: application(
        {**environ, **header}, start_response
    )


class TestDescription(base.TestCase):
    """Requests that are right, and such that are wrong in one way, by schemathesis."""

    def setUp(self) -> None:
        super().setUp()
        self.fixture = fixtures.ApiFixture()
        self.fixture.start_fixture()
        self.addCleanup(self.fixture.stop_fixture)
        self.calls = 0
        self.there = self.store()

    def store(self):
        """Store something of each kind; return collection -> what names it."""
        runtime = self.fixture.runtime
        plan = runtime.plans.create(
            documents.from_mapping(
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
        runtime.templates.create(NewAuditTemplate(name='daily', goal=goal))
        runtime.audits.create(
            NewAudit(name='hook', audit_type=EVENT, goal=goal, strategy=strategy)
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

    def try_all(self, version: str, mode: GenerationMode) -> None:
        """Try all operations of a version; the report names what went wrong."""
        schema = schemathesis.openapi.from_wsgi(f'/v1/{NAME}', _of_version(version))
        found = []
        for result in schema.get_all_operations():
            operation = result.ok()
            try:
                self.try_one(operation, mode)
            except (AssertionError, BaseExceptionGroup) as error:
                found.append(f'{operation.label}: {error}')
            except hypothesis.errors.Unsatisfiable:
                # An operation that takes nothing cannot be called wrongly.
                self.assertEqual(GenerationMode.NEGATIVE, mode, operation.label)
        self.assertEqual([], found)

    def use_what_there_is(self, case):
        """Let every other request be about an object that is there."""
        collection = case.operation.path.split('/')[2:3]
        there = self.there.get(collection[0]) if collection else None
        self.calls += 1
        if there and case.path_parameters and self.calls % 2:
            case.path_parameters = dict.fromkeys(case.path_parameters, there)

    def try_one(self, operation, mode):
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(hypothesis.HealthCheck),
            phases=[hypothesis.Phase.generate],
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def call(case):
            self.use_what_there_is(case)
            case.call_and_validate(checks=CHECKS)

        call()

    def test_right_requests_of_the_last_version(self):
        self.try_all('1.7', GenerationMode.POSITIVE)

    def test_wrong_requests_of_the_last_version(self):
        self.try_all('1.7', GenerationMode.NEGATIVE)

    def test_right_requests_of_the_first_version(self):
        self.try_all('1.0', GenerationMode.POSITIVE)
