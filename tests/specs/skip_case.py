"""A world with action types that skip, fail or succeed in different phases."""

from tests.worlds import Calls, WorldCase, kind, raises
from watcherlite import exceptions
from watcherlite.domain.outcomes import Failed, Skipped


class SkipCase(WorldCase):
    """A world with action types that skip, fail or succeed in different phases."""

    def setUp(self) -> None:
        super().setUp()
        self.calls = Calls()
        note = self.calls.record
        gone = exceptions.ActionSkipException('the instance does not exist')
        self.world = self.create_world(
            {
                'recorded': kind(
                    pre_condition=note('pre_condition'),
                    execute=note('execute', True),
                    post_condition=note('post_condition'),
                    revert=note('revert', True),
                ),
                'gone': kind(
                    pre_condition=note('pre_condition', raises(gone)),
                    execute=note('execute', True),
                    post_condition=note('post_condition'),
                    revert=note('revert', True),
                ),
                'old_name': kind(
                    pre_condition=raises(exceptions.ActionSkipped('gone as well'))
                ),
                'says_skipped': kind(
                    pre_condition=lambda context: Skipped('no longer there')
                ),
                'unchecked': kind(
                    pre_condition=note('pre_condition', raises(KeyError('secret'))),
                    execute=note('execute', True),
                ),
                'fails': kind(execute=lambda context: Failed('no disk')),
            }
        )

    def skip(self, name: str, reason: str | None = None) -> None:
        self.world.plans.skip_action(self.world.action(name).uuid, reason)

    def refusal(self, error: type[Exception], name: str, *reason: str) -> str:
        """Check that a skip is rejected and changes nothing; return the message."""
        before = self.world.action(name), self.world.events()
        refusal = self.assertRaises(error, self.skip, name, *reason)
        self.assertEqual(before, (self.world.action(name), self.world.events()))
        return str(refusal)
