"""A worker process that records the calls of its parts."""

from collections.abc import Callable

from watcherlite.domain.commands import Broadcast


class RecordedProcess:
    """Implements `execution.ports.WorkerProcess`.

    :param on_time_out: called before a timeout is recorded; may raise
    :ivar broadcasts: the hints to other workers
    :ivar timed_out: uuids of actions
    :ivar lost: workers whose lease was lost
    """

    def __init__(self, on_time_out: Callable[[str], None] | None = None) -> None:
        self._on_time_out = on_time_out
        self.broadcasts: list[Broadcast] = []
        self.timed_out: list[str] = []
        self.lost: list[str] = []

    def broadcast(self, message: Broadcast) -> None:
        self.broadcasts.append(message)

    def time_out(self, uuid: str) -> None:
        if self._on_time_out is not None:
            self._on_time_out(uuid)
        self.timed_out.append(uuid)

    def on_lease_lost(self, worker_id: str) -> None:
        self.lost.append(worker_id)
