"""The schemas of new audits and audit templates."""

from tests import base
from watcherlite import exceptions
from watcherlite.api.arguments import Checker
from watcherlite.api.infra_optim.schemas import audits
from watcherlite.api.operation import at

AUDIT = Checker(at(audits.NEW, (1, 0)))


class TestNewAudit(base.TestCase):
    """POST /v1/audits."""

    def refusal(self, **given):
        error = self.assertRaises(
            exceptions.Invalid, AUDIT.body, {'audit_type': 'ONESHOT', **given}
        )
        return str(error)

    def test_values_of_wrong_type_are_rejected(self):
        for given in (
            {'name': 5},
            {'name': ''},
            {'name': 'x' * 64},
            {'goal': ['dummy']},
            {'audit_template_uuid': 'nightly'},
            {'parameters': 'para1=1'},
            {'interval': 0},
            {'interval': 1.5},
            {'interval': ''},
            {'auto_trigger': 'yes'},
            {'start_time': 1893499200},
            {'force': 1},
        ):
            with self.subTest(given=given):
                (name,) = given
                self.assertIn(f'field/attribute {name}. ', self.refusal(**given))
