"""Admission of operations on stacks."""

from tests import base
from tests.contract.stack_case import make_stack
from watcherlite import exceptions
from watcherlite.engine.stacks.requests import admission
from watcherlite.engine.stacks.tree import StackTree
from watcherlite.states import stack as states


class NestedStackTest(base.TestCase):
    """Operations on a nested stack."""

    def test_a_nested_stack_is_busy_while_its_parent_is(self) -> None:
        def refusal(status: str, operation: str) -> str:
            outer = make_stack(1, name='outer', action='UPDATE', status=status)
            inner = make_stack(1, name='inner', action='CREATE', status='COMPLETE')
            tree = StackTree(inner.stored(2), (outer.stored(1),), ())
            try:
                admission.check_allowed(tree, operation)
            except exceptions.ActionInProgress as error:
                return str(error)
            return ''

        busy = (
            'Stack outer, which inner is part of, already has an action (UPDATE) in '
            'progress.'
        )
        for operation, expected in (
            (states.UPDATE, busy),
            (states.CHECK, busy),
            (states.DELETE, busy),
            (states.MARK, ''),
        ):
            self.assertEqual(
                (expected, ''),
                (
                    refusal(states.IN_PROGRESS, operation),
                    refusal(states.COMPLETE, operation),
                ),
                operation,
            )
