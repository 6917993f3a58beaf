"""The services and the settings that every part of a worker shares."""

import dataclasses

from watcherlite.clock import Clock
from watcherlite.db.api import Store


@dataclasses.dataclass(slots=True)
class ExecutionSettings:
    """All times in seconds; the options of the same names explain them.

    One object is shared by all parts of a worker, so that a reload reaches them.

    :param look_ahead: most actions that are loaded before they can run
    :param linger: how long the committer lets changes gather while threads
        still produce them
    :param quick: that checks before the start may take, on average for their type,
        for an action to be started together with the end of the one it follows
    """

    max_parallel: int = 8
    claim_batch: int = 512
    lease: float = 30.0
    sweep_interval: float = 10.0
    max_attempts: int = 5
    signal_grace: float = 5.0
    default_action_timeout: int = 3600
    look_ahead: int = 64
    linger: float = 0.02
    quick: float = 0.005
    max_probes: int = 64
    max_probes_per_cluster: int = 16
    max_probes_per_project: int = 32

    def update(self, other: 'ExecutionSettings') -> None:
        """Take over the values that may change while a worker runs."""
        for name in MUTABLE:
            setattr(self, name, getattr(other, name))


#: What the configuration marks as mutable.
MUTABLE = (
    'claim_batch',
    'sweep_interval',
    'max_attempts',
    'signal_grace',
    'default_action_timeout',
)


@dataclasses.dataclass(frozen=True, slots=True)
class CoreServices:
    """The store, the clock and the settings of one worker.

    :param settings: one object, so that a reload reaches every part
    :param worker_id: uuid of the worker, which owns the actions that it claims
    """

    store: Store
    clock: Clock
    settings: ExecutionSettings
    worker_id: str
