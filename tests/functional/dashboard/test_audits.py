"""The pages of audits, audit templates, goals and strategies."""

from tests import base
from tests.functional.api.fixtures import ApiFixture
from tests.functional.dashboard.test_logins import LoginCase
from tests.functional.dashboard.visitor import Shown, Visitor
from watcherlite.db.query import Query


class AuditCase(base.TestCase):
    """A visitor of the installed goals and strategies, without authentication."""

    def setUp(self) -> None:
        super().setUp()
        self.site = ApiFixture.of(self)
        self.visitor = Visitor(self.site.application)
        self.store = self.site.runtime.store

    def create(self, **fields: str) -> Shown:
        """Submit the form of a new audit of the strategy dummy."""
        page = self.visitor.get('/dashboard/audits/new?strategy=dummy')
        given = {'audit_type': 'ONESHOT', 'parameter.para1': '3.5', **fields}
        return self.visitor.submit(page, '/audits/create', **given)


class TestAudits(AuditCase):
    def test_the_form_has_a_field_for_each_parameter_of_the_strategy(self) -> None:
        page = self.visitor.get('/dashboard/audits/new?strategy=dummy')
        fields = {
            given['name']: (given['type'], given['value'])
            for tag, given in page.tags
            if tag == 'input' and (given.get('name') or '').startswith('parameter.')
        }
        self.assertEqual(
            {
                'parameter.para1': ('number', '3.2'),
                'parameter.para2': ('text', 'hello'),
            },
            fields,
        )

    def test_an_audit_is_created_with_its_parameters_and_cancelled(self) -> None:
        page = self.create(name='nightly', **{'parameter.para2': '7'})

        self.assertIn('It was created.', page.text)
        self.assertIn('State ○ PENDING', page.text)
        (found,) = self.store.list_audits(Query())
        self.assertEqual(
            ('nightly', 'ONESHOT', {'para1': 3.5, 'para2': '7'}, 'dummy', False),
            (
                found.audit.name,
                found.audit.audit_type,
                dict(found.audit.parameters),
                found.strategy_name,
                found.audit.auto_trigger,
            ),
        )
        self.assertIn(
            'nightly', self.visitor.get('/dashboard/audits?state=PENDING').text
        )
        self.assertNotIn(
            'nightly', self.visitor.get('/dashboard/audits?state=FAILED').text
        )

        page = self.visitor.submit(page, '/state')

        self.assertIn('State ⊘ CANCELLED', page.text)
        self.assertEqual([], page.actions())

    def test_a_refused_audit_keeps_what_was_entered(self) -> None:
        page = self.create(name='nightly', **{'parameter.para1': 'many'})

        self.assertEqual(400, page.status)
        self.assertIn('para1', page.text)
        values = {
            given.get('name'): given.get('value')
            for tag, given in page.tags
            if tag == 'input'
        }
        self.assertEqual(
            ('nightly', 'many'), (values['name'], values['parameter.para1'])
        )
        self.assertEqual([], self.store.list_audits(Query()))

    def test_a_continuous_audit_needs_an_interval(self) -> None:
        refused = self.create(audit_type='CONTINUOUS')
        self.assertEqual(400, refused.status)
        page = self.create(audit_type='CONTINUOUS', interval='3600')
        self.assertIn('Interval 3600', page.text)


class TestTemplates(AuditCase):
    def test_an_audit_is_launched_from_a_template_which_is_deleted(self) -> None:
        page = self.visitor.get('/dashboard/audit_templates')
        page = self.visitor.submit(
            page,
            '/create',
            name='tidy',
            strategy='dummy',
            description='<b>at night</b>',
        )
        self.assertIn('<b>at night</b>', page.text)

        audit = self.visitor.submit(page, '/launch')
        self.assertIn('Strategy dummy', audit.text)
        again = self.visitor.submit(
            self.visitor.get('/dashboard/audit_templates'),
            '/create',
            name='tidy',
            strategy='dummy',
        )
        self.assertEqual(409, again.status)
        self.assertIn('tidy', again.text)
        page = self.visitor.submit(page, '/delete')

        self.assertIn('There is no audit template.', page.text)
        self.assertEqual(1, len(self.store.list_audits(Query())))


class TestStrategies(AuditCase):
    def test_goals_lead_to_their_strategies_and_these_to_an_audit(self) -> None:
        page = self.visitor.get('/dashboard/goals')
        self.assertIn('/dashboard/strategies/dummy', page.links)
        page = self.visitor.get('/dashboard/strategies/dummy')
        self.assertIn('para1', page.text)
        self.assertIn('/dashboard/audits/new?strategy=dummy', page.links)


class TestReaders(LoginCase):
    def test_a_reader_sees_neither_buttons_nor_forms(self) -> None:
        self.log_in('reader')
        audit = 'dddddddd-0000-4000-8000-000000000001'
        for path in ('audits', f'audits/{audit}', 'audit_templates', 'goals'):
            with self.subTest(path):
                page = self.visitor.get(f'/dashboard/{path}')
                self.assertEqual(200, page.status)
                self.assertEqual(['logout'], page.actions())
                self.assertNotIn('/dashboard/audits/new', page.links)
