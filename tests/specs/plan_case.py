"""A world whose actions record the calls of their hooks."""

from typing import Any

from tests.bounded import TIMEOUT
from tests.worlds import Calls, WorldCase, kind
from watcherlite.domain.outcomes import Failed


class PlanCase(WorldCase):
    """A world whose actions record the calls of their hooks."""

    def setUp(self) -> None:
        super().setUp()
        self.calls = Calls()
        self.gate = self.create_gate()
        note = self.calls.record
        self.world = self.create_world(
            {
                'does': kind(
                    execute=note('execute', True), revert=note('revert', True)
                ),
                'cannot': kind(execute=note('execute', True)),
                'fails': kind(
                    execute=note('execute', Failed('no disk')), revert=note('revert')
                ),
                'waits': kind(execute=self.gate, revert=note('revert', True)),
                'sleeps': kind(execute=lambda context: context.sleep(TIMEOUT * 9)),
                'sticks': kind(
                    execute=note('execute', True), revert=note('revert', Failed('rust'))
                ),
            }
        )


def outcome(plan: Any) -> tuple[str, str | None]:
    """Return the final state of a plan and its message."""
    return plan.state, plan.status_message
