"""What the operations of the API work with; `deploy` puts it together."""

import dataclasses

from watcherlite.api.event_streams import EventStreams
from watcherlite.applier.operations import PlanOperations
from watcherlite.clock import Clock
from watcherlite.db.api import Store
from watcherlite.engine.clusters.operations import ClusterOperations
from watcherlite.engine.operations import AuditOperations
from watcherlite.engine.stacks.operations import StackOperations
from watcherlite.engine.stacks.reading import StackReading
from watcherlite.engine.templates import TemplateOperations
from watcherlite.plugins.loader import Plugins


@dataclasses.dataclass(frozen=True, slots=True)
class Services:
    """The parts of a process that answers requests.

    :param store: for reading; what changes goes through operations
    :param plans: the operations on plans and their actions
    :param stacks: the operations on stacks
    :param reading: what is shown of stacks
    :param clusters: the operations on clusters, nodes and what belongs to them
    :param plugins: descriptions, schemas
    :param max_limit: rows of a page, unless fewer are asked for
    :param max_event_streams: open streams of events in this process
    :param streams: these; who hears that events were stored wakes them, and who
        stops the process ends them
    """

    store: Store
    plans: PlanOperations
    audits: AuditOperations
    templates: TemplateOperations
    stacks: StackOperations
    reading: StackReading
    clusters: ClusterOperations
    plugins: Plugins
    clock: Clock
    max_limit: int = 1000
    max_event_streams: int = 5
    streams: EventStreams = dataclasses.field(default_factory=EventStreams)
