"""The complete interface between watcherlite and its plugins.

A plugin is a class registered as an entry point. Methods are listed in the order in
which they are called; every default is harmless, and overriding a method declares a
capability. A plugin receives a context and nothing else: no store, no bus, no global
configuration.
"""

import datetime
from collections.abc import Callable, Collection, Coroutine, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar

from watcherlite.destinations import Destinations
from watcherlite.domain import resource_results
from watcherlite.domain.clusters import Cluster, Node, Profile
from watcherlite.domain.creators import Creator
from watcherlite.domain.documents.plan_document import PlanDocument
from watcherlite.domain.outcomes import Outcome, Retry, TimedOut
from watcherlite.domain.resource_results import (
    Batch,
    Expansion,
    Member,
    Operation,
    PassOn,
    Property,
    Ready,
    Result,
)
from watcherlite.domain.service_notifications import (
    ResourceFailure,
    ServiceNotification,
)
from watcherlite.domain.solutions import Indicator, IndicatorSpecification, Solution

if TYPE_CHECKING:
    from openstack.connection import Connection
    from oslo_config import cfg

ACTION_TYPES = 'watcherlite.action_types'
RESOURCE_HANDLERS = 'watcherlite.resource_handlers'
POLICIES = 'watcherlite.policies'
LOAD_BALANCERS = 'watcherlite.load_balancers'
GOALS = 'watcherlite.goals'
STRATEGIES = 'watcherlite.strategies'
PLANNERS = 'watcherlite.planners'
DATA_MODELS = 'watcherlite.data_models'
DATASOURCES = 'watcherlite.datasources'
SCORING_ENGINES = 'watcherlite.scoring_engines'
SCORING_ENGINE_CONTAINERS = 'watcherlite.scoring_engine_containers'
NAMESPACES = (
    ACTION_TYPES,
    RESOURCE_HANDLERS,
    POLICIES,
    LOAD_BALANCERS,
    GOALS,
    STRATEGIES,
    PLANNERS,
    DATA_MODELS,
    DATASOURCES,
    SCORING_ENGINES,
    SCORING_ENGINE_CONTAINERS,
)
Kept = TypeVar('Kept')
#: Action types of watcherlite itself, reserved for it and not allowed in plans.
RESERVED = ('audit', 'stack', 'resource', 'resource_hook', 'cluster_health')


class DerivedResult(Protocol):
    """The result of one derived action, passed to `complete`."""

    @property
    def key(self) -> str: ...

    @property
    def status(self) -> str: ...

    @property
    def status_message(self) -> str | None: ...

    @property
    def outputs(self) -> Mapping[str, Any] | None: ...


class RunningAction(Protocol):
    """The common part of the contexts of an action; none of it waits.

    :cvar uuid: of the action; also the idempotency key for services, so that an effect
        requested twice is applied once
    :cvar attempt: grows with each owner; the fencing token for services, so that a
        worker that lost the action can no longer act for it
    :cvar within: the container of its target: the uuid of a node's cluster
    :cvar tenant: the project that it belongs to, if any
    :cvar cause: `RPC Request` or `Derived Action`
    :cvar inputs: as validated against the type's schema
    :cvar data: the decisions of policies
    :cvar outputs: of an earlier phase: the result of `execute` for `post_condition`;
        the result of the original run for `revert`
    :cvar deadline: the time of the timeout, aware, UTC
    :cvar creator: of the plan of the action; decides whether it may act on the objects
        of a project (`may_act_on`). Without authority outside of plans
    """

    uuid: str
    name: str | None
    plan_uuid: str | None
    target: str | None
    within: str | None
    tenant: str | None
    cause: str
    attempt: int
    inputs: Mapping[str, Any]
    data: Mapping[str, Any]
    outputs: Mapping[str, Any] | None
    deadline: datetime.datetime | None

    @property
    def creator(self) -> Creator:
        """Return the creator of the plan of the action."""

    @property
    def authority(self) -> str | None:
        """Return the authority of the user who requested the action.

        For `Clouds.connection_for`. None for actions of plans: they have the authority
        of this service.
        """

    def fence(self) -> None:
        """Raise LeaseLost if the lease of this worker has expired.

        Call it immediately before an effect. A process that was suspended must not act
        for an action that another worker may have taken over. `checkpoint` does it as
        well.
        """

    def log(self, text: str, stream: str = 'log') -> None:
        """Append one or more lines to the log of the action, which users can follow.

        It is stored soon, without blocking: credentials masked, and up to the limit
        `max_action_log`.

        :param stream: `stdout` and `stderr` for the output of a process; else `log`
        """

    def remaining(self) -> float | None:
        """Return the seconds left until the deadline, or None."""

    def now(self) -> datetime.datetime:
        """Return the wall-clock time, aware, in UTC; tests can set it."""


class ActionContext(RunningAction, Protocol):
    """The interface of a running action to watcherlite, for functions."""

    def checkpoint(self) -> None:
        """Handle signals: raises Cancelled or TimedOut, waits while suspended.

        Call it wherever the action can be interrupted safely. An action that never
        calls it can only be failed from outside after its timeout.
        """

    def save_token(self, token: Any) -> None:
        """Store the intent of `execute` for observers of the action.

        It does not change the handling of a lost worker.
        """

    def sleep(self, seconds: float) -> None:
        """Sleep, but wake for signals; a checkpoint before and after."""

    def on_signal(self, call: Callable[[str], None]) -> AbstractContextManager[None]:
        """Call `call(signal)` for arriving signals inside a `with` block.

        For blocking work that cannot call `checkpoint`: `call` interrupts it, and the
        action then calls `checkpoint`. It is called by another thread, immediately for
        a pending signal, with CANCEL, SUSPEND, RESUME or TIMEOUT; it must neither block
        nor raise. An expired deadline is not always reported: limit blocking work by
        `remaining` as well.
        """


class CoroutineContext(RunningAction, Protocol):
    """The interface of a running action to watcherlite, for coroutines.

    A CANCEL and the timeout cancel the task of the coroutine: its current `await`
    raises `asyncio.CancelledError`. Clean up in `finally`, and let it through; protect
    what must not be interrupted with `asyncio.shield`.
    """

    async def checkpoint(self) -> None:
        """Handle signals: raises Cancelled or TimedOut, waits while suspended.

        Call it wherever the action can be suspended safely.
        """

    async def save_token(self, token: Any) -> None:
        """See `ActionContext.save_token`."""

    async def sleep(self, seconds: float) -> None:
        """Sleep, but wake for signals; a checkpoint before and after."""

    def keep(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return an object that all coroutines of the worker share, by its key.

        The first call makes it, for example the client of a service with its
        connections. Its method `close`, which may be a coroutine, is called when the
        worker stops.
        """

    def service(self, name: str) -> AbstractAsyncContextManager[None]:
        """Hold one of the `max_per_service` slots of a service in an `async with`.

        All coroutines of the worker share them, and functions of blocking plugins with
        this `service`. Call it around each request, not around pauses.

        :param name: host and port, or the name in a catalog: `compute`
        """


HookResult = TypeVar('HookResult')
#: The result of a hook: of a function, or of a coroutine (`async def`).
Awaited: TypeAlias = HookResult | Coroutine[Any, Any, HookResult]
#: The context of a hook: an ActionContext for a function, a CoroutineContext for a
#: coroutine. Hooks declare the one that they receive.
HookContext = Any
#: The result of an action: an outcome, or one of the forms of other projects.
Returned = Outcome | bool | tuple[str, str]


class Connecting:
    """A plugin that connects to servers named by users, subject to `[outgoing_http]`.

    :ivar destinations: the allowed destinations; plugins that open connections
        themselves call `check_host` and `check_address`
    """

    #: Set by the loader; the default allows nothing local.
    read_destinations: Callable[[], Destinations] = Destinations

    @property
    def destinations(self) -> Destinations:
        """Return the current rules: a reload changes them."""
        return self.read_destinations()


class Clouds(Protocol):
    """The connections to OpenStack, configured by `[openstack]`.

    See `watcherlite.plugins.openstack.connections`. A connection of openstacksdk is
    returned without I/O, is reused, and may be used by several threads.
    """

    @property
    def is_configured(self) -> bool:
        """Return whether there is a cloud."""

    def service_connection(self, region: str | None = None) -> 'Connection':
        """Return a connection with the authority of this service, for plans."""

    def connection_for(
        self, credential: str | None, region: str | None = None
    ) -> 'Connection':
        """Return a connection with the authority of a user.

        :param credential: `ResourceContext.credential`, or `ActionContext.authority`
        :raises Forbidden: there is no such authority
        """

    def remote_connection(
        self, credential: str | None, cloud_secret: str, region: str | None = None
    ) -> 'Connection':
        """Return a connection to another cloud; the first one reads its credential.

        :param cloud_secret: `ResourceContext.cloud_secret`
        :raises Forbidden: it has no usable credential
        """

    def keep(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return an object that all plugins of the process share, by its key.

        The first call makes it; it is thread-safe, and does no I/O before it is used.
        """


class CloudClient:
    """A plugin that uses OpenStack; a base class beside that of its kind.

    Calls are made within `watcherlite.plugins.openstack.errors.translated`, which turns
    the exceptions of openstacksdk into those of watcherlite, and in steps called by
    `watcherlite.plugins.openstack.delays.attempt`, which delays the action while a
    service is not available. openstacksdk is not imported at the start of a daemon.

    :ivar clouds: set by the loader
    """

    clouds: Clouds


class ActionType(Connecting):
    """The implementation of one type of action.

    One instance serves one phase of one action; state needed across phases goes into
    outputs or tokens, not attributes.

    The hooks with a context are functions, which run in threads of the worker, or
    coroutines (`async def`), which one event loop per worker runs by the thousand and
    which receive a `CoroutineContext`. Write what waits for services as coroutines; a
    coroutine must not block. The other methods are always functions, and do no I/O.

    Declare how to recover from the loss of the worker:

    * `idempotent = True`: executing the action again with the same uuid is harmless.
    * override `is_applied`: the action can check whether its effect exists.
    * neither: it is never executed twice. If its worker is lost it is FAILED with an
      unknown outcome.
    """

    #: JSON schema of the inputs. `$ref` may only point into the schema itself.
    schema: ClassVar[Mapping[str, Any]] = {'type': 'object'}
    #: One sentence for operators.
    description: ClassVar[str] = ''
    #: See the docstring of the class.
    idempotent: ClassVar[bool] = False
    #: Whether its functions mainly wait for a service, through a library that blocks.
    #: They run in a wide pool of threads, and do not count for `max_parallel`.
    blocking: ClassVar[bool] = False
    #: The service that its functions call, for example `compute`; `max_per_service`
    #: limits the calls of all blocking plugins to it. None: it is not limited.
    service: ClassVar[str | None] = None

    def __init__(self, options: 'cfg.ConfigOpts | Any' = None) -> None:
        """Store `options`: the group `<namespace>.<name>` of the ini file."""
        self.options = options

    @classmethod
    def get_config_opts(cls) -> Sequence['cfg.Opt']:
        """Return the options of this type, for its group and the sample."""
        return ()

    def validate(self, inputs: Mapping[str, Any]) -> None:
        """Validate what the schema cannot express; raise InvalidInput.

        Called when a plan is created and again before the action runs.
        """

    def is_idempotent(self, inputs: Mapping[str, Any]) -> bool:
        """Return whether executing the action again with these inputs is harmless.

        Override it if this depends on the inputs; the default is `idempotent`. Called
        after the loss of the worker that had started the action. It must not do I/O.
        """
        return self.idempotent

    def is_checkable(self, inputs: Mapping[str, Any]) -> bool:
        """Return whether `is_applied` works for these inputs.

        By default: whether `is_applied` is overridden. Called after `is_idempotent`
        returned False; it must not do I/O either.
        """
        return self.supports('is_applied')

    def is_applied(self, context: HookContext) -> Awaited[bool]:
        """Return whether the effect already exists.

        Called only if `is_checkable`, and only after the loss of the worker that had
        started the action: True ends the action as SUCCEEDED, False executes it again.
        """
        return False

    def waits_outside(self, inputs: Mapping[str, Any], token: Any) -> bool:
        """Return whether the next step mainly waits for external responses.

        Such a step runs in the wide pool, shared fairly by clusters and projects, and
        delays nothing else: a check, a poll, a call of a hook. Override it if only some
        steps wait; the default is `blocking`.

        :param token: with which it is polled; None: it is executed
        """
        return self.blocking

    def has_pre_condition(self, inputs: Mapping[str, Any]) -> bool:
        """Return whether `pre_condition` has anything to check for these inputs.

        By default: whether `pre_condition` is overridden. Override it if most actions
        need no check, for which a thread or the event loop would be left. It must not
        do I/O.
        """
        return self.supports('pre_condition')

    def pre_condition(self, context: HookContext) -> Awaited[Outcome | None]:
        """Check whether the action applies, without changing anything.

        Called before the action counts as started; it may be called again, by another
        worker or for the next attempt. Raise ActionSkipException (or return Skipped) if
        it does not apply, anything else to fail it. An action that has started before
        is never SKIPPED: it continues with `post_condition` and SUCCEEDED, or is FAILED
        if `is_applied` has just returned False.
        """
        return None

    def execute(self, context: HookContext) -> Awaited[Returned]:
        """Execute the action. Called once RUNNING is durable.

        Return an outcome of `watcherlite.domain.outcomes`, or True, or Senlin's (RES,
        REASON). Raise to fail.
        """
        raise NotImplementedError

    def poll(self, context: HookContext, token: Any) -> Awaited[Returned]:
        """Check the progress of the work for which `execute` returned InProgress.

        Called after the delay, perhaps by another worker than the one that executed it;
        earlier after a RESUME, and by the worker that takes over from a lost one.
        Return InProgress again to be polled later.
        """
        raise NotImplementedError

    def complete(
        self, context: HookContext, results: Sequence[DerivedResult]
    ) -> Awaited[Returned | None]:
        """Return the outcome after all derived actions have ended.

        None, the default, means: Done if none of them FAILED or was CANCELLED.
        """
        return None

    def overdue(
        self, context: HookContext, results: Sequence[DerivedResult]
    ) -> Awaited[Returned]:
        """Return the outcome of an action that timed out before all derived actions had
        ended.

        Called in place of `complete` once they have ended: running ones are cancelled.
        By default the action is FAILED. An action that derives further actions for a
        rollback sets their timeout (`Derived.timeout`).
        """
        return TimedOut()

    def cancel(self, context: HookContext, token: Any) -> Awaited[None]:
        """Stop the external work identified by `token`.

        Called when an action that is InProgress is cancelled or times out; the action
        ends in any case, and exceptions are only logged.
        """

    def post_condition(self, context: HookContext) -> Awaited[None]:
        """Verify the effect; raise to fail the action.

        Called after execute, poll or complete has finished, unless cancelled.
        """

    def revert(self, context: HookContext) -> Awaited[Returned]:
        """Undo the effect of `execute`; `context.outputs` is its result.

        Called, if overridden, for the SUCCEEDED actions of a plan that is rolled back,
        dependents first.
        """
        raise NotImplementedError

    @classmethod
    def supports(cls, hook: str) -> bool:
        """Return whether this type overrides a hook of this class."""
        return getattr(cls, hook) is not getattr(ActionType, hook)


class Plugin:
    """The common part of the plugins of audits: their options.

    One instance serves one call.
    """

    #: One sentence for operators.
    description: str = ''

    def __init__(self, options: 'cfg.ConfigOpts | Any' = None) -> None:
        """Store `options`: the group `<namespace>.<name>` of the ini file."""
        self.options = options

    @classmethod
    def get_config_opts(cls) -> Sequence['cfg.Opt']:
        """Return the options of this plugin, for its group and the sample."""
        return ()


class PolicyContext(Protocol):
    """The interface of a policy to the action that it is evaluated for.

    :cvar name: of the policy, given by users
    :cvar policy_uuid: of the policy
    :cvar action_type: CLUSTER_SCALE_IN, ...
    :cvar inputs: of the action
    :cvar cluster: the cluster; its nodes are in `nodes`, ordered by index
    :cvar node: the target of an action on a node; else None. In `post_op` of a
        successful action it is in the state in which the action leaves it
    :cvar properties: of the policy, with the defaults of its schema
    :cvar binding_data: the data stored with the binding to this cluster
    :cvar last_op: when it last took effect on this cluster
    :cvar result: of the action, in `post_op`: OK or ERROR; else None
    :cvar load_balancers: the names of the drivers of load balancers, in the order of
        preference
    :cvar credential: the authority of the user, for `Clouds.connection_for`
    """

    name: str
    policy_uuid: str
    action_uuid: str
    action_type: str
    inputs: Mapping[str, Any]
    cluster: Cluster
    nodes: Sequence[Node]
    node: Node | None
    properties: Mapping[str, Any]
    binding_data: Mapping[str, Any]
    last_op: datetime.datetime | None
    result: str | None
    load_balancers: Sequence[str]
    credential: str | None

    def now(self) -> datetime.datetime:
        """Return the wall-clock time, aware, in UTC; tests can set it."""

    def profile(self, node: Node | None = None) -> Mapping[str, Any]:
        """Return the spec of the profile of a node, or of the cluster."""

    def profiles(self) -> Mapping[int, Profile]:
        """Return the profiles of the cluster and its nodes, by id."""

    def operations(self) -> Collection[str]:
        """Return the operations that nodes of the cluster support: reboot, ..."""

    def supports(self, hook: str) -> bool:
        """Return whether the type of its nodes overrides a hook of ResourceHandler."""

    def refresh(self) -> Sequence[Node]:
        """Reread `nodes`, and return them.

        Actions on other nodes of the cluster may run at the same time.
        """

    def driver(self, name: str) -> 'LoadBalancer':
        """Return a load balancer's driver; raises PluginNotFound."""

    def mark_applied(self) -> None:
        """Set `last_op` to now; durable when this returns."""

    def save(
        self,
        binding_data: Mapping[str, Any] | None = None,
        cluster_data: Mapping[str, Any] | None = None,
        node_data: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Store data in addition to `data`; durable when this returns.

        A policy that is evaluated again after the loss of a worker repeats the call.

        :param binding_data: replaces the data of the binding
        :param cluster_data: merged into the data of the cluster; None removes a key
        :param node_data: uuid of a node -> merged into its data likewise
        """


class Policy(Plugin):
    """A policy evaluated before and after actions on a cluster, or on a node of it.

    The name of its entry point is its type as clients write it, with the version:
    `senlin.policy.scaling-1.0`. Decisions are made through `data` alone: the changes of
    a policy are stored before the next one is evaluated (spec 001). One instance serves
    one call.

    `attach`, `detach`, `pre_op` and `post_op` may return a `Retry`: they are called
    again after its delay, with all policies before them, and occupy no thread until
    then. The timeout of the action limits this.
    """

    #: Policies are evaluated in ascending order.
    priority: ClassVar[int] = 100
    #: Whether its methods mainly wait for a service; see `ActionType.blocking`.
    blocking: ClassVar[bool] = False
    #: The service that they call; see `ActionType.service`.
    service: ClassVar[str | None] = None
    #: Whether a cluster may have only one policy of this type.
    singleton: ClassVar[bool] = True
    #: Supported types of profiles; () is any.
    profile_types: ClassVar[Sequence[str]] = ()
    #: Action types before which `pre_op` is called.
    before: ClassVar[frozenset[str]] = frozenset()
    #: Action types after which `post_op` is called.
    after: ClassVar[frozenset[str]] = frozenset()
    #: JSON schema of the properties; the values of `default` are filled in.
    schema: ClassVar[Mapping[str, Any]] = {'type': 'object', 'properties': {}}
    #: (version, status, since) in order, as shown by `policy type show`.
    support_status: ClassVar[Sequence[Mapping[str, str]]] = ()

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Validate what the schema cannot express; raise Invalid."""

    def attach(self, context: PolicyContext) -> Mapping[str, Any] | Retry | None:
        """Prepare for a cluster; return the data to store with the binding.

        Raise to refuse; the text is the reason that users read. After a Retry, `detach`
        is called if the action ends before `attach` has succeeded.
        """
        return None

    def detach(self, context: PolicyContext) -> Retry | None:
        """Release a cluster; raise to refuse."""
        return None

    def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> Retry | None:
        """Decide before the action runs; raise to fail the action."""
        return None

    def post_op(self, context: PolicyContext, data: dict[str, Any]) -> Retry | None:
        """React after the action ran, successfully or not; raise to fail the action.

        Called with ERROR as well if the action ends before its start, after `pre_op` of
        this policy has returned: it was cancelled meanwhile, its pre_condition skipped
        or failed it, or another policy refused it.
        """
        return None


class LoadBalancer:
    """The driver of a load balancer, called by the load-balancing policy.

    Calls may be repeated after the loss of a worker: each passes the desired state.
    `apply` and `remove` may return a `Retry` while the load balancer is being changed:
    they are called again later, and no thread is occupied until then. A change that
    takes longer than the `lb_status_timeout` of the policy fails. ServiceUnavailable,
    which any method may raise, delays the action as well, and is not limited by it.

    :ivar credential: the authority of the user of the cluster, for
        `Clouds.connection_for`; None: there is none
    :ivar properties: of the policy, with the defaults of its schema
    :ivar fence: called immediately before an effect, see `RunningAction.fence`
    """

    credential: str | None = None
    properties: Mapping[str, Any] = {}
    fence: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, options: 'cfg.ConfigOpts | Any' = None) -> None:
        """Store `options`: the group `<namespace>.<name>` of the ini file."""
        self.options = options

    @classmethod
    def get_config_opts(cls) -> Sequence['cfg.Opt']:
        """Return the options of this driver, for its group and the sample."""
        return ()

    def is_usable(self) -> bool:
        """Return whether this driver can serve the cluster.

        If the policy names no driver, the first usable one serves it.
        """
        return True

    def apply(
        self,
        name: str,
        properties: Mapping[str, Any],
        members: Sequence[Mapping[str, Any]],
    ) -> Mapping[str, Any] | Retry:
        """Configure the load balancer of this name with exactly these members.

        :param name: of the load balancer, derived from the uuids of cluster and policy
        :param properties: of the policy
        :param members: each {'id': uuid of the node, 'name', 'address', 'port',
            'addresses': all of the node: [{'network', 'address'}]}
        :returns: the data to show in the cluster: {'vip_address': ...}; the ids in it,
            `loadbalancer`, `listener`, `pool` and `healthmonitor`, and `preexisting`
            are shown with the binding
        """
        raise NotImplementedError

    def remove(self, name: str) -> Retry | None:
        """Delete the load balancer; succeed if it does not exist."""
        raise NotImplementedError


class RunningResource(Protocol):
    """The common part of the contexts of a resource handler; none of it waits.

    :cvar uuid: of the action; the idempotency key of this operation
    :cvar attempt: the fencing token
    :cvar tenant: the project of the stack
    :cvar credential: the authority of its user, for `Clouds.connection_for`; None:
        there is none
    :cvar region: of the cloud, for the same; None: that of the configuration
    :cvar cloud_secret: of another cloud, for `Clouds.remote_connection`; None: the
        resource is in the cloud of the configuration
    :cvar resource_uuid: constant; a replacement has the same name and another uuid
    :cvar physical_name: a unique name: stack, resource, and a short id
    :cvar physical_id: as returned by the handler; None before
    :cvar properties: resolved, checked against `ResourceHandler.properties`, with
        defaults; for `delete`, `check` and the like the last applied ones
    :cvar before: for `update`: the last applied properties
    :cvar attributes: as last returned
    :cvar data: private data of the handler
    :cvar files: submitted with the template of the stack, name -> text
    :cvar dependencies: for `create`, `update` and their polls: the attributes of the
        resources of the stack that it depends on, by their values of get_resource, and
        those of its `software_configs`
    :cvar is_fenced: for `delete`: its state is unknown and it may still run,
        and must not come back; it is deleted by force if the service can do that
    :cvar deadline: the time of the timeout, aware, UTC
    """

    uuid: str
    attempt: int
    tenant: str
    credential: str | None
    region: str | None
    cloud_secret: str | None
    stack_name: str
    stack_uuid: str
    resource_name: str
    resource_uuid: str
    physical_name: str
    physical_id: str | None
    properties: Mapping[str, Any]
    before: Mapping[str, Any]
    attributes: Mapping[str, Any]
    metadata: Mapping[str, Any]
    data: Mapping[str, Any]
    files: Mapping[str, str]
    dependencies: Mapping[str, Mapping[str, Any]]
    is_fenced: bool
    deadline: datetime.datetime | None

    def fence(self) -> None:
        """Raise LeaseLost if the lease has expired; see `RunningAction`."""

    def remaining(self) -> float | None:
        """Return the seconds left until the deadline, or None."""

    def now(self) -> datetime.datetime:
        """Return the wall-clock time, aware, in UTC; tests can set it."""


class ResourceContext(RunningResource, Protocol):
    """The interface of a resource handler to watcherlite, for functions.

    See also `ActionContext`.
    """

    def checkpoint(self) -> None:
        """Handle signals: raises Cancelled or TimedOut. Call it often."""

    def on_signal(self, call: Callable[[str], None]) -> AbstractContextManager[None]:
        """See `ActionContext.on_signal`."""


class ResourceCoroutineContext(RunningResource, Protocol):
    """The interface of a resource handler to watcherlite, for coroutines.

    See also `CoroutineContext`.
    """

    async def checkpoint(self) -> None:
        """Handle signals: raises Cancelled or TimedOut."""

    def keep(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """See `CoroutineContext.keep`."""

    def service(self, name: str) -> AbstractAsyncContextManager[None]:
        """See `CoroutineContext.service`."""


def unsupported_check(context: RunningResource) -> Ready:
    """Return the result of a check that a type, or a resource of it, does not have."""
    return Ready(reason=f'CHECK is not supported by {context.resource_name}')


class ResourceHandler(Connecting, Plugin):
    """The implementation of one type of resource, for stacks and cluster nodes.

    The name of its entry point is the type: `OS::Heat::Value`. One instance serves one
    call. An operation returns a `domain.resource_results.Result`: None or Ready when it
    is complete, ResourceInProgress to be polled. It raises to fail: a WatcherliteError
    or a subclass, whose text is shown to users and logged. Any other exception counts
    as a defect: users see its class, and the log has its traceback.

    The methods from `create` to `cancel` are functions, or coroutines (`async def`)
    with a `ResourceCoroutineContext`; see `ActionType`. The others are always
    functions, and do no I/O.

    An operation whose worker was lost is repeated if it is `idempotent`; otherwise
    `find` is called for a `create`, if it is overridden; else the resource is FAILED
    with an unknown outcome, and the next update replaces it.
    """

    properties: ClassVar[Mapping[str, Property]] = {}
    #: Undeclared properties are accepted, and changes of them ignored.
    allows_undeclared: ClassVar[bool] = False
    #: attribute -> one sentence
    attributes: ClassVar[Mapping[str, str]] = {}
    #: Attributes that are never stored: `read_attribute` reads them whenever a template
    #: or a request refers to them.
    live_attributes: ClassVar[Mapping[str, str]] = {}
    #: Whether each operation may be called again with the same `uuid`.
    idempotent: ClassVar[bool] = False
    #: Whether its operations mainly wait for a service; see `ActionType.blocking`.
    blocking: ClassVar[bool] = False
    #: The service that its operations call; see `ActionType.service`.
    service: ClassVar[str | None] = None
    #: Whether a FAILED resource is replaced by the next update.
    replaces_failed: ClassVar[bool] = True
    #: Additional operations on an existing resource: `reboot`, `rebuild`, ... They are
    #: the operations of the profile type, see `operate`.
    operations: ClassVar[Mapping[str, Operation]] = {}
    #: The name of the profile type; None: that of the entry point, in lower case and
    #: with dots: `local.process`.
    profile_type: ClassVar[str | None] = None
    #: Whether templates may contain it; False: it is only a type of profile, in place
    #: of another type of that name.
    in_templates: ClassVar[bool] = True
    #: Whether a node can be adopted by its physical id alone.
    adoptable: ClassVar[bool] = True
    #: Event types of notifications of services that may report the failure of such a
    #: resource, for `failure_in`.
    failure_events: ClassVar[Collection[str]] = ()
    #: Whether a signal changes the resource, so that a lock of the stack forbids it.
    modified_by_signals: ClassVar[bool] = True

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Validate what the schemas cannot express; raise Invalid.

        Properties that depend on resources not yet created are None.
        """

    def verify(
        self,
        connect: Callable[[str | None], 'Connection'],
        properties: Mapping[str, Any],
    ) -> None:
        """Check that the objects to which properties refer exist; raise Invalid.

        Called when a user requests the validation of a profile, in a process of the
        API. Other exceptions mean that it is not known.

        :param connect: returns a connection with the authority of the user, for a
            region or that of the configuration
        """

    def read_properties(
        self,
        connect: Callable[[str | None], 'Connection'],
        physical_id: str,
        given: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        """Return the properties of an existing object, which a user adopts as a node.

        Raise NotFound if it does not exist. Called in a process of the API.

        :param connect: see `verify`
        :param given: the properties that the user sets, which take precedence
        """
        return {}

    def host(self, physical_id: str | None, data: Mapping[str, Any]) -> str | None:
        """Return the host of the resource; None: every worker can reach it.

        Operations on it are forwarded to a worker of that host, if there is one.
        """
        return None

    def software_configs(self, properties: Mapping[str, Any]) -> Collection[str]:
        """Return the values of properties that may be ids of software configs.

        The attributes `config` and `show` of such configs are among the `dependencies`,
        whether they belong to the API or to any stack of the project.
        """
        return ()

    def attribute_names(self, properties: Mapping[str, Any]) -> Collection[str] | None:
        """Return the attributes of a resource with these properties; None: any.

        Templates that refer to other attributes are refused.
        """
        return {**self.attributes, **self.live_attributes}

    def read_attribute(self, context: ResourceContext, name: str) -> Any:
        """Return the present value of a live attribute (JSON).

        The API calls it as well: it changes nothing, and returns within seconds.

        :raises WatcherliteError: it cannot be read, which is the error of the output
        """
        raise NotImplementedError

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        """Return KEEP, UPDATE or REPLACE for a change of the definition.

        :param failed: the resource is FAILED, or marked as unhealthy
        :raises Invalid: the change is not possible
        """
        return resource_results.decide(self, before, after, failed)

    def create(self, context: HookContext) -> Awaited[Result]:
        """Create the resource."""
        raise NotImplementedError

    def find(self, context: HookContext) -> Awaited[Result]:
        """Return the resource created by an interrupted `create`; None: none exists."""
        return None

    def adopt(self, context: HookContext) -> Awaited[Result]:
        """Adopt an existing resource that an abandoned stack had managed.

        `physical_id` and `data` have the values they had then.
        """
        return self.check(context)

    def check(self, context: HookContext) -> Awaited[Result]:
        """Check that the resource exists in the expected state; raise if not."""
        return unsupported_check(context)

    def check_health(self, context: HookContext) -> Awaited[Result]:
        """Check that the resource works; raise if not.

        Called instead of `check` for the nodes of clusters. Override it if a resource
        may exist as expected and still not work: a server that is switched off.
        """
        return unsupported_check(context)

    def check_host(self, context: HookContext) -> Awaited[Result]:
        """Check that the host of the resource works; raise if not.

        Called for the detection mode HYPERVISOR_STATUS_POLLING of health policies,
        which other types refuse.
        """
        return unsupported_check(context)

    @classmethod
    def failure_in(cls, notification: ServiceNotification) -> ResourceFailure | None:
        """Return the failure that a notification reports; None: it reports none.

        Called with notifications of `failure_events`, whose contents are not validated,
        in the thread that receives them: it does no I/O.
        """
        return None

    def check_external(self, context: HookContext) -> Awaited[Result]:
        """Check that the object named by the `external_id` of a template exists.

        It belongs to no stack: only its `physical_id` is known, and `properties` are
        those given in the template, without defaults.
        """
        return self.check(context)

    def update(self, context: HookContext) -> Awaited[Result]:
        """Apply `properties`; `before` has the last applied ones."""
        raise NotImplementedError

    def delete(self, context: HookContext) -> Awaited[Result]:
        """Delete the resource; succeed if it does not exist.

        Its `physical_id` is None if its creation failed before one was returned: the
        properties and `physical_name` identify leftovers.
        """
        raise NotImplementedError

    def suspend(self, context: HookContext) -> Awaited[Result]:
        """Suspend the resource."""
        return None

    def resume(self, context: HookContext) -> Awaited[Result]:
        """Resume the resource."""
        return None

    def on_cluster_joined(self, context: HookContext) -> Awaited[Result]:
        """React to the new cluster of a node, which is `context.stack_uuid`.

        It may be repeated; a missing resource is no failure.
        """
        return None

    def on_cluster_left(self, context: HookContext) -> Awaited[Result]:
        """React to the end of the membership of a node; see `on_cluster_joined`."""
        return None

    def lock(self, context: HookContext) -> Awaited[Result]:
        """Protect the resource against changes by others (spec 004)."""
        return None

    def unlock(self, context: HookContext) -> Awaited[Result]:
        """Remove the protection; a missing resource counts as unprotected."""
        return None

    def protects(self, context: ResourceContext) -> bool:
        """Return whether `lock` protects this resource, and not only its stack."""
        return self.supports('lock')

    def signal(
        self, context: HookContext, details: Mapping[str, Any]
    ) -> Awaited[Result | PassOn]:
        """Handle a signal, if the type supports signals."""
        raise NotImplementedError

    def operate(
        self, context: HookContext, operation: str, parameters: Mapping[str, Any]
    ) -> Awaited[Result]:
        """Perform one of `operations`; the parameters conform to its schema."""
        raise NotImplementedError

    def poll(self, context: HookContext, operation: str, token: Any) -> Awaited[Result]:
        """Check the progress of an operation that returned ResourceInProgress."""
        raise NotImplementedError

    def cancel(self, context: HookContext, operation: str, token: Any) -> Awaited[None]:
        """Stop the work of an operation that returned ResourceInProgress."""

    def reference(self, context: ResourceContext) -> str:
        """Return the value of get_resource."""
        return context.physical_id or context.resource_name

    @classmethod
    def supports(cls, hook: str) -> bool:
        """Return whether this type overrides a hook of this class."""
        return getattr(cls, hook) is not getattr(ResourceHandler, hook)


class NestedContext(ResourceContext, Protocol):
    """The additional interface of the handler of a nested stack.

    :cvar update_policy: of the definition passed to `expand`, resolved; else empty
    """

    update_policy: Mapping[str, Any]


class NestedHandler(ResourceHandler):
    """A resource that is a stack: a group, or a template of its own.

    Its stack is created, updated, checked, locked and deleted like any other; the
    handler supplies its templates. After the loss of a worker `expand` and `adjust` are
    called again, with the data that they returned and the same `context.uuid`.
    """

    #: Attributes that have those of the members by their names, so that `get_attr:
    #: [group, attributes, ATTRIBUTE, KEY]` is the value at KEY of each member.
    member_attributes: ClassVar[Collection[str]] = ()
    #: Whether attributes that it does not declare are those of its members.
    lists_member_attributes: ClassVar[bool] = False

    def attribute_names(self, properties: Mapping[str, Any]) -> Collection[str] | None:
        """Return None: attributes of members and outputs exist, too."""
        return None

    def expand(
        self, context: NestedContext, members: Sequence[Member]
    ) -> Sequence[Batch] | Expansion:
        """Return the sequence of templates that applies the properties.

        :param members: of the existing stack; none before its creation
        """
        raise NotImplementedError

    def adopted(
        self, context: NestedContext, members: Sequence[Member]
    ) -> Sequence[Batch] | Expansion:
        """Return the template of an adopted stack; the last of several is used.

        The next update applies the properties. The default is the result of `expand`.

        :param members: as recorded by the stack that managed them before
        """
        return self.expand(context, members)

    def adjust(
        self,
        context: NestedContext,
        members: Sequence[Member],
        details: Mapping[str, Any],
    ) -> Sequence[Batch] | Expansion:
        """Return the templates for a signal; none: it changes nothing."""
        return ()

    @classmethod
    def adjusts(cls) -> bool:
        """Return whether this type handles signals."""
        return cls.adjust is not NestedHandler.adjust

    def gather(
        self,
        context: NestedContext,
        members: Sequence[Member],
        outputs: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        """Return its attributes, after its stack has converged."""
        return outputs

    def remember(self, context: NestedContext) -> Mapping[str, Any] | None:
        """Return the data to store after its stack has converged; None: unchanged."""
        return None


class Goal(Plugin):
    """The objective of an audit, and the comparison of solutions for it."""

    #: For users; the default is the name of the entry point.
    display_name: ClassVar[str] = ''
    #: The indicators that a strategy for this goal must provide.
    indicators: ClassVar[Sequence[IndicatorSpecification]] = ()

    def global_efficacy(self, indicators: Mapping[str, float]) -> Sequence[Indicator]:
        """Return the global efficacy, the most important indicator first.

        :param indicators: the value of each of `indicators`, by name, validated against
            its schema
        """
        return ()


class DataModel(Plugin):
    """The collector of one model of the infrastructure, for strategies and the API.

    The name of its entry point is the type of the data model: `compute`.
    """

    #: The event types of the notifications that `apply` gets, with `*` for any text:
    #: `instance.*.end`. Without any the model is only collected.
    event_types: ClassVar[Sequence[str]] = ()

    def collect(self) -> Any:
        """Return a snapshot of the infrastructure, which nothing changes.

        It is kept for `[data_models] max_age` seconds and shared by threads. Raise a
        WatcherliteError if it cannot be collected; its text is shown to operators.
        """
        raise NotImplementedError

    def apply(self, snapshot: Any, notifications: Sequence[ServiceNotification]) -> Any:
        """Return the snapshot after notifications, or None: it is collected again.

        They are in the order of their arrival. Some may be older than the snapshot, so
        applying one twice changes nothing more. Return None rather than guess, if one
        is about an unknown object for example. An exception is logged, and means the
        same. This may be called in a thread that other notifications wait for: send
        no requests.
        """
        return None

    def restrict(self, snapshot: Any, scope: Sequence[Any]) -> Any:
        """Return a model of the part of a snapshot that a scope leaves.

        A strategy may change the model, but not the objects of the snapshot in it.

        :param scope: of the audit; [] is the whole infrastructure
        """
        raise NotImplementedError

    def represent(self, model: Any) -> Sequence[Mapping[str, Any]]:
        """Return the representation of a model in the API, one flat object per row."""
        raise NotImplementedError


class DataSource(Plugin):
    """A source of measurements of compute nodes and servers.

    Its options name the service; it is used if `is_configured` returns True.
    """

    @property
    def metrics(self) -> Collection[str]:
        """Return those of `watcherlite.plugins.openstack.metrics` that it has."""
        return ()

    @property
    def is_configured(self) -> bool:
        """Return whether its options are set."""
        return False

    def read(
        self,
        metric: str,
        resources: Mapping[str, int],
        period: float,
        aggregate: str = 'mean',
    ) -> Mapping[str, float]:
        """Return the values of a metric over the last seconds.

        All resources are read with a number of requests that does not depend on theirs;
        those without a value are absent.

        :param resources: the hosts of compute nodes or the uuids of servers, with
            their numbers of vCPUs
        :param period: in seconds
        :param aggregate: mean, min or max
        :raises WatcherliteError: it cannot be read; the text is shown to operators
        """
        raise NotImplementedError


class ScoringEngine(Plugin):
    """The calculation of scores from features, for example by a trained model.

    Strategies use it by the name of its entry point, or by that in its container; the
    API shows its `description` and `metainfo`.
    """

    #: The description of the features and scores for strategies, usually JSON.
    metainfo: str = ''

    def calculate_score(self, features: str) -> str:
        """Return the score of features; both are JSON.

        Raise Invalid for features that do not fit.
        """
        raise NotImplementedError


class ScoringEngineContainer(Plugin):
    """A set of scoring engines that is known only when a process runs.

    For example, of all trained models in a directory.
    """

    def scoring_engines(self) -> Mapping[str, ScoringEngine]:
        """Return the scoring engines, by name.

        Called when a daemon starts, to store what the API shows, and when a strategy
        uses one of them. A scoring engine with an entry point of the same name is used
        instead. An exception is logged, and means that there are none.
        """
        raise NotImplementedError


class StrategyContext(Protocol):
    """The interface of a strategy to watcherlite.

    :cvar audit_uuid: of the running audit
    :cvar goal: the name of its goal
    :cvar parameters: with the defaults of the schema, validated against it
    :cvar scope: restricts the infrastructure; [] is all of it
    """

    audit_uuid: str
    audit_name: str
    goal: str
    parameters: Mapping[str, Any]
    scope: Sequence[Any]

    def checkpoint(self) -> None:
        """Handle signals: raises Cancelled or TimedOut. Call it often."""

    def sleep(self, seconds: float) -> None:
        """Sleep, but wake for signals; a checkpoint before and after."""

    def now(self) -> datetime.datetime:
        """Return the wall-clock time, aware, in UTC; tests can set it."""

    def model(self, name: str) -> Any:
        """Return a model of the infrastructure, restricted to the scope.

        :param name: 'compute', for example
        :raises NotFound: there is no such model
        :raises Forbidden: the creator of the audit may not see it
        """

    def datasource(self, metrics: Collection[str]) -> DataSource:
        """Return the first configured datasource that has all of these metrics.

        :raises ConfigurationError: there is none
        """

    def scoring_engine(self, name: str) -> ScoringEngine:
        """Return a scoring engine.

        :raises PluginNotFound: none of that name is installed
        :raises PluginError: it cannot be loaded
        """


class Strategy(Plugin):
    """The search for a solution that brings the infrastructure closer to a goal.

    It changes nothing: it proposes changes as actions.
    """

    #: The entry point of its goal.
    goal: ClassVar[str] = 'unclassified'
    display_name: ClassVar[str] = ''
    #: JSON schema of the parameters; the values of `default` are filled in.
    schema: ClassVar[Mapping[str, Any]] = {'type': 'object', 'properties': {}}
    #: The entry point of the planner for its solutions.
    planner: ClassVar[str] = 'weight'
    #: The data models that it reads, and the metrics; shown to operators.
    data_models: ClassVar[Sequence[str]] = ()
    metrics: ClassVar[Sequence[str]] = ()

    def execute(self, context: StrategyContext) -> Solution:
        """Return a solution; without actions if there is nothing to do.

        It may be called again after the loss of a worker. Raise to fail the run.
        """
        raise NotImplementedError


class Planner(Plugin):
    """The conversion of a solution into a plan: it orders the actions."""

    def plan(self, solution: Solution, name: str | None = None) -> PlanDocument:
        """Return the plan, with exactly the actions of the solution.

        :param name: of the plan
        :raises Invalid: the solution cannot be planned; the text is the reason
        """
        raise NotImplementedError
