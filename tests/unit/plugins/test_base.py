"""The defaults of the plugin interface."""

from tests import base
from watcherlite.plugins.base import ActionType


class Checkable(ActionType):
    def is_applied(self, context):
        return True


class Idempotent(ActionType):
    idempotent = True


class TestDeclarations(base.TestCase):
    def test_a_lost_run_is_repeated_or_checked_only_if_declared(self):
        self.assertEqual(
            [(False, False), (True, False), (False, True)],
            [
                (kind.is_idempotent({}), kind.is_checkable({}))
                for kind in (ActionType(), Idempotent(), Checkable())
            ],
        )

    def test_a_capability_is_an_override(self):
        hooks = ('is_applied', 'poll', 'revert', 'validate')

        self.assertEqual(
            ['is_applied'], [hook for hook in hooks if Checkable.supports(hook)]
        )
