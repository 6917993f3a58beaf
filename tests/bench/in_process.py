"""The execution of plans in one process, with SQLite and memory://."""

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
from tests.bench.query_counters import Counters
from watcherlite import bootstrap, conf
from watcherlite.domain import events
from watcherlite.domain.actions import APPLIER
from watcherlite.domain.events import Event
from watcherlite.messaging.in_process import InProcessBus
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

#: Number of actions of the plan that is executed first, to load modules.
_WARM_UP = 2
_POLL = 0.002
_STARTING = 30.0
_UNTOLD = 'SELECT 1 FROM events WHERE pending = 1 LIMIT 1'


class _PlanRecorder:
    """The wall clock times of the events of one plan.

    :ivar first: the first action became RUNNING
    :ivar done: the plan ended
    :ivar confirmed: the last notification arrived
    :ivar messages: number of notifications
    """

    def __init__(self) -> None:
        self._plan_id: int | None = None
        self._ended = threading.Event()
        self.first = self.done = self.confirmed = 0.0
        self.state: str | None = None
        self.messages = 0

    def watch(self, plan_id: int | None) -> None:
        """Reset the times, before a plan is started."""
        self._ended.clear()
        self._plan_id = plan_id
        self.first = self.done = self.confirmed = 0.0
        self.messages = 0

    def wait(self, timeout: float) -> bool:
        """Wait for the end of the plan; return False after `timeout` seconds."""
        return self._ended.wait(timeout)

    def on_events(self, stored: list[Event]) -> None:
        """Record committed events; the end of the plan is the last of a list."""
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
        """Record a notification."""
        self.messages += 1
        self.confirmed = time.time()


def execute(
    configuration: conf.Configuration,
    shape: str,
    size: int,
    repetitions: int,
    spawned: float,
    *,
    count: bool,
) -> dict[str, Any]:
    """Execute plans in sequence and return their measurements.

    :param spawned: wall clock time at which this process was started
    :returns: `timings`, `daemon_cpu` (ms per action), `idle` and `peak` (MiB, see
        `processes.Memory`), `startup` (s), `messages` (per action), `seen` (see
        `Counters.take`, of the last plan)
    """
    runtime = bootstrap.Runtime(configuration, lanes=(APPLIER,))
    counters = Counters()
    if count:
        counters.install(runtime)
    recorder = _PlanRecorder()
    cast(InProcessBus, runtime.bus).subscribe_notifications(recorder.consume)
    runtime.start()
    try:
        if not runtime.bus.wait_until_consuming(_STARTING):
            raise TimeoutError('the process did not consume its own messages in time')
        startup = time.time() - spawned
        # As in a daemon.
        gc.freeze()
        bootstrap.limit_garbage_collection()
        runtime.add_listener(recorder.on_events)
        _execute(runtime, recorder, shape, _WARM_UP, counters)
        idle = processes.memory(os.getpid())
        timings, used, messages = [], 0.0, 0
        for _ in range(repetitions):
            timing, its_cpu = _execute(runtime, recorder, shape, size, counters)
            timings.append(timing)
            used += its_cpu
            messages += recorder.messages
        done = size * repetitions
        return {
            'timings': [dataclasses.asdict(timing) for timing in timings],
            'daemon_cpu': used * 1000 / done,
            'idle': dataclasses.asdict(idle),
            'peak': dataclasses.asdict(processes.memory(os.getpid())),
            'startup': startup,
            'messages': messages / done,
            'seen': counters.take(),
        }
    finally:
        runtime.stop()


def _execute(
    runtime: bootstrap.Runtime,
    recorder: _PlanRecorder,
    shape: str,
    size: int,
    counters: Counters,
) -> tuple[plans.Timing, float]:
    """Execute a plan; return its times and its CPU seconds."""
    plan = runtime.plans.create(plans.document(shape, size))
    _drain(runtime, size)
    gc.collect()
    # Reset the peak: storing the plan must not count.
    pathlib.Path('/proc/self/clear_refs').write_text('5')
    recorder.watch(plan.id)
    counters.take()
    used, began = time.process_time(), time.time()
    runtime.plans.start(plan.uuid)
    if not recorder.wait(plans.timeout(size)):
        raise plans.PlanNotSucceeded(f'the plan of {size} actions did not end in time')
    _drain(runtime, size)
    used = time.process_time() - used
    if recorder.state != plan_states.SUCCEEDED:
        raise plans.PlanNotSucceeded(f'the plan has {recorder.state}')
    ended: Sequence[float] = (recorder.first, recorder.done, recorder.confirmed)
    return plans.Timing(*(moment - began for moment in ended)), used


def _drain(runtime: bootstrap.Runtime, size: int) -> None:
    """Wait until all notifications have been consumed."""
    deadline = time.monotonic() + plans.timeout(size)
    # A separate connection, so that these queries are not counted.
    path = conf.database_url(runtime.conf).removeprefix('sqlite:///')
    with contextlib.closing(sqlite3.connect(path)) as connection:
        while connection.execute(_UNTOLD).fetchone() is not None:
            if time.monotonic() > deadline:
                raise TimeoutError('notifications are still pending')
            time.sleep(_POLL)
