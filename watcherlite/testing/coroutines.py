"""The context of an action for coroutines, and their execution in a test."""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Coroutine, Hashable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from watcherlite.execution.coroutines import resources
from watcherlite.execution.coroutines.context import SHARED
from watcherlite.execution.coroutines.steps import (
    ENDING,
    FUNCTION,
    STEPS,
    OnLoop,
    Steps,
    hook_kind,
    run_steps,
    stop_error,
)
from watcherlite.testing.context import FakeContext

Kept = TypeVar('Kept')


class FakeCoroutineContext:
    """Implements `plugins.base.CoroutineContext` by a context for functions."""

    def __init__(self, context: FakeContext) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        if name not in SHARED:
            raise AttributeError(f'{type(self).__name__} has no {name}')
        return getattr(self._context, name)

    async def checkpoint(self) -> None:
        self._context.checkpoint()

    async def save_token(self, token: Any) -> None:
        self._context.save_token(token)

    async def sleep(self, seconds: float) -> None:
        # Other tasks of the plugin get a turn, as in a worker.
        await asyncio.sleep(0)
        self._context.sleep(seconds)

    def keep(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        return resources.keep(key, make)

    def service(self, name: str) -> AbstractAsyncContextManager[None]:
        return contextlib.nullcontext()


def call_hook(context: FakeContext, plugin: Any, name: str, *arguments: Any) -> Any:
    """Call a hook of a plugin, and return its result; run a coroutine to its end."""
    kind = hook_kind(plugin, name)
    hook = getattr(plugin, name)
    if kind == FUNCTION:
        return hook(context, *arguments)
    if kind == STEPS:
        return run_steps_of_core(context, hook(context, *arguments))
    # As in a worker: `cancel` is not interrupted, and an action that was faster than a
    # signal is verified.
    ignored: Collection[str | None] = ()
    if name == 'cancel':
        ignored = ENDING
    elif name == 'post_condition':
        ignored = ENDING & {context.signal}
    return run_coroutine(
        context, hook(FakeCoroutineContext(context), *arguments), ignored
    )


def run_steps_of_core(context: FakeContext, steps: Steps[Any]) -> Any:
    """Run steps to their end; coroutines that they await, in an event loop."""

    def run(request: OnLoop) -> Any:
        coroutine = request.make(FakeCoroutineContext(context))
        return run_coroutine(context, coroutine, request.ignored)

    return run_steps(steps, run)


def run_coroutine(
    context: FakeContext,
    coroutine: Coroutine[Any, Any, Any],
    ignored: Collection[str | None] = (),
) -> Any:
    """Run a coroutine in an event loop of its own; signals of the context end it.

    :param ignored: signals that do not end it
    """

    async def run() -> Any:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(coroutine)

        def on_signal(signal: str) -> None:
            if signal in ENDING and signal not in ignored:
                loop.call_soon_threadsafe(task.cancel)

        try:
            with context.on_signal(on_signal):
                return await task
        finally:
            await resources.close()

    try:
        return asyncio.run(run())
    except asyncio.CancelledError as error:
        raise stop_error(context.signal) or error from None
