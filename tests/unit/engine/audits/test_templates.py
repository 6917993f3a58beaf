"""Audit templates."""

from typing import Any

from tests.audit_worlds import AuditCase
from watcherlite import exceptions
from watcherlite.domain.audits import AuditTemplate, AuditTemplateRequest


class TemplatesTest(AuditCase):
    """The operations of users on templates."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_audit_world()

    def make(self, **keys: Any) -> AuditTemplate:
        desired = {'name': 'a template', 'goal': 'dummy', **keys}
        return self.world.templates.create(AuditTemplateRequest(**desired))

    def stored(self, name: str = 'a template') -> AuditTemplate:
        return self.world.store.find_audit_template(name).template

    def test_a_template_is_stored_as_requested(self) -> None:
        template = self.make(
            strategy='dummy',
            description='nightly',
            scope=[{'compute': []}],
            default_parameters={'para1': 2},
        )
        self.assertEqual(template, self.stored('A TEMPLATE'))
        self.assertEqual(
            ('nightly', [{'compute': []}], {'para1': 2}, self.clock.now()),
            (
                template.description,
                template.scope,
                template.default_parameters,
                template.created_at,
            ),
        )

    def test_invalid_requests_are_rejected(self) -> None:
        for message, keys in (
            ('nothing', {'goal': 'nothing'}),
            ('nothing', {'strategy': 'nothing'}),
            ('does not relate', {'strategy': 'actuator'}),
            ('require a strategy', {'default_parameters': {'para1': 2}}),
            (
                'parameters.para1',
                {'strategy': 'dummy', 'default_parameters': {'para1': 'x'}},
            ),
            ('not allowed', {'strategy': 'dummy', 'default_parameters': {'zz': 'x'}}),
            ('list of objects', {'scope': 'all'}),
            ('cannot be used', {'name': 'n' * 64}),
            ('at most 255', {'description': 'd' * 256}),
        ):
            error = self.assertRaises(exceptions.Invalid, self.make, **keys)
            self.assertIn(message, str(error))

    def test_an_update_without_changes_does_nothing(self) -> None:
        template = self.make()
        for changes in ({}, {'name': 'a template'}, {'goal': 'DUMMY'}):
            self.assertEqual(
                template, self.world.templates.update('a template', changes)
            )
        self.assertIsNone(self.stored().updated_at)

    def test_each_field_can_be_changed(self) -> None:
        self.make()
        changes: dict[str, Any] = {
            'name': 'better',
            'description': None,
            'strategy': 'dummy',
            'scope': [{'storage': []}],
            'default_parameters': {'para2': 'x'},
        }
        after = self.world.templates.update('a template', changes)
        self.assertEqual(after, self.stored('better'))
        self.assertEqual({'para2': 'x'}, after.default_parameters)
        self.assertEqual(self.clock.now(), after.updated_at)

    def test_a_new_strategy_requires_new_parameters(self) -> None:
        self.make(strategy='dummy', default_parameters={'para1': 2})
        before = self.stored()
        for changes in ({'strategy': None}, {'goal': 'unclassified', 'strategy': None}):
            self.assertRaises(
                exceptions.Conflict, self.world.templates.update, 'a template', changes
            )
        self.assertEqual(before, self.stored())
        after = self.world.templates.update(
            'a template', {'strategy': None, 'default_parameters': {}}
        )
        self.assertEqual((None, {}), (after.strategy_id, after.default_parameters))

    def test_invalid_changes_are_rejected(self) -> None:
        self.make()
        for changes in (
            {'goal': None},
            {'uuid': 'x'},
            {'scope': [1]},
            {'name': None},
            {'strategy': 'actuator'},
            {'default_parameters': {'para1': 1}},
            {'default_parameters': [1]},
        ):
            self.assertRaises(
                exceptions.Invalid, self.world.templates.update, 'a template', changes
            )

    def test_a_concurrently_changed_goal_is_not_restored(self) -> None:
        template = self.make(strategy='dummy')
        store, meanwhile = self.world.store, {'goal': 'unclassified', 'strategy': None}
        find = store.find_audit_template

        def find_then_change(name: str, deleted: bool = False) -> Any:
            found = find(name, deleted)
            self.patch(store, 'find_audit_template', find)
            self.world.templates.update(template.uuid, meanwhile)
            return found

        self.patch(store, 'find_audit_template', find_then_change)
        self.world.templates.update(template.uuid, {'description': 'new'})
        goal = store.find_goal('unclassified').goal
        found = self.stored()
        self.assertEqual(
            (goal.id, None, 'new'),
            (found.goal_id, found.strategy_id, found.description),
        )
