"""Hooks of action types for both kinds: the same hook as a function and a coroutine.

A hook is written as a coroutine. As a function it gets a context whose coroutines end
without waiting for an event loop, because they call the functions of the real context.
"""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from tests.worlds import Gate, kind
from watcherlite.execution.coroutines.steps import run_steps
from watcherlite.plugins.base import ActionType

FUNCTIONS, COROUTINES = 'functions', 'coroutines'


class _FunctionContext:
    """A context for functions, with the interface of that for coroutines."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    async def checkpoint(self) -> None:
        self._context.checkpoint()

    async def sleep(self, seconds: float) -> None:
        self._context.sleep(seconds)

    async def save_token(self, token: Any) -> None:
        self._context.save_token(token)

    async def enter(self, gate: Gate) -> Any:
        return gate()


class _CoroutineContext:
    """A context for coroutines that can wait for a gate."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    async def enter(self, gate: Gate) -> Any:
        return await asyncio.to_thread(gate)


def hook_of(style: str, coroutine: Callable[..., Any]) -> Callable[..., Any]:
    """Return a coroutine function as a hook of a kind."""
    if style == COROUTINES:

        async def run(context: Any, *arguments: Any) -> Any:
            return await coroutine(_CoroutineContext(context), *arguments)

        return run
    return lambda context, *arguments: run_steps(
        coroutine(_FunctionContext(context), *arguments)
    )


def type_of(style: str, **members: Any) -> type[ActionType]:
    """Return an action type whose coroutine functions are hooks of a kind."""
    return kind(
        **{
            name: hook_of(style, member)
            if inspect.iscoroutinefunction(member)
            else member
            for name, member in members.items()
        }
    )
