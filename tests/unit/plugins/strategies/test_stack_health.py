"""The strategy that checks and updates unhealthy stacks."""

from typing import Any

from tests import base
from watcherlite import exceptions
from watcherlite.domain.documents.plan_document import to_mapping
from watcherlite.engine.stacks.model import StackSummary, UnhealthyResource
from watcherlite.plugins.goals.stack_health import StackHealth as Goal
from watcherlite.plugins.planners.graph import Graph
from watcherlite.plugins.strategies.stack_health import StackHealth
from watcherlite.testing import run_strategy


def make_summary(name: str, **values: Any) -> StackSummary:
    """Return a healthy stack."""
    fields: dict[str, Any] = {
        'uuid': f'uuid-of-{name}',
        'name': name,
        'tenant': 'a-project',
        'tags': (),
        'state': 'CREATE_COMPLETE',
        'resources': 2,
        'unhealthy': (),
        'failed': False,
        'blocking_reason': None,
    }
    return StackSummary(**{**fields, **values})


BAD = UnhealthyResource('web', 'a', 'Sample', 'CHECK_FAILED', 'it is slow', marked=True)
HEALTHY = make_summary('fine')
UNHEALTHY = make_summary('web', unhealthy=(BAD,))
FAILED = make_summary('db', state='UPDATE_FAILED', failed=True)
LOCKED = make_summary(
    'kept', unhealthy=(BAD, BAD), blocking_reason='Stack kept is locked'
)


class Model:
    """A data model of these stacks; `asked` has the arguments of the calls."""

    def __init__(self, *stacks: StackSummary) -> None:
        self._stacks = stacks
        self.asked: list[dict[str, Any]] = []

    def stacks(self, **asked: Any) -> tuple[StackSummary, ...]:
        self.asked.append(asked)
        return self._stacks


class TestStackHealth(base.TestCase):
    def propose(self, *stacks: StackSummary, **parameters: Any) -> Any:
        self.model = Model(*stacks)
        return run_strategy(
            StackHealth, parameters, models={'stacks': lambda scope: self.model}
        )

    def steps(self, solution: Any) -> list[tuple[str, str, tuple[str, ...]]]:
        return [
            (a.action_type, a.input_parameters['stack'], a.parents)
            for a in solution.actions
        ]

    def test_unhealthy_stacks_are_checked_and_then_updated(self) -> None:
        solution = self.propose(HEALTHY, UNHEALTHY, FAILED)

        self.assertEqual(
            [
                ('stack_check', 'uuid-of-web', ()),
                ('stack_update', 'uuid-of-web', ('check-web-uuid-of-web',)),
                ('stack_check', 'uuid-of-db', ()),
                ('stack_update', 'uuid-of-db', ('check-db-uuid-of-db',)),
            ],
            self.steps(solution),
        )
        self.assertEqual(
            {'stack:uuid-of-web', 'stack:uuid-of-db'},
            {action.target for action in solution.actions},
        )
        # Healthy stacks need no actions.
        self.assertEqual([], self.steps(self.propose(HEALTHY)))

    def test_stacks_that_cannot_be_changed_are_skipped_and_counted(self) -> None:
        solution = self.propose(LOCKED, UNHEALTHY, check='none')

        self.assertEqual([('stack_update', 'uuid-of-web', ())], self.steps(solution))
        self.assertEqual(
            {
                'resources_count': 4,
                'unhealthy_resources_count': 3,
                'repaired_resources_count': 1,
            },
            solution.indicators,
        )

    def test_healthy_stacks_can_be_checked_too(self) -> None:
        solution = self.propose(HEALTHY, UNHEALTHY, check='all')

        self.assertEqual(
            [
                ('stack_check', 'uuid-of-fine', ()),
                ('stack_check', 'uuid-of-web', ()),
                ('stack_update', 'uuid-of-web', ('check-web-uuid-of-web',)),
            ],
            self.steps(solution),
        )

    def test_the_model_resolves_the_stacks_of_the_scope(self) -> None:
        self.propose(stacks=['web'], tags=['prod'], tenant='t')
        given = self.model.asked
        self.propose()

        self.assertEqual([{'names': ['web'], 'tags': ['prod'], 'tenant': 't'}], given)
        self.assertEqual([{'names': [], 'tags': [], 'tenant': None}], self.model.asked)

    def test_unknown_parameters_are_refused(self) -> None:
        self.assertRaises(exceptions.InvalidInput, self.propose, stack='web')

    def test_its_planner_keeps_the_order(self) -> None:
        document = Graph().plan(self.propose(UNHEALTHY), 'nightly')

        actions = to_mapping(document)['actions']
        self.assertEqual(
            [None, ['check-web-uuid-of-web']],
            [action.get('parents') for action in actions],
        )


class TestGoal(base.TestCase):
    def test_the_efficacy_is_the_repaired_share(self) -> None:
        shares = [
            Goal().global_efficacy(
                {
                    'resources_count': 9,
                    'unhealthy_resources_count': unhealthy,
                    'repaired_resources_count': repaired,
                }
            )[0]
            for unhealthy, repaired in ((4, 1), (0, 0))
        ]

        self.assertEqual([25.0, 0.0], [share.value for share in shares])
        self.assertEqual('%', shares[0].unit)
