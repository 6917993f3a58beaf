"""The defaults of the plugin interface."""

from tests import base
from watcherlite.plugins.base import ActionType


class Checkable(ActionType):
    def is_applied(self, context):
        return True


class Idempotent(ActionType):
    idempotent = True


class TestDeclarations(base.TestCase):
    def test_by_default_a_lost_run_is_neither_repeated_nor_asked_for(self):
        kind = ActionType()

        self.assertEqual(
            (False, False), (kind.is_idempotent({}), kind.is_checkable({}))
        )

    def test_the_class_declares_that_it_is_idempotent(self):
        self.assertTrue(Idempotent().is_idempotent({}))

    def test_who_overrides_is_applied_is_checkable(self):
        self.assertTrue(Checkable().is_checkable({}))

    def test_a_capability_is_an_override(self):
        hooks = ('is_applied', 'poll', 'revert', 'validate')

        self.assertEqual(
            ['is_applied'], [hook for hook in hooks if Checkable.supports(hook)]
        )
