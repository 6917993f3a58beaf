"""How signals get from the `control` column to the plugins that run."""

import logging

from watcherlite.db.api import Store
from watcherlite.execution.dispatcher import Dispatcher

LOG = logging.getLogger(__name__)


class Signals:
    """Reads the signals for what a worker owns and delivers them.

    The column is the truth; a message only says when to look. One that got lost
    is found by the next sweep.
    """

    def __init__(self, store: Store, worker: str, dispatcher: Dispatcher) -> None:
        self._store = store
        self._worker = worker
        self._dispatcher = dispatcher

    def look(self) -> None:
        """Read all signals of this worker with one question, and deliver them."""
        found = self._store.controls(self._worker)
        if found:
            LOG.debug('Signals for %d actions are delivered', len(found))
            self._dispatcher.deliver(found.items())
