"""The representations of audits by version."""

from tests import base
from tests.factories import NOW, at, make_audit
from tests.unit.api.infra_optim.requests import make_request
from watcherlite.api.infra_optim.handlers import audits
from watcherlite.db.query import ListedAudit

GOAL = '11111111-1111-4111-8111-111111111111'
STRATEGY = '22222222-2222-4222-8222-222222222222'


def listed(**values):
    audit = make_audit(1, uuid='aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', **values)
    return ListedAudit(audit, GOAL, 'dummy', STRATEGY, 'actuator')


class TestAudits(base.TestCase):
    """The JSON object of an audit."""

    def test_times_of_runs_have_no_offset_and_those_of_the_row_have_one(self):
        found = listed(
            start_time=NOW, end_time=at(60), next_run_time=at(3600), updated_at=at(1)
        )

        shown = audits.represent(make_request(), found, True)

        self.assertEqual(
            {
                'next_run_time': '2026-03-29T02:30:15.123456',
                'start_time': '2026-03-29T01:30:15.123456',
                'end_time': '2026-03-29T01:31:15.123456',
                'created_at': '2026-03-29T01:30:15.123456+00:00',
                'updated_at': '2026-03-29T01:30:16.123456+00:00',
                'deleted_at': None,
            },
            {name: shown[name] for name in shown if name.endswith(('_at', '_time'))},
        )

    def test_credentials_among_the_parameters_are_masked(self):
        found = listed(parameters={'password': 'sesame', 'para1': 3.2})

        shown = audits.represent(make_request(), found, True)

        self.assertEqual({'password': '***', 'para1': 3.2}, shown['parameters'])
