"""How audits are shown, from version to version."""

import jsonschema

from tests import base
from tests.factories import NOW, at, make_audit
from tests.unit.api.infra_optim.requests import links_to, make_request
from watcherlite.api import operation
from watcherlite.api.infra_optim.handlers import audits
from watcherlite.api.infra_optim.schemas import audits as schemas
from watcherlite.db.query import ListedAudit

GOAL = '11111111-1111-4111-8111-111111111111'
STRATEGY = '22222222-2222-4222-8222-222222222222'
VERSIONS = [(1, minor) for minor in range(8)]


def listed(**values):
    audit = make_audit(1, uuid='aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', **values)
    return ListedAudit(audit, GOAL, 'dummy', STRATEGY, 'actuator')


class TestAudits(base.TestCase):
    """What is in an audit's JSON object."""

    def test_a_list_has_the_columns_of_clients(self):
        found = listed(
            name='nightly',
            audit_type='CONTINUOUS',
            state='ONGOING',
            interval='3600',
            auto_trigger=True,
            next_run_time=at(3600),
        )

        self.assertEqual(
            {
                'uuid': found.audit.uuid,
                'name': 'nightly',
                'audit_type': 'CONTINUOUS',
                'state': 'ONGOING',
                'goal_uuid': GOAL,
                'goal_name': 'dummy',
                'strategy_uuid': STRATEGY,
                'strategy_name': 'actuator',
                'interval': '3600',
                'scope': [],
                'auto_trigger': True,
                'next_run_time': '2026-03-29T02:30:15.123456',
                'links': links_to(f'audits/{found.audit.uuid}'),
            },
            audits.represent(make_request(), found, False),
        )

    def test_each_version_adds_its_fields_to_the_details(self):
        found = listed(status_message='It failed.', start_time=NOW, force=True)
        base_fields = set(audits.represent(make_request((1, 0)), found, True))

        added = {
            version: set(audits.represent(make_request(version), found, True))
            - base_fields
            for version in VERSIONS
        }

        times, force = {'start_time', 'end_time'}, {'force'}
        message = {'status_message'}
        self.assertEqual(
            {
                (1, 0): set(),
                (1, 1): times,
                (1, 2): times | force,
                (1, 3): times | force,
                (1, 4): times | force,
                (1, 5): times | force | message,
                (1, 6): times | force | message,
                (1, 7): times | force | message,
            },
            added,
        )

    def test_times_of_runs_have_no_offset_and_those_of_the_row_have_one(self):
        found = listed(start_time=NOW, end_time=at(60), updated_at=at(1))

        shown = audits.represent(make_request(), found, True)

        self.assertEqual(
            {
                'next_run_time': None,
                'start_time': '2026-03-29T01:30:15.123456',
                'end_time': '2026-03-29T01:31:15.123456',
                'created_at': '2026-03-29T01:30:15.123456+00:00',
                'updated_at': '2026-03-29T01:30:16.123456+00:00',
                'deleted_at': None,
            },
            {name: shown[name] for name in shown if name.endswith(('_at', '_time'))},
        )

    def test_a_deleted_audit_is_shown_as_deleted(self):
        shown = audits.represent(make_request(), listed(deleted_at=at(5)), False)

        self.assertEqual('DELETED', shown['state'])

    def test_credentials_among_the_parameters_are_masked(self):
        found = listed(parameters={'password': 'sesame', 'para1': 3.2})

        shown = audits.represent(make_request(), found, True)

        self.assertEqual({'password': '***', 'para1': 3.2}, shown['parameters'])

    def test_every_version_answers_what_its_schema_says(self):
        found = listed(start_time=NOW, scope=[{'compute': []}])
        for version in VERSIONS:
            with self.subTest(version=version):
                shown = audits.represent(make_request(version), found, True)
                jsonschema.validate(shown, operation.at(schemas.AUDIT, version))
                jsonschema.validate(
                    {'audits': [shown]},
                    operation.at(schemas.DETAILED_COLLECTION, version),
                )
        jsonschema.validate(
            {'audits': [audits.represent(make_request(), found, False)]},
            operation.at(schemas.COLLECTION, (1, 7)),
        )
