"""What a plugin author needs to test an action without a daemon.

`run_action` takes one action through its phases; `FakeContext` stands for the
worker, `ManualClock` for the time.
"""

from watcherlite.testing.actions import DerivedEnd, Result, revert_action, run_action
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.context import FakeContext, after_seconds, at_checkpoint
from watcherlite.testing.recorder import Recorder

__all__ = [
    'DerivedEnd',
    'FakeContext',
    'ManualClock',
    'Recorder',
    'Result',
    'after_seconds',
    'at_checkpoint',
    'revert_action',
    'run_action',
]
