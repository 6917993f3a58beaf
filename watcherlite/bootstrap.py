"""The composition root, which chooses the classes of a process and connects them."""

import functools
import gc
import logging
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from oslo_config import cfg

from watcherlite import conf as configuration
from watcherlite import exceptions, settings
from watcherlite.applier.operations import PlanOperations
from watcherlite.applier.progress import PlanProgress
from watcherlite.clock import SystemClock
from watcherlite.db.api import Store
from watcherlite.db.database_clock import DatabaseClock
from watcherlite.db.sqlalchemy import store as database
from watcherlite.domain import commands
from watcherlite.domain.actions import APPLIER, ENGINE
from watcherlite.domain.commands import Receipt
from watcherlite.domain.events import Event
from watcherlite.domain.service_notifications import ServiceNotification
from watcherlite.engine import credential_reconciler
from watcherlite.engine.action_types import EngineActionTypes
from watcherlite.engine.audits import goal_sync
from watcherlite.engine.audits.data_models import DataModels, Datasources
from watcherlite.engine.audits.operations import AuditOperations
from watcherlite.engine.audits.proposal import ProposalBuilder
from watcherlite.engine.audits.reconciler import ROLE, AuditReconciler
from watcherlite.engine.audits.runs import AuditRun, RunServices
from watcherlite.engine.audits.templates import TemplateOperations
from watcherlite.engine.clusters.actions.policy_actions import policies_of
from watcherlite.engine.clusters.failure_events import FailureEvents
from watcherlite.engine.clusters.lock_admission import PartLockAdmission
from watcherlite.engine.clusters.model import ClusterModel
from watcherlite.engine.clusters.projection.cluster_projection import ClusterProjection
from watcherlite.engine.clusters.requests.clusters import ClusterOperations
from watcherlite.engine.clusters.services import ClusterServices as ClusterParts
from watcherlite.engine.clusters.stack_profile import StackBackend
from watcherlite.engine.credential_reconciler import CredentialReconciler
from watcherlite.engine.plan_scope import PlanScope
from watcherlite.engine.software import SoftwareOperations
from watcherlite.engine.stacks.model import StackModel
from watcherlite.engine.stacks.projection.stack_projection import StackProjection
from watcherlite.engine.stacks.queries import StackQueries
from watcherlite.engine.stacks.requests.operations import StackOperations
from watcherlite.engine.stacks.resolution import Blueprints
from watcherlite.engine.stacks.services import StackServices
from watcherlite.execution import lease
from watcherlite.execution.policy_chain import PolicyChain
from watcherlite.execution.ports import ActionTypes, CompositeProjection
from watcherlite.execution.worker import Worker
from watcherlite.messaging import addresses, factory
from watcherlite.messaging.bus import Bus
from watcherlite.messaging.settings import NotificationDestination
from watcherlite.notifications.relay import Relay
from watcherlite.plugins import loader
from watcherlite.plugins.openstack.connections import Clouds
from watcherlite.plugins.openstack.delegation import Delegations

if TYPE_CHECKING:
    from watcherlite.messaging.notification_consumer import NotificationConsumer

LOG = logging.getLogger(__name__)

#: Seconds that the bus and the relay have to stop.
CLOSING = 5.0


class Runtime:
    """A process of watcherlite: its parts, which start and stop together.

    :ivar plans: the operations on plans
    :ivar audits: the operations on audits
    :ivar templates: the operations on audit templates
    :ivar data_models: the data models of strategies
    :ivar datasources: the configured datasources
    :ivar stacks: the operations on stacks
    :ivar reading: the queries for stacks
    :ivar software: the operations on software configs and deployments
    :ivar clusters: the operations on clusters, nodes, policies and receivers
    :ivar delegations: the credentials of users for the cloud
    :ivar service_notifications: the consumer of notifications of the cloud, or None
    :ivar failure_events: starts health checks of the nodes that they report as failed
    :ivar worker: None in a process that executes no actions

    :param plugins: from `load_plugins`; None: they are loaded
    :param store: closed when the runtime stops; None: that of the configuration
    :param only_plan: uuid of the only plan to execute; None: all
    :param lost: called when the lease is lost
    :raises ConfigurationError, StoreUnavailable, SchemaMismatch: see the text
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        lanes: Sequence[str] = (),
        *,
        plugins: loader.Plugins | None = None,
        store: Store | None = None,
        only_plan: str | None = None,
        lost: Callable[[], None] | None = None,
    ) -> None:
        self.conf = conf
        self.plugins = plugins or load_plugins(conf)
        # First, because it opens no connection: its errors leave none open.
        self.bus: Bus = open_bus(conf)
        self.service_notifications = (
            self._open_notification_consumer() if ENGINE in lanes else None
        )
        self.store = store or open_store(conf)
        self.clock = DatabaseClock(SystemClock(), self.store.now)
        self.progress = PlanProgress(self.plugins)
        self.plans = PlanOperations(
            self.store,
            self.plugins,
            self.progress,
            self.clock,
            self,
            conf.applier.on_worker_loss,
            _projection(),
            PlanScope(self.store),
        )
        self.audits = AuditOperations(self.store, self.plugins, self.clock, self)
        self.templates = TemplateOperations(self.store, self.plugins, self.clock)
        self.data_models = DataModels(
            self.plugins,
            self.clock,
            lambda: float(conf.data_models.max_age),
            lambda: float(conf.data_models.max_age_with_notifications),
        )
        self.datasources = Datasources(
            self.plugins, lambda: conf.data_models.datasources
        )
        self._stack_parts = StackServices(
            self.store,
            self.plugins,
            Blueprints(self.store),
            self,
            settings.stack_limits(conf),
        )
        self.stacks = StackOperations(self._stack_parts, self.clock, self.plans)
        self.reading = StackQueries(
            self.store,
            self.plugins,
            self._stack_parts.blueprints,
            self._stack_parts.limits.shown,
        )
        self.software = SoftwareOperations(
            self.store, self.clock, self._stack_parts.limits
        )
        self._cluster_parts = ClusterParts(
            self.store,
            self.plugins,
            self,
            StackBackend(self.store, self.stacks, self.reading),
            settings.cluster_limits(conf),
            functools.partial(settings.destinations, conf),
        )
        self.failure_events = FailureEvents(self._cluster_parts, self.clock)
        self.clusters = ClusterOperations(self._cluster_parts, self.clock, self.plans)
        self.plugins.clouds.read_credential = self.store.find_credential
        self.delegations = Delegations(self.store, self.plugins.clouds, self.clock)
        self.credentials: CredentialReconciler | None = None
        self.settings = settings.execution_settings(
            conf, lanes[0] if lanes else APPLIER
        )
        self.worker: Worker | None = None
        self.relay: Relay | None = None
        self.reconciler: AuditReconciler | None = None
        self._lost = lost
        self._only_plan = only_plan
        self._lanes = tuple(lanes)

    # life

    def start(self) -> None:
        """Start the worker, the relay and the bus; raises StoreUnavailable."""
        self.clock.start()
        if ENGINE in self._lanes:
            self.sync()
        worker = Worker(
            self.store,
            self._types(),
            self.progress,
            self.clock,
            self.settings,
            self,
            host=self.conf.host,
            lanes=self._lanes,
            only_plan=self._only_plan,
            policies=PolicyChain(policies_of(self._cluster_parts)),
            projection=_projection(),
            admission=PartLockAdmission(self.store),
        )
        relay = Relay(
            self.store,
            self.bus.notification_publisher(),
            settings.payload_settings(self.conf),
            worker.record.uuid,
            self.clock,
            settings.relay_settings(self.conf),
            on_stored=self._broadcast_events_stored,
        )
        worker.add_listener(self._wake_relay)
        reconciler = self._make_reconciler(worker) if ENGINE in self._lanes else None
        credentials = self._make_credential_reconciler(worker)
        worker.start()
        # Only now, because `stop` stops them.
        self.worker, self.relay = worker, relay
        relay.start()
        if reconciler is not None:
            reconciler.start()
            self.reconciler = reconciler
        if credentials is not None:
            credentials.start()
            self.credentials = credentials
        if self.service_notifications is not None:
            self.failure_events.start()
            self.service_notifications.start()
        self.bus.start(
            self._lanes, lambda lane, message: self._handle(message), self._handle
        )

    def sync(self) -> None:
        """Start the clock, and store the installed goals, strategies and scorers.

        `start` calls it in a process that runs audits; a process that only answers
        requests calls it instead of `start`.
        """
        self.clock.start()
        goal_sync.sync(self.store, self.plugins, self.clock)

    def _open_notification_consumer(self) -> 'NotificationConsumer | None':
        """Return the consumer of notifications of the cloud; None without a broker."""
        messaging = settings.service_notification_settings(self.conf)
        if messaging is None:
            return None
        return factory.open_notification_consumer(
            messaging,
            settings.notification_sources(self.conf),
            host=self.conf.host,
            # The data models do not exist yet.
            on_notification=self._on_service_notification,
            on_consuming=lambda: self.data_models.on_notifications_missed(),
            on_lost=lambda: self.data_models.on_notifications_lost(),
        )

    def _on_service_notification(self, notification: ServiceNotification) -> None:
        self.data_models.on_notification(notification)
        self.failure_events.on_notification(notification)

    def _types(self) -> ActionTypes:
        """Return the action types of plugins, audits, stacks and clusters."""
        parts = RunServices(
            self.store,
            ProposalBuilder(
                self.store,
                self.plugins,
                self.plugins,
                models={
                    'clusters': functools.partial(ClusterModel, self.store),
                    'stacks': functools.partial(StackModel, self.store),
                    **self.data_models.factories(),
                },
                find_datasource=self.datasources.find,
            ),
            self,
            self.conf.host,
            self.conf.applier.on_worker_loss,
        )
        run = functools.partial(AuditRun, parts)
        return EngineActionTypes.of(
            self.plugins, run, self._stack_parts, self.stacks, self._cluster_parts
        )

    def _make_reconciler(self, worker: Worker) -> AuditReconciler:
        reconciler = AuditReconciler(
            self.store,
            self.clock,
            self,
            worker.record.uuid,
            settings.reconciler_settings(self.conf),
        )
        # Before the worker starts, so that it receives all events.
        worker.add_listener(reconciler.on_stored)
        return reconciler

    def _make_credential_reconciler(
        self, worker: Worker
    ) -> CredentialReconciler | None:
        """Return the reconciler of an engine with a cloud; else None."""
        if ENGINE not in self._lanes or not self.plugins.clouds.is_configured:
            return None
        reconciler = CredentialReconciler(
            self.store, self.delegations.revoke_unused, self.clock, worker.record.uuid
        )
        worker.add_listener(reconciler.on_stored)
        return reconciler

    def stop(self, drain: float | None = None) -> bool:
        """Drain the worker, and stop and close all parts.

        :param drain: seconds; None: the option `graceful_shutdown_timeout`
        :returns: whether all running actions ended in time
        """
        seconds = self.conf.graceful_shutdown_timeout if drain is None else drain
        ended = True
        if self.worker is not None:
            ended = self.worker.stop(seconds)
        if self.reconciler is not None:
            self.reconciler.stop()
        if self.credentials is not None:
            self.credentials.stop()
        if self.service_notifications is not None:
            self.service_notifications.stop(CLOSING)
            self.failure_events.stop(CLOSING)
        if self.relay is not None:
            self.relay.stop(CLOSING)
        self.bus.close(CLOSING)
        self.clock.stop()
        self.plugins.clouds.close()
        self.store.close()
        return ended

    def reload(self) -> None:
        """Apply the mutable options."""
        lane = self._lanes[0] if self._lanes else APPLIER
        self.settings.update(settings.execution_settings(self.conf, lane))
        if self.worker is not None:
            self.worker.sweeper.start()
        if self.reconciler is not None:
            self.reconciler.reconfigure(settings.reconciler_settings(self.conf))
        if self.relay is not None:
            self.relay.reconfigure(
                settings.payload_settings(self.conf), settings.relay_settings(self.conf)
            )

    def add_listener(self, listener: Callable[[list[Event]], None]) -> None:
        """Add a listener of the events that this process stores; see `Worker`."""
        if self.worker is None:
            raise exceptions.WatcherliteError('This process has no worker.')
        self.worker.add_listener(listener)

    def expire_dead_workers(self) -> int:
        """End the leases of processes of this machine that do not exist any more.

        Their actions are recovered at once, instead of when the leases expire.

        :returns: the number of such leases
        """
        dead = [
            worker
            for worker in self.store.live_workers()
            if lease.is_gone(worker.identity)
        ]
        for worker in dead:
            LOG.info(
                'The process of worker %s no longer exists; ending its lease',
                worker.uuid,
            )
            self.store.end_lease(worker.uuid)
            for role in (Relay.ROLE, ROLE, credential_reconciler.ROLE):
                self.store.release_role(role, worker.uuid)
        return len(dead)

    # hints, see `commands.Messenger`

    def send(self, lane: str, command: commands.Command) -> None:
        """Send a command to one worker of a lane, and first to that of this process."""
        if self.worker is not None and lane in self._lanes:
            self.worker.on_message(command)
        self.bus.send_command(lane, commands.to_message(command))

    def broadcast(self, message: commands.Broadcast) -> None:
        if isinstance(message, commands.EventsStored):
            self._wake_relay([])
        self.bus.broadcast(commands.to_message(message))

    # the process of a worker, see `ports.WorkerProcess`

    def time_out(self, uuid: str) -> None:
        self.plans.time_out(uuid)

    def on_lease_lost(self, worker_id: str) -> None:
        """Call `lost`, or log the loss."""
        if self._lost is not None:
            self._lost()
            return
        LOG.error(
            'The lease of this process is lost; other workers take over its actions'
        )

    def _wake_relay(self, stored: list[Event]) -> None:
        if self.relay is not None:
            self.relay.wake()

    def _broadcast_events_stored(self) -> None:
        self.bus.broadcast(commands.to_message(commands.EventsStored()))

    def _handle(self, message: Mapping[str, Any]) -> Receipt | None:
        parsed = decode_message(message)
        if isinstance(parsed, commands.EventsStored):
            if self.relay is not None:
                self.relay.on_hint()
        elif self.worker is not None:
            return self.worker.on_message(parsed)
        return None


def _projection() -> CompositeProjection:
    """Return the projection of actions on stacks and clusters."""
    return CompositeProjection(StackProjection(), ClusterProjection())


def decode_message(message: Mapping[str, Any]) -> commands.Command | commands.Broadcast:
    """Return the command or broadcast of a message; raise Invalid for a bad one."""
    try:
        return commands.from_message(message)
    except ValueError as error:
        raise exceptions.Invalid(f'Invalid message: {error}') from None


def load_plugins(conf: cfg.ConfigOpts) -> loader.Plugins:
    """Load the installed plugins, and register their options.

    Raises ConfigurationError for an invalid value of such an option, and for an unknown
    option in the files.
    """
    plugins = loader.load(
        options=conf,
        destinations=functools.partial(settings.destinations, conf),
        clouds=Clouds(settings.openstack_settings(conf)),
    )
    problems = [
        *configuration.bad_values(conf, prefix=configuration.PLUGIN_GROUP),
        *configuration.unknown_options(conf),
    ]
    if problems:
        raise exceptions.ConfigurationError('; '.join(problems))
    return plugins


def limit_garbage_collection() -> None:
    """Make this process collect garbage rarely.

    Nearly all objects of a worker are freed by their reference count. With the default
    threshold of 700 objects, the search for others takes a tenth of its CPU time.
    """
    gc.set_threshold(20_000)


def check(conf: cfg.ConfigOpts) -> None:
    """Check the settings and the database before a process starts.

    An unreachable broker is not an error.

    :raises ConfigurationError, StoreUnavailable, SchemaMismatch: see the text
    """
    settings.payload_settings(conf)
    open_bus(conf).close(0)
    service_notifications = settings.service_notification_settings(conf)
    if service_notifications is not None:
        addresses.parse(service_notifications.url, service_notifications.option)
        settings.notification_sources(conf)
    store = open_store(conf)
    try:
        store.check()
    finally:
        # Forked processes must not share its connections.
        store.close()


def open_store(conf: cfg.ConfigOpts) -> database.SqlStore:
    """Return the store; raises StoreUnavailable or SchemaMismatch."""
    if not conf.database.connection:
        configuration.state_directory(conf)
    if conf.secrets.encryption_keys:
        # An invalid key must be reported before anything is encrypted.
        configuration.sealing_keys(conf)
    return database.open_store(settings.database_settings(conf))


def missing_file(conf: cfg.ConfigOpts) -> str | None:
    """Return the path of the SQLite database if the file does not exist, else None.

    Commands that only read must not create the file by opening it.
    """
    kind, _, rest = configuration.database_url(conf).partition(':///')
    path = rest.partition('?')[0]
    if kind.startswith('sqlite') and not pathlib.Path(path).exists():
        return path
    return None


def open_bus(conf: cfg.ConfigOpts) -> Bus:
    """Return the bus, which connects when it is used."""
    options = conf.notifications
    return factory.open_bus(
        settings.messaging_settings(conf),
        host=conf.host,
        notifications=NotificationDestination(
            exchange=options.exchange,
            topics=tuple(options.topics),
            durable_queues=options.amqp_durable_queues,
            quorum_queue=options.rabbit_quorum_queue,
            auto_delete=options.amqp_auto_delete,
        ),
    )


def check_broker(conf: cfg.ConfigOpts, name: str) -> bool:
    """Connect to the broker; return False if the bus has none.

    :param name: the name of the connection at the broker
    :raises BrokerUnavailable, ConfigurationError: see the text
    """
    messaging = settings.messaging_settings(conf)
    if addresses.scheme(messaging.url) == 'memory':
        return False
    # It imports kombu, which other processes do not need.
    from watcherlite.messaging import connection

    with connection.Connector(messaging, name).session():
        return True
