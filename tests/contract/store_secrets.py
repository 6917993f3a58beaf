"""Contract of the store: secrets are returned as they were stored."""

from tests.contract.stack_case import StackCase, make_definition, resource_event
from tests.factories import (
    NOW,
    make_action,
    make_audit,
    make_event,
    make_goal,
    make_template,
    store_plan,
)
from watcherlite.db.api import Transaction
from watcherlite.domain.actions import APPLIER, ENGINE, Action
from watcherlite.domain.audits import Audit, AuditTemplate

SECRET = {'headers': {'Authorization': 'Basic Y2FuYXJ5'}, 'ž': ['🚀', None, 1.5]}
#: No key in it is the name of a secret.
PLAIN = {'value': 'canary', 'more': [{}]}
#: The prefix of encrypted texts.
MARKED = 'sealed:gAAAAA'


class StoreSecretsContract(StackCase):
    """Encryption is transparent to callers."""

    def insert_action(self, lane: str) -> Action:
        """Store an action that has been claimed and changed."""
        action = self.stored_action(
            lane=lane, status='READY', inputs=SECRET, context={'password': 'c'}
        )
        (claimed,) = self.claim('w', lane=lane)
        self.changed(
            claimed, token={'token': 't'}, outputs={'secret': 's'}, data={'a_key': 'k'}
        )
        return self.store.get_action(action.uuid)

    def test_an_action_is_returned_with_its_secrets(self) -> None:
        expected = (
            SECRET,
            {'password': 'c'},
            {'token': 't'},
            {'secret': 's'},
            {'a_key': 'k'},
        )
        for lane in (APPLIER, ENGINE):
            found = self.insert_action(lane)
            self.assertEqual(
                expected,
                (found.inputs, found.context, found.token, found.outputs, found.data),
            )

    def test_an_event_is_returned_with_its_secrets_and_those_of_its_action(
        self,
    ) -> None:
        plan, (action,) = store_plan(self.store, make_action(inputs={'token': 'abc'}))
        event = make_event(action, detail={'password': 'abc'})
        self.commit(lambda tx: tx.add_events([event]))
        (stored,) = self.store.list_events(plan_id=plan.id)
        self.assertEqual({'password': 'abc'}, stored.event.detail)
        self.assertRegex(stored.action_inputs or '', r'^{"token": ?"abc"}$')
        self.assertEqual([stored], self.store.pending_events(10))

    def test_audits_and_templates_are_returned_with_their_parameters(self) -> None:
        goal = self.commit(lambda tx: tx.ensure_goal(make_goal())).id

        def block(tx: Transaction) -> tuple[Audit, AuditTemplate]:
            audit = make_audit(goal, parameters=SECRET, scope=[PLAIN])
            template = make_template(goal, default_parameters=PLAIN, scope=[SECRET])
            return tx.insert_audit(audit), tx.insert_audit_template(template)

        audit, template = self.commit(block)
        found = self.store.get_audit(audit.uuid)
        self.assertEqual((SECRET, [PLAIN]), (found.parameters, found.scope))
        again = self.store.find_audit_template(template.uuid).template
        self.assertEqual((PLAIN, [SECRET]), (again.default_parameters, again.scope))

    def test_stacks_are_returned_with_the_properties_of_their_resources(self) -> None:
        definition = make_definition(
            template=PLAIN, environment=SECRET, files={'f': 'canary'}, parameters=PLAIN
        )
        known = self.commit(lambda tx: tx.insert_definition(definition))
        stack = self.insert_stack(definition_id=known.id, context={'token': 'x'})
        documents = dict.fromkeys(('properties', 'attributes', 'metadata'), PLAIN)
        (row,) = self.insert_resources(stack, {**documents, 'data': SECRET})
        marked = row.evolve(reference=MARKED, status='COMPLETE', updated_at=NOW)
        self.save_stack(stack, marked)
        self.add_stack_events(stack, resource_event(stack, marked))

        self.assertEqual(known, self.store.get_definition(known.id))
        self.assertEqual(stack, self.store.find_stack(stack.uuid, None))
        self.assertEqual([marked], self.store.list_resources([stack.id]))
