"""The whole contract between watcherlite and its plugins.

A plugin is a class behind an entry point. Its methods stand here in the order
in which they are called; every default is harmless, and what a type overrides
is what it is capable of. A plugin is handed a context and nothing else: no
store, no bus, no global configuration.
"""

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from watcherlite.destinations import Destinations
from watcherlite.domain import resource_results
from watcherlite.domain.clusters import Cluster, Node, Profile
from watcherlite.domain.creators import Creator
from watcherlite.domain.documents import PlanDocument
from watcherlite.domain.outcomes import Outcome, TimedOut
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
from watcherlite.domain.solutions import Indicator, IndicatorSpecification, Solution

if TYPE_CHECKING:
    from oslo_config import cfg

ACTION_TYPES = 'watcherlite.action_types'
RESOURCE_HANDLERS = 'watcherlite.resource_handlers'
POLICIES = 'watcherlite.policies'
LOAD_BALANCERS = 'watcherlite.load_balancers'
GOALS = 'watcherlite.goals'
STRATEGIES = 'watcherlite.strategies'
PLANNERS = 'watcherlite.planners'
NAMESPACES = (
    ACTION_TYPES,
    RESOURCE_HANDLERS,
    POLICIES,
    LOAD_BALANCERS,
    GOALS,
    STRATEGIES,
    PLANNERS,
)
#: Action types of watcherlite itself, which no plan names and no plugin may be.
RESERVED = ('audit', 'stack', 'resource', 'cluster_health')


class DerivedResult(Protocol):
    """How one derived action ended, as `complete` sees it."""

    @property
    def key(self) -> str: ...

    @property
    def status(self) -> str: ...

    @property
    def status_message(self) -> str | None: ...

    @property
    def outputs(self) -> Mapping[str, Any] | None: ...


class ActionContext(Protocol):
    """What an action may know and do while it runs.

    :cvar uuid: of the action; also the idempotency key to hand to services, so
        that an effect asked for twice is applied once
    :cvar attempt: grows with each owner; the fencing token to hand to services,
        so that a worker that lost the action cannot act for it any more
    :cvar within: what its target is a part of: the uuid of a node's cluster
    :cvar tenant: the project that it belongs to, if it belongs to one
    :cvar cause: who asked for it: `RPC Request` or `Derived Action`
    :cvar inputs: as validated against the type's schema
    :cvar data: what policies decided
    :cvar outputs: of an earlier phase: what `execute` returned, for
        `post_condition`; what the original run returned, for `revert`
    :cvar deadline: when it times out, aware, UTC
    :cvar creator: of the plan that it is part of; tells whether it may act on the
        objects of a project (`may_act_on`). Outside of plans without authority
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
        """Return the creator of the plan that the action is part of."""

    def checkpoint(self) -> None:
        """Heed signals: raises Cancelled or TimedOut, waits while suspended.

        Call it wherever stopping is safe. An action that never does can only
        be failed from outside when its time is over.
        """

    def fence(self) -> None:
        """Raise LeaseLost if the lease of this worker is over.

        Call it right before an effect. A process that was stopped and wakes up is
        not to act for an action that another worker may have taken over.
        `checkpoint` does it as well.
        """

    def save_token(self, token: Any) -> None:
        """Make durable what `execute` is about to do, for who follows the action.

        When the worker is lost, what the type declares holds as it does without it.
        """

    def sleep(self, seconds: float) -> None:
        """Sleep, but wake for signals; a checkpoint before and after."""

    def remaining(self) -> float | None:
        """Return the seconds that are left until the deadline, or None."""

    def now(self) -> datetime.datetime:
        """Return the wall-clock time, aware, in UTC; tests turn it."""

    def on_signal(self, call: Callable[[str], None]) -> AbstractContextManager[None]:
        """Have `call(signal)` called as signals arrive, inside a `with` block.

        For work that blocks where it cannot ask `checkpoint`: `call` wakes it
        there, and then it asks. It comes from another thread, at once for a
        signal that is already there, with CANCEL, SUSPEND, RESUME or TIMEOUT; it
        must neither block nor raise. A deadline that passes is not always told:
        bound what blocks by `remaining` too.
        """


class Connecting:
    """A plugin that connects to servers that users name, if they are allowed.

    :ivar destinations: the rules of the operator, from the group `[outgoing_http]`;
        whoever opens connections of its own asks `check_host` and `check_address`
    """

    #: Set by the loader; without one nothing local is allowed.
    read_destinations: Callable[[], Destinations] = Destinations

    @property
    def destinations(self) -> Destinations:
        """Return the rules as they are now: a reload changes them."""
        return self.read_destinations()


class ActionType(Connecting):
    """Knows how to execute one kind of action.

    One instance serves one phase of one action, in a thread of the worker; what
    it must keep between phases goes into outputs or tokens, not attributes.

    Declare what the loss of a worker half way means, because nobody else can:

    * `idempotent = True`: running it again with the same uuid does no harm.
    * override `is_applied`: it can be asked whether its effect is there.
    * neither: it is never run twice. When its worker is lost it is FAILED,
      outcome unknown.
    """

    #: JSON schema of the inputs. `$ref` may only point into the schema itself.
    schema: ClassVar[Mapping[str, Any]] = {'type': 'object'}
    #: One sentence for operators.
    description: ClassVar[str] = ''
    #: See above.
    idempotent: ClassVar[bool] = False

    def __init__(self, options: 'cfg.ConfigOpts | Any' = None) -> None:
        """Keep `options`: the group `<namespace>.<name>` of the ini file."""
        self.options = options

    @classmethod
    def get_config_opts(cls) -> Sequence['cfg.Opt']:
        """Return the options of this type, for its group and the sample."""
        return ()

    def validate(self, inputs: Mapping[str, Any]) -> None:
        """Check what the schema cannot say; raise InvalidInput.

        Called when a plan is made and again before the action runs.
        """

    def is_idempotent(self, inputs: Mapping[str, Any]) -> bool:
        """Return whether running it again with these inputs does no harm.

        For types where the inputs decide; by default what `idempotent` says.
        Called after the worker that had started the action was lost. It must
        not do I/O.
        """
        return self.idempotent

    def is_checkable(self, inputs: Mapping[str, Any]) -> bool:
        """Return whether `is_applied` can tell for these inputs.

        By default: when `is_applied` is overridden. Asked after `is_idempotent`
        said no, and like that without I/O.
        """
        return self.supports('is_applied')

    def is_applied(self, context: ActionContext) -> bool:
        """Return whether the effect is there already.

        Called only when `is_checkable`, and only after the worker that had
        started the action was lost: True ends the action as SUCCEEDED, False
        runs it again.
        """
        return False

    def waits_outside(self, inputs: Mapping[str, Any], token: Any) -> bool:
        """Return whether the next step mostly waits for answers from outside.

        Such a step runs in a thread of its own kind, of which each cluster and project
        has a share, and holds up nothing else: a check, a poll, a call of a hook.

        :param token: with which it is polled; None: it is executed
        """
        return False

    def pre_condition(self, context: ActionContext) -> Outcome | None:
        """Check that the action applies, and change nothing.

        Called before the action counts as started; it may be called again, by
        another worker or at the next try. Raise ActionSkipException (or return
        Skipped) if it does not apply, anything else to fail it. An action that has
        started before is never SKIPPED: it goes on to `post_condition` and SUCCEEDED,
        or is FAILED if `is_applied` has just returned False.
        """
        return None

    def execute(self, context: ActionContext) -> Outcome | bool | tuple[str, str]:
        """Do it. Called once RUNNING is durable.

        Return an outcome of `watcherlite.domain.outcomes`, or True, or Senlin's
        (RES, REASON). Raise to fail.
        """
        raise NotImplementedError

    def poll(
        self, context: ActionContext, token: Any
    ) -> Outcome | bool | tuple[str, str]:
        """Look how far the work is that `execute` left InProgress.

        Called after the delay, perhaps by another worker than the one that
        executed; sooner after a RESUME, and by who takes it over from a lost
        worker. Return InProgress again to be asked later.
        """
        raise NotImplementedError

    def complete(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome | bool | tuple[str, str] | None:
        """Say how the action went, now that its derived actions have ended.

        None, the default, means: Done if none of them FAILED or was CANCELLED.
        """
        return None

    def overdue(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome | bool | tuple[str, str]:
        """Say how the action went whose time was over before they had all ended.

        Called in place of `complete` once they have ended: those that had not were
        cancelled. By default it is FAILED. An action that derives others once more,
        to undo what was done, gives them a time (`Derived.timeout`).
        """
        return TimedOut()

    def cancel(self, context: ActionContext, token: Any) -> None:
        """Stop the work outside that `token` stands for.

        Called when an action that is InProgress is cancelled or times out; it
        ends in any case, and what this raises is only logged.
        """

    def post_condition(self, context: ActionContext) -> None:
        """Check the effect; raise to fail the action.

        Called after execute, poll or complete came to an end, unless cancelled.
        """

    def revert(self, context: ActionContext) -> Outcome | bool | tuple[str, str]:
        """Undo what `execute` did; `context.outputs` is what that returned.

        Called, when overridden, for the SUCCEEDED actions of a plan that is
        rolled back, dependents first.
        """
        raise NotImplementedError

    @classmethod
    def supports(cls, hook: str) -> bool:
        """Return whether this type overrides a hook of this class."""
        return getattr(cls, hook) is not getattr(ActionType, hook)


class Plugin:
    """What goals, strategies and planners have in common: their options.

    One instance serves one call.
    """

    #: One sentence for operators.
    description: ClassVar[str] = ''

    def __init__(self, options: 'cfg.ConfigOpts | Any' = None) -> None:
        """Keep `options`: the group `<namespace>.<name>` of the ini file."""
        self.options = options

    @classmethod
    def get_config_opts(cls) -> Sequence['cfg.Opt']:
        """Return the options of this plugin, for its group and the sample."""
        return ()


class PolicyContext(Protocol):
    """What a policy may know while it is asked about an action.

    :cvar name: of the policy, as users gave it
    :cvar policy_uuid: its uuid
    :cvar action_type: CLUSTER_SCALE_IN, ...
    :cvar inputs: of the action
    :cvar cluster: the cluster as it is; its nodes are in `nodes`, by index
    :cvar node: of an action on a node, that node; else None. In `post_op` of an
        action that went well it is as the action leaves it
    :cvar properties: of the policy, with the defaults of its schema
    :cvar binding_data: the data stored with the binding to this cluster
    :cvar last_op: when it last took effect on this cluster
    :cvar result: of the action, in `post_op`: OK or ERROR; else None
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

    def now(self) -> datetime.datetime:
        """Return the wall-clock time, aware, in UTC; tests turn it."""

    def profile(self, node: Node | None = None) -> Mapping[str, Any]:
        """Return the spec of the profile of a node, or of the cluster."""

    def profiles(self) -> Mapping[int, Profile]:
        """Return the profiles of the cluster and its nodes, by id."""

    def operations(self) -> Collection[str]:
        """Return what nodes of the cluster can be asked to do: reboot, ..."""

    def refresh(self) -> Sequence[Node]:
        """Read `nodes` anew, and return them.

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
    """Consulted before and after an action on a cluster, or on a node of it.

    The name of its entry point is its type as clients write it, with the version:
    `senlin.policy.scaling-1.0`. Decisions are made through `data` alone: what a
    policy changes in it is stored before the next one is asked (spec 001). One
    instance serves one call.
    """

    #: Lower is asked first.
    priority: ClassVar[int] = 100
    #: Whether a cluster may be bound to one policy of this type only.
    singleton: ClassVar[bool] = True
    #: Types of profiles that it makes sense for; () is any.
    profile_types: ClassVar[Sequence[str]] = ()
    #: Action types before which `pre_op` is called.
    before: ClassVar[frozenset[str]] = frozenset()
    #: Action types after which `post_op` is called.
    after: ClassVar[frozenset[str]] = frozenset()
    #: JSON schema of the properties; the values of `default` are filled in.
    schema: ClassVar[Mapping[str, Any]] = {'type': 'object', 'properties': {}}
    #: (version, status, since) in turn, as `policy type show` tells it.
    support_status: ClassVar[Sequence[Mapping[str, str]]] = ()

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Check what the schema cannot say; raise Invalid."""

    def attach(self, context: PolicyContext) -> Mapping[str, Any] | None:
        """Begin to look after a cluster; return what to keep for it.

        Raise to refuse; the text is the reason that users read.
        """
        return None

    def detach(self, context: PolicyContext) -> None:
        """Stop looking after a cluster; raise to refuse."""

    def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        """Decide before the action runs; raise to fail the action."""

    def post_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        """Act after the action ran, well or not; raise to fail the action.

        Called with ERROR as well if the action ends before its start, after `pre_op`
        of this policy has returned: it was cancelled meanwhile, its pre_condition
        skipped or failed it, or another policy refused it.
        """


class LoadBalancer:
    """Spreads requests over the members of a cluster, for the load-balancing policy.

    Each call may come again, after a worker was lost: it says how it is to be.
    """

    def __init__(self, options: 'cfg.ConfigOpts | Any' = None) -> None:
        """Keep `options`: the group `<namespace>.<name>` of the ini file."""
        self.options = options

    @classmethod
    def get_config_opts(cls) -> Sequence['cfg.Opt']:
        """Return the options of this driver, for its group and the sample."""
        return ()

    def apply(
        self,
        name: str,
        properties: Mapping[str, Any],
        members: Sequence[Mapping[str, Any]],
    ) -> Mapping[str, Any]:
        """Make the balancer of this name have these members, and no others.

        :param name: of the balancer: made of the uuids of cluster and policy
        :param properties: of the policy
        :param members: each {'id': uuid of the node, 'name', 'address', 'port'}
        :returns: what is shown in the data of the cluster: {'vip_address': ...}
        """
        raise NotImplementedError

    def remove(self, name: str) -> None:
        """Delete the balancer; one that is not there has been deleted."""
        raise NotImplementedError


class ResourceContext(Protocol):
    """What a resource handler may know and do; see also `ActionContext`.

    :cvar uuid: of the action; the idempotency key of this operation
    :cvar attempt: the fencing token
    :cvar tenant: the project of the stack
    :cvar resource_uuid: never changes; another one replaces it under the same name
    :cvar physical_name: a name that is free: stack, resource, and a short id
    :cvar physical_id: as the handler said; None before
    :cvar properties: resolved, checked against `ResourceHandler.properties`, with
        defaults; for `delete`, `check` and the like those it was last made with
    :cvar before: for `update`: the properties that it was last made with
    :cvar attributes: as last said
    :cvar data: what the handler keeps
    :cvar files: those that came with the template of the stack, name -> text
    :cvar deadline: when the operation times out, aware, UTC
    """

    uuid: str
    attempt: int
    tenant: str
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
    deadline: datetime.datetime | None

    def checkpoint(self) -> None:
        """Heed signals: raises Cancelled or TimedOut. Call it where it can stop."""

    def fence(self) -> None:
        """Raise LeaseLost if the lease of this worker is over; see `ActionContext`."""

    def remaining(self) -> float | None:
        """Return the seconds that are left until the deadline, or None."""

    def now(self) -> datetime.datetime:
        """Return the wall-clock time, aware, in UTC; tests turn it."""

    def on_signal(self, call: Callable[[str], None]) -> AbstractContextManager[None]:
        """See `ActionContext.on_signal`."""


class ResourceHandler(Connecting, Plugin):
    """Makes and looks after one type of thing: a resource of a stack, or a node.

    The name of its entry point is the type: `OS::Heat::Value`. One instance serves
    one call. An operation returns a `domain.resource_results.Result`: None or Ready
    when it has done what it should, NotYet to be polled; it raises to fail: a
    `WatcherliteError`, of its own or not, whose text users and the log get. Any other
    exception is taken for a mistake: users get its class, and the log its traceback.

    An operation whose worker was lost is begun again when `idempotent`; a `create`
    is asked for with `find` otherwise, where that is overridden; else it is FAILED,
    outcome unknown, and the next update replaces the resource.
    """

    properties: ClassVar[Mapping[str, Property]] = {}
    #: Properties that are not declared are accepted, and changes of these ignored.
    allows_undeclared: ClassVar[bool] = False
    #: attribute -> one sentence
    attributes: ClassVar[Mapping[str, str]] = {}
    #: Whether each operation may be called again with the same `uuid`.
    idempotent: ClassVar[bool] = False
    #: Whether a resource that is FAILED is replaced by the next update.
    replaces_failed: ClassVar[bool] = True
    #: What else can be done with one that is there: `reboot`, `rebuild`, ... They are
    #: the operations of the profile that this type makes, see `operate`.
    operations: ClassVar[Mapping[str, Operation]] = {}
    #: How a profile of this type is called; None: as its entry point, in lower case
    #: and with dots: `local.process`.
    profile_type: ClassVar[str | None] = None
    #: Whether one can become a node of which nothing is known but its physical id.
    adoptable: ClassVar[bool] = True
    #: Whether a signal changes something, so that a lock of the stack forbids it.
    modified_by_signals: ClassVar[bool] = True

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Check what the schemas cannot say; raise Invalid.

        Properties that depend on what is not made yet are None here.
        """

    def host(self, physical_id: str | None, data: Mapping[str, Any]) -> str | None:
        """Return the host that it lives on; None: every worker reaches it.

        Operations on it are handed on to a worker of that host, if there is one.
        """
        return None

    def attribute_names(self, properties: Mapping[str, Any]) -> Collection[str] | None:
        """Return the attributes of one with these properties; None: it has any.

        A template that asks for another one is refused.
        """
        return self.attributes

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        """Return KEEP, UPDATE or REPLACE for a change of the definition.

        :param failed: the resource is FAILED, or a user marked it so
        :raises Invalid: the change is not possible at all
        """
        return resource_results.decide(self, before, after, failed)

    def create(self, context: ResourceContext) -> Result:
        """Make it."""
        raise NotImplementedError

    def find(self, context: ResourceContext) -> Result:
        """Return what a `create` that was interrupted has made; None: nothing."""
        return None

    def adopt(self, context: ResourceContext) -> Result:
        """Take over one that is there, and that a stack was made to forget.

        `physical_id` and `data` are those that it had then.
        """
        return self.check(context)

    def check(self, context: ResourceContext) -> Result:
        """Look whether it is there and as it should be; raise if it is not."""
        return Ready(reason=f'CHECK is not supported by {context.resource_name}')

    def check_external(self, context: ResourceContext) -> Result:
        """Look whether what a template names by its `external_id` is there.

        It belongs to no stack: only its `physical_id` is known, and `properties` are
        those that the template happens to give, without defaults.
        """
        return self.check(context)

    def update(self, context: ResourceContext) -> Result:
        """Make it fit `properties`; `before` is what it fitted."""
        raise NotImplementedError

    def delete(self, context: ResourceContext) -> Result:
        """Delete it; one that is not there any more has been deleted.

        Its `physical_id` is None if its creation has begun and failed before one was
        said: the properties, and `physical_name`, say what may have been made.
        """
        raise NotImplementedError

    def suspend(self, context: ResourceContext) -> Result:
        """Put it to rest."""
        return None

    def resume(self, context: ResourceContext) -> Result:
        """Let it go on."""
        return None

    def lock(self, context: ResourceContext) -> Result:
        """Protect it against changes by others (spec 004)."""
        return None

    def unlock(self, context: ResourceContext) -> Result:
        """Take that protection away; one that is gone is not protected."""
        return None

    def protects(self, context: ResourceContext) -> bool:
        """Return whether `lock` protects this resource, and not only its stack."""
        return self.supports('lock')

    def signal(
        self, context: ResourceContext, details: Mapping[str, Any]
    ) -> Result | PassOn:
        """Take note of a signal, if the type takes any."""
        raise NotImplementedError

    def operate(
        self, context: ResourceContext, operation: str, parameters: Mapping[str, Any]
    ) -> Result:
        """Do one of `operations`; the parameters fit its schema."""
        raise NotImplementedError

    def poll(self, context: ResourceContext, operation: str, token: Any) -> Result:
        """Look how far an operation is that said NotYet; `operation` is its name."""
        raise NotImplementedError

    def cancel(self, context: ResourceContext, operation: str, token: Any) -> None:
        """Stop what goes on for an operation that said NotYet."""

    def reference(self, context: ResourceContext) -> str:
        """Return what get_resource gives."""
        return context.physical_id or context.resource_name

    @classmethod
    def supports(cls, hook: str) -> bool:
        """Return whether this type overrides a hook of this class."""
        return getattr(cls, hook) is not getattr(ResourceHandler, hook)


class NestedContext(ResourceContext, Protocol):
    """What the handler of a resource that is a stack may know besides.

    :cvar update_policy: of the definition that `expand` is for, resolved; else empty
    """

    update_policy: Mapping[str, Any]


class NestedHandler(ResourceHandler):
    """A resource that is a stack: a group, or a template of its own.

    Its stack is made, updated, checked, locked and deleted like any other; the
    handler says what is to be in it. `expand` and `adjust` are called again, with
    the data that they gave, when a worker was lost: `context.uuid` is the same then.
    """

    def attribute_names(self, properties: Mapping[str, Any]) -> Collection[str] | None:
        """Return None: it has those of its members, or outputs, too."""
        return None

    def expand(
        self, context: NestedContext, members: Sequence[Member]
    ) -> Sequence[Batch] | Expansion:
        """Return the templates that lead to what the properties say, in turn.

        :param members: of its stack as it is; none before it is made
        """
        raise NotImplementedError

    def adopted(
        self, context: NestedContext, members: Sequence[Member]
    ) -> Sequence[Batch] | Expansion:
        """Return the template of what is there already; of several the last counts.

        The next update makes of it what the properties say. Without an override
        that is what `expand` leads to.

        :param members: as the stack left them that had them before
        """
        return self.expand(context, members)

    def adjust(
        self,
        context: NestedContext,
        members: Sequence[Member],
        details: Mapping[str, Any],
    ) -> Sequence[Batch] | Expansion:
        """Return what a signal makes of it; nothing: it changes nothing."""
        return ()

    @classmethod
    def adjusts(cls) -> bool:
        """Return whether this type takes signals."""
        return cls.adjust is not NestedHandler.adjust

    def gather(
        self,
        context: NestedContext,
        members: Sequence[Member],
        outputs: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        """Return its attributes, now that its stack is as it should be."""
        return outputs

    def remember(self, context: NestedContext) -> Mapping[str, Any] | None:
        """Return its data, now that its stack is as it should be; None: as before."""
        return None


class Goal(Plugin):
    """What an audit is to reach, and how solutions for it are compared."""

    #: For people; without one the name of the entry point is shown.
    display_name: ClassVar[str] = ''
    #: The figures that a strategy for this goal has to give.
    indicators: ClassVar[Sequence[IndicatorSpecification]] = ()

    def global_efficacy(self, indicators: Mapping[str, float]) -> Sequence[Indicator]:
        """Return what the figures come to, the most telling first.

        :param indicators: the value of each of `indicators`, by name, each checked
            against its schema
        """
        return ()


class StrategyContext(Protocol):
    """What a strategy may know and do while it runs.

    :cvar audit_uuid: of the audit that is run
    :cvar goal: the name of its goal
    :cvar parameters: with the defaults of the schema, checked against it
    :cvar scope: to what of the infrastructure it is limited; [] is all of it
    """

    audit_uuid: str
    audit_name: str
    goal: str
    parameters: Mapping[str, Any]
    scope: Sequence[Any]

    def checkpoint(self) -> None:
        """Heed signals: raises Cancelled or TimedOut. Call it where it can stop."""

    def sleep(self, seconds: float) -> None:
        """Sleep, but wake for signals; a checkpoint before and after."""

    def now(self) -> datetime.datetime:
        """Return the wall-clock time, aware, in UTC; tests turn it."""

    def model(self, name: str) -> Any:
        """Return a model of the infrastructure, limited to the scope.

        :param name: 'compute', for example
        :raises NotFound: nothing here keeps such a model
        """


class Strategy(Plugin):
    """Looks for a solution that brings the infrastructure closer to a goal.

    It only looks: what is to be changed, it proposes as actions.
    """

    #: The entry point of the goal that it reaches.
    goal: ClassVar[str] = 'unclassified'
    display_name: ClassVar[str] = ''
    #: JSON schema of the parameters; the values of `default` are filled in.
    schema: ClassVar[Mapping[str, Any]] = {'type': 'object', 'properties': {}}
    #: The entry point of the planner that makes a plan of its solutions.
    planner: ClassVar[str] = 'weight'

    def execute(self, context: StrategyContext) -> Solution:
        """Return a solution, which has no actions when there is nothing to do.

        It may be called again when a worker was lost. Raise to fail the run.
        """
        raise NotImplementedError


class Planner(Plugin):
    """Makes a plan of a solution: says what waits for what."""

    def plan(self, solution: Solution, name: str | None = None) -> PlanDocument:
        """Return the plan; it has every action of the solution, and no other.

        :param name: of the plan
        :raises Invalid: no plan can be made of this solution; the text says why
        """
        raise NotImplementedError
