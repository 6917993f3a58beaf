"""The services and settings that all parts of a worker share."""

import dataclasses

from watcherlite.clock import Clock
from watcherlite.db.api import Store


@dataclasses.dataclass(slots=True)
class ExecutionSettings:
    """The settings of the options of the same names; times are seconds.

    One object is shared by all parts of a worker, so that a reload reaches them.

    :param look_ahead: the largest number of actions to prefetch
    :param linger: the time for which the committer collects changes while threads
        still produce them
    :param quick: the largest average duration of the preparation of an action type
        for a dependent to start in the transaction of its parent's end
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
        """Copy the mutable values of `other`."""
        for name in MUTABLE:
            setattr(self, name, getattr(other, name))


#: The options that are mutable.
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

    :param worker_id: uuid of the worker, the owner of the actions that it claims
    """

    store: Store
    clock: Clock
    settings: ExecutionSettings
    worker_id: str
