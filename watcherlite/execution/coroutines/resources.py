"""Resources that plugins keep for the life of an event loop, such as HTTP clients."""

import asyncio
import inspect
import logging
import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

LOG = logging.getLogger(__name__)

Kept = TypeVar('Kept')

#: event loop -> its resources, by key
_KEPT: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, Any]] = (
    weakref.WeakKeyDictionary()
)


def keep(key: Hashable, make: Callable[[], Kept]) -> Kept:
    """Return the resource of the running loop with this key; make it if there is none.

    Its `close` is called, and awaited if need be, when the loop ends.
    """
    kept = _KEPT.setdefault(asyncio.get_running_loop(), {})
    if key not in kept:
        kept[key] = make()
    found: Kept = kept[key]
    return found


async def close() -> None:
    """Close the resources of the running loop."""
    for resource in _KEPT.pop(asyncio.get_running_loop(), {}).values():
        try:
            closing = resource.close()
            if inspect.isawaitable(closing):
                await closing
        except Exception:
            LOG.exception('%s could not be closed', type(resource).__name__)
