"""The one place that chooses concrete classes and puts them together."""

import functools
import logging
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from oslo_config import cfg

from watcherlite import conf as configuration
from watcherlite import exceptions, settings
from watcherlite.applier.operations import PlanOperations
from watcherlite.applier.progress import PlanProgress
from watcherlite.clock import SystemClock
from watcherlite.db.api import Store
from watcherlite.db.sqlalchemy import store as database
from watcherlite.domain import commands
from watcherlite.domain.actions import APPLIER, ENGINE
from watcherlite.domain.events import Event
from watcherlite.domain.receipts import Receipt
from watcherlite.engine import catalogue
from watcherlite.engine.clusters.keeping_out import KeepingOut
from watcherlite.engine.clusters.model import ClusterModel
from watcherlite.engine.clusters.operations import ClusterOperations
from watcherlite.engine.clusters.parts import Parts as ClusterParts
from watcherlite.engine.clusters.policies import ClusterPolicies
from watcherlite.engine.clusters.progress import ClusterProgress
from watcherlite.engine.clusters.stack_profile import Stacks
from watcherlite.engine.operations import AuditOperations
from watcherlite.engine.proposing import Proposing
from watcherlite.engine.runs import AuditRun, Parts
from watcherlite.engine.stacks.model import StackModel
from watcherlite.engine.stacks.operations import StackOperations
from watcherlite.engine.stacks.parts import Parts as StackParts
from watcherlite.engine.stacks.progress import StackProgress
from watcherlite.engine.stacks.reading import StackReading
from watcherlite.engine.stacks.resolving import Blueprints
from watcherlite.engine.templates import TemplateOperations
from watcherlite.engine.types import EngineTypes
from watcherlite.engine.upkeep import ROLE, Upkeep
from watcherlite.execution import identity
from watcherlite.execution.policy_chain import PolicyChain
from watcherlite.execution.runner import ActionTypes
from watcherlite.execution.subjects import SeveralSubjects
from watcherlite.execution.worker import Worker
from watcherlite.messaging import addresses, factory
from watcherlite.messaging.bus import Bus
from watcherlite.messaging.settings import NotificationDestination
from watcherlite.notifications.relay import Relay
from watcherlite.plugins import loader

LOG = logging.getLogger(__name__)

#: Seconds that the bus and the relay get to end when a process stops.
CLOSING = 5.0


class Runtime:
    """A process of watcherlite: every part of it, put together, started and stopped.

    :ivar plans: the operations on plans
    :ivar audits: the operations on audits
    :ivar templates: the operations on audit templates
    :ivar stacks: the operations on stacks
    :ivar reading: what is shown of stacks
    :ivar clusters: the operations on clusters, nodes and what belongs to them
    :ivar worker: None in a process that executes nothing
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        lanes: Sequence[str] = (),
        *,
        plugins: loader.Plugins | None = None,
        only_plan: str | None = None,
        lost: Callable[[], None] | None = None,
    ) -> None:
        self.conf = conf
        self.clock = SystemClock()
        self.plugins = plugins or load_plugins(conf)
        # It opens nothing yet, so that what is wrong with it leaves nothing open.
        self.bus: Bus = open_bus(conf)
        self.store: Store = open_store(conf)
        self.progress = PlanProgress(self.plugins.may_revert)
        self.plans = PlanOperations(
            self.store,
            self.plugins,
            self.progress,
            self.clock,
            self._tell,
            conf.applier.on_worker_loss,
            _subjects(),
        )
        self.audits = AuditOperations(self.store, self.plugins, self.clock, self._tell)
        self.templates = TemplateOperations(self.store, self.plugins, self.clock)
        self._stack_parts = StackParts(
            self.store,
            self.plugins,
            Blueprints(self.store),
            self._tell,
            settings.stack_limits(conf),
        )
        self.stacks = StackOperations(
            self._stack_parts, self.clock, self.plans.signal_action
        )
        self.reading = StackReading(
            self.store, self.plugins, self._stack_parts.blueprints
        )
        self._cluster_parts = ClusterParts(
            self.store,
            self.plugins,
            self._tell,
            Stacks(self.store, self.stacks, self.reading),
            settings.cluster_limits(conf),
        )
        self.clusters = ClusterOperations(
            self._cluster_parts, self.clock, self.plans.signal_action
        )
        self.settings = settings.execution_settings(
            conf, lanes[0] if lanes else APPLIER
        )
        self.worker: Worker | None = None
        self.relay: Relay | None = None
        self.upkeep: Upkeep | None = None
        self._lost = lost
        self._only_plan = only_plan
        self._lanes = tuple(lanes)

    # life

    def start(self) -> None:
        """Begin to work, and to publish; raises StoreUnavailable."""
        if ENGINE in self._lanes:
            self.sync()
        worker = Worker(
            self.store,
            self._types(),
            self.progress,
            self.clock,
            self.settings,
            host=self.conf.host,
            lanes=self._lanes,
            tell=lambda message: self._tell(None, message),
            lost=self._lost or self._lease_lost,
            only_plan=self._only_plan,
            policies=PolicyChain(ClusterPolicies(self.store, self.plugins).of),
            subjects=_subjects(),
            keep_out=KeepingOut(self.store),
            time_out=self.plans.time_out,
        )
        relay = Relay(
            self.store,
            self.bus.notification_publisher(),
            settings.payload_settings(self.conf),
            worker.me.uuid,
            self.clock,
            settings.relay_settings(self.conf),
            elsewhere=self._tell_of_events,
        )
        worker.add_listener(self._wake_relay)
        upkeep = self._make_upkeep(worker) if ENGINE in self._lanes else None
        worker.start()
        # Not before: what has not begun has nothing to leave behind.
        self.worker, self.relay = worker, relay
        relay.start()
        if upkeep is not None:
            upkeep.start()
            self.upkeep = upkeep
        self.bus.start(
            self._lanes, lambda lane, message: self._hear(message), self._hear
        )

    def sync(self) -> None:
        """Store the goals and strategies that are installed here.

        Called by `start` where audits are run; a process that only answers requests
        calls it before it does.
        """
        catalogue.sync(self.store, self.plugins, self.clock)

    def _types(self) -> ActionTypes:
        """Return the action types of the worker: of plugins, audits and stacks."""
        parts = Parts(
            self.store,
            Proposing(
                self.store,
                self.plugins,
                self.plugins,
                models={
                    'clusters': functools.partial(ClusterModel, self.store),
                    'stacks': functools.partial(StackModel, self.store),
                },
            ),
            self.progress,
            self._tell,
            self.conf.applier.on_worker_loss,
        )
        run = functools.partial(AuditRun, parts)
        return EngineTypes.of(
            *(self.plugins, run, self._stack_parts, self.stacks, self._cluster_parts)
        )

    def _make_upkeep(self, worker: Worker) -> Upkeep:
        upkeep = Upkeep(
            self.store,
            self.clock,
            self._tell,
            worker.me.uuid,
            settings.upkeep_settings(self.conf),
        )
        # Before the worker begins, so that it hears of all that is stored.
        worker.add_listener(upkeep.hear)
        return upkeep

    def stop(self, drain: float | None = None) -> bool:
        """Let what runs finish, and close everything.

        :param drain: seconds; None: the option `graceful_shutdown_timeout`
        :returns: whether all running actions ended in time
        """
        seconds = self.conf.graceful_shutdown_timeout if drain is None else drain
        ended = True
        if self.worker is not None:
            ended = self.worker.stop(seconds)
        if self.upkeep is not None:
            self.upkeep.stop()
        if self.relay is not None:
            self.relay.stop(CLOSING)
        self.bus.close(CLOSING)
        self.store.close()
        return ended

    def reload(self) -> None:
        """Take over the options that may change while the process runs."""
        lane = self._lanes[0] if self._lanes else APPLIER
        self.settings.update(settings.execution_settings(self.conf, lane))
        if self.worker is not None:
            self.worker.begin_sweeping()
        if self.upkeep is not None:
            self.upkeep.reconfigure(settings.upkeep_settings(self.conf))
        if self.relay is not None:
            self.relay.reconfigure(
                settings.payload_settings(self.conf), settings.relay_settings(self.conf)
            )

    def add_listener(self, listener: Callable[[list[Event]], None]) -> None:
        """Have events told that this process stored; see `Committer`."""
        if self.worker is None:
            raise exceptions.WatcherliteError('This process executes nothing.')
        self.worker.add_listener(listener)

    def take_over_from_the_dead(self) -> int:
        """End the leases of processes that ran on this machine and are gone.

        :returns: how many there were; their actions are recovered at once
            instead of when their leases run out
        """
        gone = [
            worker
            for worker in self.store.live_workers()
            if identity.is_gone(worker.identity)
        ]
        for worker in gone:
            LOG.info('The process of worker %s is gone; its lease ends', worker.uuid)
            self.store.end_lease(worker.uuid)
            for role in (Relay.ROLE, ROLE):
                self.store.drop_role(role, worker.uuid)
        return len(gone)

    # hints

    def _tell(
        self, lane: str | None, message: commands.Command | commands.Broadcast
    ) -> None:
        """Pass a hint on, to the worker of this process first."""
        if isinstance(message, commands.EventsStored):
            self._wake_relay([])
        if lane is not None and self.worker is not None and lane in self._lanes:
            self.worker.hear(message)
        wire = commands.to_message(message)
        if lane is not None:
            self.bus.send_command(lane, wire)
        else:
            self.bus.broadcast(wire)

    def _wake_relay(self, stored: list[Event]) -> None:
        if self.relay is not None:
            self.relay.wake()

    def _tell_of_events(self) -> None:
        self.bus.broadcast(commands.to_message(commands.EventsStored()))

    def _hear(self, message: Mapping[str, Any]) -> Receipt | None:
        heard = read_message(message)
        if isinstance(heard, commands.EventsStored):
            if self.relay is not None:
                self.relay.hear()
        elif self.worker is not None:
            return self.worker.hear(heard)
        return None

    def _lease_lost(self) -> None:
        LOG.error('The lease of this process is lost; what it ran goes on elsewhere')


def _subjects() -> SeveralSubjects:
    """Return what follows the actions that are about it."""
    return SeveralSubjects(StackProgress(), ClusterProgress())


def read_message(
    message: Mapping[str, Any],
) -> commands.Command | commands.Broadcast:
    """Return what a message of the bus says; Invalid for one that makes no sense."""
    try:
        return commands.from_message(message)
    except ValueError as error:
        raise exceptions.Invalid(f'A message makes no sense: {error}') from None


def build(
    conf: cfg.ConfigOpts,
    *,
    lanes: Sequence[str] = (APPLIER,),
    plugins: loader.Plugins | None = None,
    only_plan: str | None = None,
    lost: Callable[[], None] | None = None,
) -> Runtime:
    """Return the parts of a process, put together and not started.

    :param plugins: from `load_plugins`, if they are loaded already
    :param only_plan: uuid of the one plan to work on; None: on all
    :param lost: called when the lease is lost
    :raises ConfigurationError, StoreUnavailable, SchemaMismatch: see the text
    """
    return Runtime(conf, lanes, plugins=plugins, only_plan=only_plan, lost=lost)


def load_plugins(conf: cfg.ConfigOpts) -> loader.Plugins:
    """Return the plugins that are installed; their options are registered.

    Raises ConfigurationError for a value of one of these that cannot work, and
    for an option in the files that nobody knows.
    """
    plugins = loader.load(options=conf)
    problems = [*configuration.bad_values(conf), *configuration.unknown_options(conf)]
    if problems:
        raise exceptions.ConfigurationError('; '.join(problems))
    return plugins


def check(conf: cfg.ConfigOpts) -> None:
    """Raise what would keep a process from working.

    That a broker cannot be reached would not.

    :raises ConfigurationError, StoreUnavailable, SchemaMismatch: see the text
    """
    settings.payload_settings(conf)
    open_bus(conf).close(0)
    store = open_store(conf)
    try:
        store.check()
    finally:
        # Connections must not be shared with the processes that are forked next.
        store.close()


def open_store(conf: cfg.ConfigOpts) -> Store:
    """Return the store; raises StoreUnavailable or SchemaMismatch."""
    return open_sql_store(conf)


def open_sql_store(conf: cfg.ConfigOpts) -> database.SqlStore:
    """Return the same, with what is done to a database and not to a store."""
    if not conf.database.connection:
        configuration.state_directory(conf)
    if conf.secrets.encryption_keys:
        # One that is none is told of before there is anything to seal.
        configuration.sealing_keys(conf)
    return database.open_store(settings.database_settings(conf))


def missing_file(conf: cfg.ConfigOpts) -> str | None:
    """Return the path of the database if that is an SQLite file nobody has made yet.

    Whoever opens it makes it; looking at it must not.
    """
    kind, _, rest = configuration.database_url(conf).partition(':///')
    path = rest.partition('?')[0]
    if kind.startswith('sqlite') and not pathlib.Path(path).exists():
        return path
    return None


def open_bus(conf: cfg.ConfigOpts) -> Bus:
    """Return the bus, which connects when it has to."""
    told = conf.notifications
    return factory.open_bus(
        settings.messaging_settings(conf),
        host=conf.host,
        notifications=NotificationDestination(
            exchange=told.exchange,
            topics=tuple(told.topics),
            durable_queues=told.amqp_durable_queues,
            quorum_queue=told.rabbit_quorum_queue,
            auto_delete=told.amqp_auto_delete,
        ),
    )


def ask_broker(conf: cfg.ConfigOpts, name: str) -> bool:
    """Ask the broker whether it answers; False if messages need none.

    :param name: of who asks, for the broker
    :raises BrokerUnavailable, ConfigurationError: see the text
    """
    messaging = settings.messaging_settings(conf)
    if addresses.scheme(messaging.url) == 'memory':
        return False
    # Loads kombu, which a process that never asks does without
    from watcherlite.messaging import connection

    with connection.Connector(messaging, name).opened():
        return True
