"""Steps of the core as coroutines, and the plugins that they wait for.

The steps of an attempt are `async def`, and are driven by hand: a thread of a pool
calls `send`. With synchronous plugins nothing suspends, so that they run to their end
in this thread. Where a plugin is a coroutine, the steps yield it as an `OnLoop`; the
driver has the event loop of the worker run it, leaves the thread, and continues with
the result in any thread. Before a function of a blocking plugin the steps yield an
`InWidePool`, and the driver continues in a thread of that pool.
"""

import functools
import inspect
from collections.abc import Callable, Collection, Coroutine, Generator
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.execution.context import TIMEOUT
from watcherlite.states import action as states

Answer = TypeVar('Answer')
#: Steps that end with an answer, and yield the coroutines of plugins.
Steps = Coroutine['OnLoop | InWidePool', Any, Answer]
Hook = TypeVar('Hook', bound=Callable[..., Any])

#: Signals that end the coroutine of a plugin: its task is cancelled.
ENDING = frozenset({states.CANCEL, TIMEOUT})

# The kinds of hooks
#: A function, which runs in a thread.
FUNCTION = 'function'
#: A coroutine, which the event loop runs.
COROUTINE = 'coroutine'
#: Steps like those of the runner, see `steps_of_core`.
STEPS = 'steps'


class OnLoop:
    """A request of steps to run the coroutine of a plugin in the event loop.

    The driver sends its result and its exception, one of which is None.

    :param make: returns the coroutine; called in the loop with its context
    :param ignored: ending signals that do not cancel it
    """

    __slots__ = ('ignored', 'is_dropped', 'make')

    def __init__(
        self,
        make: Callable[[Any], Coroutine[Any, Any, Any]],
        ignored: Collection[str | None] = (),
    ) -> None:
        self.make = make
        self.ignored = ignored
        self.is_dropped = False

    def __await__(self) -> Generator['OnLoop', tuple[Any, BaseException | None], Any]:
        try:
            result, error = yield self
        except GeneratorExit:
            # Of the driver; that of a plugin is sent as its exception.
            self.is_dropped = True
            raise
        if error is not None:
            raise error
        return result


class InWidePool:
    """A request of steps to continue in the wide pool.

    :param service: that is called; None: any
    """

    __slots__ = ('service',)

    def __init__(self, service: str | None) -> None:
        self.service = service

    def __await__(self) -> Generator['InWidePool', Any, None]:
        yield self


async def enter_pool_of(plugin: Any) -> None:
    """Continue in the wide pool if a plugin blocks.

    :param plugin: an action type or a resource handler, called afterwards
    """
    if plugin.blocking:
        await InWidePool(plugin.service)


def steps_of_core(hook: Hook) -> Hook:
    """Declare that a coroutine of the engine consists of steps.

    It runs in threads of the pool, so that it can use the store, and awaits the
    coroutines of plugins as `OnLoop`.
    """
    hook.steps_of_core = True  # type: ignore[attr-defined]
    return hook


@functools.lru_cache(maxsize=4096)
def _hook_kind(plugin_type: Any, name: str) -> str:
    hook = inspect.unwrap(getattr(plugin_type, name))
    if not inspect.iscoroutinefunction(hook):
        return FUNCTION
    return STEPS if getattr(hook, 'steps_of_core', False) else COROUTINE


def hook_kind(plugin: Any, name: str) -> str:
    """Return the kind of a hook of a plugin."""
    plugin_type: Any = type(plugin)
    return _hook_kind(plugin_type, name)


def stop_error(signal: str | None) -> BaseException | None:
    """Return the exception for a coroutine that a signal has cancelled, or None."""
    if signal == states.CANCEL:
        return exceptions.Cancelled()
    return exceptions.TimedOut() if signal == TIMEOUT else None


def run_steps(
    steps: Steps[Answer], run_on_loop: Callable[[OnLoop], Any] | None = None
) -> Answer:
    """Run steps to their end in this thread.

    :param run_on_loop: returns the result of a coroutine; None: none may be awaited
    """
    try:
        request = steps.send(None)
        while True:
            if isinstance(request, InWidePool):
                request = steps.send(None)
                continue
            if run_on_loop is None:
                raise RuntimeError('these steps run without an event loop')
            try:
                settled = run_on_loop(request), None
            except BaseException as error:  # a plugin may raise anything
                request = steps.send((None, error))
            else:
                request = steps.send(settled)
    except StopIteration as end:
        answer: Answer = end.value
        return answer
