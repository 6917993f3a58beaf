"""The common part of the action types that change one object of OpenStack."""

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.domain.outcomes import Done, InProgress, Outcome
from watcherlite.plugins import base
from watcherlite.plugins.openstack import delays

if TYPE_CHECKING:
    from openstack.connection import Connection

#: What an action changes to what, as JSON: part of its token.
Goal = Mapping[str, Any]
State = TypeVar('State')

#: The keys of a token.
GOAL, FORMER, STEP = 'goal', 'former', 'step'
#: The step of a token whose request was perhaps not sent.
REQUEST = 'request'
#: The step of a token whose request was accepted.
WAITING = 'waiting'

NAME: Mapping[str, Any] = {'type': 'string', 'minLength': 1, 'maxLength': 255}
OPTIONAL_NAME: Mapping[str, Any] = {**NAME, 'type': ['string', 'null']}
UUID: Mapping[str, Any] = {
    'type': 'string',
    'pattern': '^[a-fA-F0-9]{8}(-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}$',
}

OPTIONS = (
    cfg.FloatOpt(
        'poll_interval',
        default=2.0,
        min=0.1,
        max=600.0,
        help='Seconds between two requests for the progress of an action of this type. '
        'Increase it if many actions run at the same time and the service of the cloud '
        'is busy; actions then end later by up to this time.',
    ),
)


class CloudAction(base.CloudClient, base.ActionType, Generic[State]):
    """Changes one object to a goal with one asynchronous request.

    `execute` sends the request, and `poll` reads the object until it has changed. After
    the loss of a worker, or of an answer, the object is read before the request is sent
    again: a change to the goal that is in progress is continued, by whichever request
    it was started.

    :cvar is_cloud_wide: the action affects more than the objects of a project
    """

    # Each run reads the object first.
    idempotent = True
    blocking = True
    is_cloud_wide: ClassVar[bool] = False

    def __init__(self, options: Any = None) -> None:
        super().__init__(options)
        #: whether the action had started before its worker was lost
        self.was_started = False

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return OPTIONS

    def connect(self, context: base.ActionContext) -> 'Connection':
        """Return a connection with the authority of the service.

        :raises Forbidden: the creator of the plan may not request this
        """
        if self.is_cloud_wide and not context.creator.everywhere:
            raise exceptions.Forbidden(
                'Only administrators of the cloud may change its hosts and the '
                'placement on them; the creator of this plan is limited to a project'
            )
        return self.clouds.service_connection()

    # the parts of a type

    def goal(self, context: base.ActionContext) -> Goal:
        """Return the goal that the inputs describe; without I/O."""
        raise NotImplementedError

    def resolve(self, context: base.ActionContext, goal: Goal) -> Goal:
        """Return a goal with what the names in it refer to."""
        return goal

    def check(self, context: base.ActionContext, goal: Goal) -> Outcome | None:
        """Return Skipped or Failed if the request must not be sent; may raise as well.

        Called before the action starts, and after the loss of its worker.
        """
        raise NotImplementedError

    def read(self, context: base.ActionContext, goal: Goal) -> State | None:
        """Return the object; None: it does not exist."""
        raise NotImplementedError

    def has_effect(self, state: State, goal: Goal) -> bool:
        """Return whether the goal is reached."""
        raise NotImplementedError

    def is_running(self, state: State, goal: Goal) -> bool:
        """Return whether a change to the goal is in progress."""
        return False

    def is_continued(self, state: State, goal: Goal) -> bool:
        """Return whether the change was started before the loss of a worker.

        It may have ended since `is_applied` was called.
        """
        return self.was_started and (
            self.is_running(state, goal) or self.has_effect(state, goal)
        )

    def former(self, state: State, goal: Goal) -> dict[str, Any]:
        """Return the outputs that describe the object before the change."""
        return {}

    def outputs(self, state: State, goal: Goal) -> dict[str, Any]:
        """Return the outputs that describe the object after the change."""
        return {}

    def send(
        self, context: base.ActionContext, state: State, goal: Goal
    ) -> dict[str, Any] | None:
        """Request the change; return its outputs if it has ended with the response."""
        raise NotImplementedError

    def advance(
        self, context: base.ActionContext, state: State, token: Mapping[str, Any]
    ) -> Outcome:
        """Return the outcome of an object that has not reached its goal yet."""
        raise NotImplementedError

    def finish(
        self, context: base.ActionContext, state: State, token: Mapping[str, Any]
    ) -> Outcome | None:
        """Return InProgress if work remains after the goal is reached."""
        return None

    def on_missing(self, goal: Goal) -> Outcome:
        """Return the outcome for an object that was deleted during the action."""
        raise NotImplementedError

    # the interface of action types

    def is_applied(self, context: base.ActionContext) -> bool:
        self.was_started = True
        try:
            goal = self.resolve(context, self.goal(context))
            state = self.read(context, goal)
        except exceptions.ServiceUnavailable:
            # `execute` waits for the service, and reads the object then.
            return False
        return state is not None and self.has_effect(state, goal)

    def pre_condition(self, context: base.ActionContext) -> Outcome | None:
        try:
            return self.check(context, self.resolve(context, self.goal(context)))
        except exceptions.ServiceUnavailable as error:
            return None if self.was_started else delays.retry(error)

    def execute(self, context: base.ActionContext) -> Outcome:
        return self.change(context, self.goal(context), is_new=not self.was_started)

    def poll(self, context: base.ActionContext, token: Any) -> Outcome:
        return delays.attempt(context, functools.partial(self._poll, context), token)

    def change(
        self, context: base.ActionContext, goal: Goal, is_new: bool = False
    ) -> Outcome:
        """Start the change to a goal.

        :param is_new: it was checked that no change is in progress
        """
        step = functools.partial(self._request, context, is_new)
        return delays.attempt(context, step, {GOAL: goal, STEP: REQUEST})

    def wait(
        self, token: Mapping[str, Any], step: str, delay: float | None = None
    ) -> InProgress:
        """Return the outcome that has the object read again.

        :param delay: seconds; None: the option `poll_interval`
        """
        interval = float(self.options.poll_interval) if delay is None else delay
        return InProgress({**token, STEP: step}, interval)

    def _request(
        self, context: base.ActionContext, is_new: bool, token: Mapping[str, Any]
    ) -> Outcome:
        """Send the request, unless it was sent."""
        goal = self.resolve(context, token[GOAL])
        state = self.read(context, goal)
        if state is None:
            return self.on_missing(goal)
        if not is_new:
            if self.has_effect(state, goal):
                return Done(self.outputs(state, goal))
            if self.is_running(state, goal):
                return self.wait({GOAL: goal}, WAITING)
        former = self.former(state, goal)
        context.fence()
        outputs = self.send(context, state, goal)
        if outputs is not None:
            return Done({**former, **outputs})
        return self.wait({GOAL: goal, FORMER: former}, WAITING)

    def _poll(self, context: base.ActionContext, token: Mapping[str, Any]) -> Outcome:
        if token[STEP] == REQUEST:
            # The service was unavailable, perhaps after it had received the request.
            return self._request(context, False, token)
        goal = token[GOAL]
        state = self.read(context, goal)
        if state is None:
            return self.on_missing(goal)
        if self.has_effect(state, goal):
            outputs = {**token.get(FORMER, {}), **self.outputs(state, goal)}
            return self.finish(context, state, token) or Done(outputs)
        return self.advance(context, state, token)
