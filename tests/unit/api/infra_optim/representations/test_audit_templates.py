"""The representations of audit templates."""

import jsonschema

from tests import base
from tests.factories import NOW
from tests.unit.api.infra_optim.requests import make_request
from watcherlite.api import operation
from watcherlite.api.infra_optim.handlers import audit_templates
from watcherlite.api.infra_optim.schemas import audit_templates as schemas
from watcherlite.db.query import ListedTemplate
from watcherlite.domain.audits import AuditTemplate

LISTED = ListedTemplate(
    AuditTemplate(
        'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
        'nightly',
        1,
        id=1,
        default_parameters={'para1': 3.2, 'token': 'sesame'},
        created_at=NOW,
    ),
    '11111111-1111-4111-8111-111111111111',
    'dummy',
    None,
    None,
)


class TestAuditTemplates(base.TestCase):
    """The JSON object of a template."""

    def test_credentials_among_the_parameters_are_masked(self):
        shown = audit_templates.represent(make_request((1, 7)), LISTED, True)

        self.assertEqual({'para1': 3.2, 'token': '***'}, shown['default_parameters'])
        jsonschema.validate(shown, operation.at(schemas.TEMPLATE, (1, 7)))
