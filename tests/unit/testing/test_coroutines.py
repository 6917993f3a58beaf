"""An action type with coroutines in the test kit."""

from typing import Any

from tests import base
from tests.worlds import kind
from watcherlite import exceptions, testing
from watcherlite.domain.outcomes import Done, InProgress


class TestCoroutines(base.TestCase):
    def test_every_phase_may_be_a_coroutine(self) -> None:
        phases: list[str] = []

        def phase(name: str, returns: Any = None) -> Any:
            async def hook(context: Any, *arguments: Any) -> Any:
                await context.checkpoint()
                phases.append(name)
                return returns

            return hook

        result = testing.run_action(
            kind(
                pre_condition=phase('pre_condition'),
                execute=phase('execute', InProgress({'job': 1}, 5)),
                poll=phase('poll', Done({'n': 1})),
                post_condition=phase('post_condition'),
            ),
            {},
        )
        self.assertEqual(('SUCCEEDED', {'n': 1}), (result.status, result.outputs))
        self.assertEqual(['pre_condition', 'execute', 'poll', 'post_condition'], phases)

    def test_a_sleep_takes_no_time_and_ends_with_a_signal(self) -> None:
        async def execute(context: Any) -> bool:
            await context.sleep(3600)
            return True

        for signals, status in (
            ((), 'SUCCEEDED'),
            ((testing.after_seconds(60, 'CANCEL'),), 'CANCELLED'),
        ):
            result = testing.run_action(kind(execute=execute), {}, signals=signals)
            self.assertEqual(status, result.status)
        late = testing.run_action(kind(execute=execute), {}, timeout=60)
        self.assertEqual('FAILED', late.status)

    def test_a_cancel_of_external_work_may_be_a_coroutine(self) -> None:
        stopped: list[Any] = []

        async def cancel(context: Any, token: Any) -> None:
            stopped.append(token)

        result = testing.run_action(
            kind(execute=lambda context: InProgress(7, 60), cancel=cancel),
            {},
            signals=[testing.after_seconds(1, 'CANCEL')],
        )
        self.assertEqual(('CANCELLED', [7]), (result.status, stopped))

    def test_kept_objects_are_closed_and_exceptions_reported(self) -> None:
        closed: list[int] = []

        class Client:
            def close(self) -> None:
                closed.append(1)

        async def execute(context: Any) -> bool:
            context.keep('client', Client)
            raise exceptions.WatcherliteError('no quota')

        result = testing.run_action(kind(execute=execute), {})
        self.assertEqual('Action failed in execute: no quota', result.status_message)
        self.assertEqual([1], closed)
