"""Test fixtures for plugin authors, which need no daemon.

`run_action` executes one action through its phases, `run_strategy` calls a strategy for
its solution, `ResourceRun` performs the operations of a resource; `FakeContext`
replaces the worker, `ManualClock` the time, `MemoryStore` the database.
"""

from watcherlite.testing.actions import (
    ActionResult,
    SimulatedResult,
    revert_action,
    run_action,
)
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.context import FakeContext, after_seconds, at_checkpoint
from watcherlite.testing.memory_store import MemoryStore
from watcherlite.testing.recorder import Recorder
from watcherlite.testing.resources import ResourceRun, Settled
from watcherlite.testing.strategies import run_strategy

__all__ = [
    'ActionResult',
    'FakeContext',
    'ManualClock',
    'MemoryStore',
    'Recorder',
    'ResourceRun',
    'Settled',
    'SimulatedResult',
    'after_seconds',
    'at_checkpoint',
    'revert_action',
    'run_action',
    'run_strategy',
]
