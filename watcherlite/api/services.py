"""What the operations of the API work with; bootstrap puts it together."""

import dataclasses
from typing import Any

from watcherlite.api.event_streams import EventStreams
from watcherlite.applier.operations import PlanOperations
from watcherlite.clock import Clock
from watcherlite.db.api import Store


@dataclasses.dataclass(frozen=True, slots=True)
class Services:
    """The parts of a process that answers requests.

    :param store: for reading; what changes goes through operations
    :param plans: the operations on plans and their actions
    :param audits: `engine.operations.AuditOperations`
    :param templates: `engine.templates.TemplateOperations`
    :param plugins: `plugins.loader.Plugins`: descriptions, schemas
    :param max_limit: rows of a page, unless fewer are asked for
    :param max_event_streams: open streams of events in this process
    :param streams: these; who hears that events were stored wakes them, and who
        stops the process ends them
    """

    store: Store
    plans: PlanOperations
    audits: Any
    templates: Any
    plugins: Any
    clock: Clock
    max_limit: int = 1000
    max_event_streams: int = 5
    streams: EventStreams = dataclasses.field(default_factory=EventStreams)
