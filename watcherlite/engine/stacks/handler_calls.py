"""The calls of the hooks of resource handlers, which are functions or coroutines."""

from collections.abc import Callable, Hashable
from contextlib import AbstractAsyncContextManager
from typing import Any

from watcherlite.engine.stacks.resource_context import HandlerContext
from watcherlite.execution.coroutines.steps import (
    ENDING,
    FUNCTION,
    OnLoop,
    enter_pool_of,
    hook_kind,
)
from watcherlite.plugins.base import CoroutineContext, Kept, ResourceHandler


class CoroutineHandlerContext:
    """Implements `ResourceCoroutineContext` by the context for functions.

    :param action: the context of the action for coroutines
    """

    def __init__(self, context: HandlerContext, action: CoroutineContext) -> None:
        self._context = context
        self._action = action

    def __getattr__(self, name: str) -> Any:
        if name in ('action', 'on_signal'):
            raise AttributeError(f'{type(self).__name__} has no {name}')
        return getattr(self._context, name)

    async def checkpoint(self) -> None:
        await self._action.checkpoint()

    def keep(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        return self._action.keep(key, make)

    def service(self, name: str) -> AbstractAsyncContextManager[None]:
        return self._action.service(name)


async def call_handler(
    handler: ResourceHandler, hook: str, context: HandlerContext, *arguments: Any
) -> Any:
    """Call a hook of a handler, in a thread or in the event loop.

    Steps of the core: the function of a blocking handler runs in the wide pool.
    """
    call = getattr(handler, hook)
    if hook_kind(handler, hook) == FUNCTION:
        await enter_pool_of(handler)
        return call(context, *arguments)
    return await OnLoop(
        lambda action: call(CoroutineHandlerContext(context, action), *arguments),
        # As for functions: the work outside is stopped in any case.
        ignored=ENDING if hook == 'cancel' else (),
    )
