"""The dependencies of operations; `deploy` assembles them."""

import dataclasses

from watcherlite.api.event_streams import EventStreams
from watcherlite.applier.operations import PlanOperations
from watcherlite.clock import Clock
from watcherlite.db.api import Store
from watcherlite.engine.audits.data_models import DataModels, Datasources
from watcherlite.engine.audits.operations import AuditOperations
from watcherlite.engine.audits.templates import TemplateOperations
from watcherlite.engine.clusters.requests.clusters import ClusterOperations
from watcherlite.engine.software import SoftwareOperations
from watcherlite.engine.stacks.queries import StackQueries
from watcherlite.engine.stacks.requests.operations import StackOperations
from watcherlite.notifications.settings import NotificationSettings
from watcherlite.plugins.loader import Plugins
from watcherlite.plugins.openstack.connections import Clouds
from watcherlite.plugins.openstack.delegation import Delegations


@dataclasses.dataclass(frozen=True, slots=True)
class Services:
    """The dependencies of operations in a process.

    :param store: for reading; changes use the operations
    :param plans: the operations on plans and their actions
    :param stacks: the operations on stacks
    :param reading: the queries of stacks
    :param software: the operations on software configs and deployments
    :param clusters: the operations on clusters, nodes and related objects
    :param data_models: the models that strategies examine
    :param datasources: the configured ones
    :param plugins: for descriptions and schemas
    :param notifications: the settings with which notifications are shown
    :param delegations: the credentials of users for the cloud; None: there are none
    :param max_limit: maximum number of rows of a page
    :param max_event_streams: maximum number of open event streams in this process
    :param streams: the open event streams
    """

    store: Store
    plans: PlanOperations
    audits: AuditOperations
    templates: TemplateOperations
    data_models: DataModels
    datasources: Datasources
    stacks: StackOperations
    reading: StackQueries
    software: SoftwareOperations
    clusters: ClusterOperations
    plugins: Plugins
    clock: Clock
    notifications: NotificationSettings
    max_limit: int = 1000
    max_event_streams: int = 5
    delegations: Delegations | None = None
    streams: EventStreams = dataclasses.field(default_factory=EventStreams)

    @property
    def clouds(self) -> Clouds:
        """Return the connections to OpenStack."""
        return self.plugins.clouds
