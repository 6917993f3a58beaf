"""Audit templates."""

from typing import Any

from tests.audit_worlds import AuditCase
from watcherlite import exceptions
from watcherlite.domain.audits import AuditTemplate, NewAuditTemplate


class TemplatesTest(AuditCase):
    """What users do with templates."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.an_audit_world()

    def make(self, **keys: Any) -> AuditTemplate:
        wanted = {'name': 'a template', 'goal': 'dummy', **keys}
        return self.world.templates.create(NewAuditTemplate(**wanted))

    def stored(self, name: str = 'a template') -> AuditTemplate:
        return self.world.store.find_audit_template(name).template

    def test_one_is_stored_as_it_was_asked_for(self) -> None:
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

    def test_what_makes_no_sense_is_refused(self) -> None:
        for said, keys in (
            ('nothing', {'goal': 'nothing'}),
            ('nothing', {'strategy': 'nothing'}),
            ('does not relate', {'strategy': 'actuator'}),
            ('need a strategy', {'default_parameters': {'para1': 2}}),
            (
                'parameters.para1',
                {'strategy': 'dummy', 'default_parameters': {'para1': 'x'}},
            ),
            (
                'not allowed',
                {'strategy': 'dummy', 'default_parameters': {'zz': 'x'}},
            ),
            ('list of objects', {'scope': 'all'}),
            ('cannot be used', {'name': 'n' * 64}),
            ('at most 255', {'description': 'd' * 256}),
        ):
            error = self.assertRaises(exceptions.Invalid, self.make, **keys)
            self.assertIn(said, str(error))

    def test_without_a_change_nothing_happens(self) -> None:
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

    def test_other_parameters_have_to_come_with_another_strategy(self) -> None:
        self.make(strategy='dummy', default_parameters={'para1': 2})
        before = self.stored()
        for changes in ({'strategy': None}, {'goal': 'unclassified', 'strategy': None}):
            self.assertRaises(
                exceptions.Conflict,
                self.world.templates.update,
                'a template',
                changes,
            )
        self.assertEqual(before, self.stored())
        after = self.world.templates.update(
            'a template', {'strategy': None, 'default_parameters': {}}
        )
        self.assertEqual((None, {}), (after.strategy_id, after.default_parameters))

    def test_a_change_that_makes_no_sense_is_refused(self) -> None:
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
                exceptions.Invalid,
                self.world.templates.update,
                'a template',
                changes,
            )

    def test_a_goal_that_changes_meanwhile_is_not_changed_back(self) -> None:
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
