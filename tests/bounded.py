"""Calls and conditions that hang if the product is broken, with a bound on the wait.

The bound is no property of the product: on any machine a call ends long before it,
or never.
"""

import threading
import time
from collections.abc import Callable
from concurrent import futures
from typing import Any

#: Seconds after which a test gives up waiting; on a busy machine, starts take minutes.
TIMEOUT = 300.0
#: Longer than the wait for a call: a call that takes this long hangs.
FOREVER = 3.0 * TIMEOUT


def call(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return the result of a call; raise TimeoutError if it hangs."""
    future: futures.Future[Any] = futures.Future()

    def run() -> None:
        try:
            future.set_result(function(*arguments, **options))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name='bounded-call', daemon=True).start()
    return future.result(TIMEOUT)


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds; raise TimeoutError if it never does."""
    deadline, pause = time.monotonic() + TIMEOUT, threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError('the condition stayed false')
        pause.wait(0.01)
