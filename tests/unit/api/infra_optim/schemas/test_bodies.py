"""What the bodies of new audits and audit templates may be."""

from tests import base
from watcherlite import exceptions
from watcherlite.api.arguments import Checker
from watcherlite.api.infra_optim.schemas import audit_templates, audits
from watcherlite.api.operation import at

AUDIT = Checker(at(audits.NEW, (1, 0)))
TEMPLATE = Checker(at(audit_templates.NEW, (1, 0)))


class TestAudits(base.TestCase):
    """POST /v1/audits."""

    def refused(self, **given):
        error = self.assertRaises(
            exceptions.Invalid, AUDIT.body, {'audit_type': 'ONESHOT', **given}
        )
        return str(error)

    def test_all_that_clients_send_is_taken(self):
        for given in (
            {},
            {'goal': 'dummy', 'strategy': 'dummy', 'name': 'nightly', 'force': True},
            {'audit_template_uuid': 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'},
            {'interval': '3600', 'auto_trigger': True, 'parameters': {'para1': 1}},
            {'interval': 3600, 'start_time': '2030-01-31 12:00:00'},
            {'interval': '*/5 * * * *', 'end_time': '2030-01-31T12:00:00+02:00'},
            {'interval': None, 'parameters': None, 'name': None, 'strategy': None},
        ):
            with self.subTest(given=given):
                body = {'audit_type': 'CONTINUOUS', **given}
                self.assertEqual(body, AUDIT.body(body))

    def test_what_is_read_only_is_no_attribute(self):
        for name in ('state', 'scope', 'hostname', 'uuid', 'next_run_time'):
            with self.subTest(name=name):
                self.assertEqual(
                    f'Unknown attribute for argument audit: {name}',
                    self.refused(**{name: 'PENDING'}),
                )

    def test_a_type_is_needed_and_has_to_be_known(self):
        self.assertEqual(
            "Invalid input for field/attribute audit_type. Value: 'YEARLY'. Value "
            'should be one of: ONESHOT, CONTINUOUS, EVENT',
            self.refused(audit_type='YEARLY'),
        )
        error = self.assertRaises(exceptions.Invalid, AUDIT.body, {'goal': 'dummy'})
        self.assertEqual(
            "Invalid input for field/attribute audit_type. Value: 'None'. Mandatory "
            'field missing.',
            str(error),
        )

    def test_values_have_their_types(self):
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
                self.assertIn(f'field/attribute {name}. ', self.refused(**given))


class TestTemplates(base.TestCase):
    """POST /v1/audit_templates."""

    def refused(self, **given):
        error = self.assertRaises(
            exceptions.Invalid,
            TEMPLATE.body,
            {'name': 'nightly', 'goal': 'dummy', **given},
        )
        return str(error)

    def test_name_and_goal_are_needed(self):
        for name in ('name', 'goal'):
            with self.subTest(name=name):
                body = {'name': 'nightly', 'goal': 'dummy'}
                del body[name]
                error = self.assertRaises(exceptions.Invalid, TEMPLATE.body, body)
                self.assertEqual(
                    f"Invalid input for field/attribute {name}. Value: 'None'. "
                    'Mandatory field missing.',
                    str(error),
                )

    def test_null_stands_for_what_is_not_given(self):
        body = {
            'name': 'nightly',
            'goal': 'dummy',
            'description': None,
            'strategy': None,
            'scope': None,
            'default_parameters': None,
        }

        self.assertEqual(body, TEMPLATE.body(body))

    def test_an_attribute_that_there_is_not_is_named(self):
        self.assertEqual(
            'Unknown attribute for argument audit_template: uuid',
            self.refused(uuid='x'),
        )

    def test_a_bad_scope_is_refused(self):
        text = self.refused(scope=[{'network': []}])

        self.assertTrue(text.startswith('Unknown attribute for argument '), text)
        self.assertIn('scope', text)
        self.assertIn('network', text)
