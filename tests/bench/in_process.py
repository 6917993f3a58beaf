"""Plans stored and executed in this one process, on SQLite and memory://."""

import contextlib
import dataclasses
import gc
import os
import pathlib
import sqlite3
import threading
import time
from collections.abc import Sequence
from typing import Any, cast

from tests.bench import plans, processes
from tests.bench.watching import Watch
from watcherlite import bootstrap, conf
from watcherlite.domain import events
from watcherlite.domain.actions import APPLIER
from watcherlite.domain.events import Event
from watcherlite.messaging.in_process import InProcessBus
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

#: Actions of the plan that is executed first, so that everything is loaded.
_WARM_UP = 2
_POLL = 0.002
_STARTING = 30.0
_UNTOLD = 'SELECT 1 FROM events WHERE pending = 1 LIMIT 1'


class _Witness:
    """Notes, by the wall clock, when something became true.

    :ivar first: the first action of the plan was RUNNING
    :ivar done: the plan had ended
    :ivar told: a notification arrived last
    :ivar messages: how many did
    """

    def __init__(self) -> None:
        self._plan_id: int | None = None
        self._ended = threading.Event()
        self.first = self.done = self.told = 0.0
        self.state: str | None = None
        self.messages = 0

    def watch(self, plan_id: int | None) -> None:
        """Begin anew with a plan that is about to be started."""
        self._ended.clear()
        self._plan_id = plan_id
        self.first = self.done = self.told = 0.0
        self.messages = 0

    def wait(self, timeout: float) -> bool:
        """Wait for the end of the plan."""
        return self._ended.wait(timeout)

    def hear(self, stored: list[Event]) -> None:
        """Take events that are durable now; the last one tells of the plan's end."""
        if not self.first:
            self.first = min(
                (
                    event.occurred_at.timestamp()
                    for event in stored
                    if event.plan_id == self._plan_id
                    and event.subject == events.ACTION
                    and event.new_status == states.RUNNING
                ),
                default=0.0,
            )
        if not stored or stored[-1].plan_id != self._plan_id:
            return
        last = stored[-1]
        if last.subject == events.ACTION_PLAN and last.new_status in plan_states.ENDED:
            self.done = time.time()
            self.state = last.new_status
            self._ended.set()

    def consume(self, routing_key: str, body: bytes) -> None:
        """Take a notification."""
        self.messages += 1
        self.told = time.time()


def execute(
    configuration: conf.Configuration,
    shape: str,
    size: int,
    repetitions: int,
    spawned: float,
    watch: Watch,
) -> dict[str, Any]:
    """Execute plans one after the other, and return what they took.

    :param spawned: when this process was started, by the wall clock
    :returns: `timings`, `daemon_cpu` (ms an action), `idle` and `peak` (MiB, see
        `processes.Memory`), `startup` (s), `messages` (an action), and what the
        watch has seen of the last plan
    """
    runtime = bootstrap.build(configuration, lanes=(APPLIER,))
    watch.put_on(runtime)
    witness = _Witness()
    cast(InProcessBus, runtime.bus).subscribe_notifications(witness.consume)
    runtime.start()
    try:
        if not runtime.bus.wait_until_consuming(_STARTING):
            raise TimeoutError('the process does not consume its own messages')
        startup = time.time() - spawned
        runtime.add_listener(witness.hear)
        _execute(runtime, witness, shape, _WARM_UP, watch)
        idle = processes.memory(os.getpid())
        timings, used, messages = [], 0.0, 0
        for _ in range(repetitions):
            timing, its_cpu = _execute(runtime, witness, shape, size, watch)
            timings.append(timing)
            used += its_cpu
            messages += witness.messages
        done = size * repetitions
        return {
            'timings': [dataclasses.asdict(timing) for timing in timings],
            'daemon_cpu': used * 1000 / done,
            'idle': dataclasses.asdict(idle),
            'peak': dataclasses.asdict(processes.memory(os.getpid())),
            'startup': startup,
            'messages': messages / done,
            'seen': watch.take(),
        }
    finally:
        runtime.stop()


def _execute(
    runtime: bootstrap.Runtime, witness: _Witness, shape: str, size: int, watch: Watch
) -> tuple[plans.Timing, float]:
    """Execute a plan; return how long it took, and its CPU seconds."""
    plan = runtime.plans.create(plans.document(shape, size))
    _drain(runtime, size)
    gc.collect()
    # The peak of the execution is asked for, not that of storing the plan before.
    pathlib.Path('/proc/self/clear_refs').write_text('5')
    witness.watch(plan.id)
    watch.take()
    used, began = time.process_time(), time.time()
    runtime.plans.start(plan.uuid)
    if not witness.wait(plans.patience(size)):
        raise plans.PlanNotSucceeded(f'the plan of {size} actions does not end')
    _drain(runtime, size)
    used = time.process_time() - used
    if witness.state != plan_states.SUCCEEDED:
        raise plans.PlanNotSucceeded(f'the plan has {witness.state}')
    ended: Sequence[float] = (witness.first, witness.done, witness.told)
    return plans.Timing(*(moment - began for moment in ended)), used


def _drain(runtime: bootstrap.Runtime, size: int) -> None:
    """Wait until all notifications have been consumed."""
    deadline = time.monotonic() + plans.patience(size)
    # A connection of its own, so that looking is not counted.
    path = conf.database_url(runtime.conf).removeprefix('sqlite:///')
    with contextlib.closing(sqlite3.connect(path)) as connection:
        while connection.execute(_UNTOLD).fetchone() is not None:
            if time.monotonic() > deadline:
                raise TimeoutError('notifications are left over')
            time.sleep(_POLL)
