"""How audit templates are shown."""

import jsonschema

from tests import base
from tests.factories import NOW
from tests.unit.api.infra_optim.requests import links_to, make_request
from watcherlite.api import operation
from watcherlite.api.infra_optim.handlers import audit_templates
from watcherlite.api.infra_optim.schemas import audit_templates as schemas
from watcherlite.db.query import ListedTemplate
from watcherlite.domain.audits import AuditTemplate

UUID = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
GOAL = '11111111-1111-4111-8111-111111111111'
LISTED = ListedTemplate(
    AuditTemplate(
        UUID,
        'nightly',
        1,
        description='What runs at night.',
        scope=[{'compute': []}],
        default_parameters={'para1': 3.2, 'token': 'sesame'},
        created_at=NOW,
    ),
    GOAL,
    'dummy',
    None,
    None,
)
BRIEF = {
    'uuid': UUID,
    'name': 'nightly',
    'goal_uuid': GOAL,
    'goal_name': 'dummy',
    'strategy_uuid': None,
    'strategy_name': None,
    'scope': [{'compute': []}],
    'links': links_to(f'audit_templates/{UUID}'),
}
DETAILS = {
    **BRIEF,
    'description': 'What runs at night.',
    'created_at': '2026-03-29T01:30:15.123456+00:00',
    'updated_at': None,
    'deleted_at': None,
}


class TestAuditTemplates(base.TestCase):
    """What is in a template's JSON object."""

    def test_a_list_has_the_columns_of_clients(self):
        shown = audit_templates.represent(make_request(), LISTED, False)

        self.assertEqual(BRIEF, shown)

    def test_details_have_no_parameters_before_1_7(self):
        shown = audit_templates.represent(make_request((1, 6)), LISTED, True)

        self.assertEqual(DETAILS, shown)
        jsonschema.validate(shown, operation.at(schemas.TEMPLATE, (1, 6)))

    def test_details_have_masked_parameters_from_1_7_on(self):
        shown = audit_templates.represent(make_request((1, 7)), LISTED, True)

        self.assertEqual(
            {**DETAILS, 'default_parameters': {'para1': 3.2, 'token': '***'}}, shown
        )
        jsonschema.validate(shown, operation.at(schemas.TEMPLATE, (1, 7)))
