"""The services that every part of a worker shares."""

import dataclasses

from watcherlite.clock import Clock
from watcherlite.db.api import Store
from watcherlite.execution.settings import ExecutionSettings


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
