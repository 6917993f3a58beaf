"""Action types that change a server by a task of nova."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.outcomes import Failed, Outcome, Skipped
from watcherlite.plugins import base
from watcherlite.plugins.openstack import delays, errors
from watcherlite.plugins.openstack.action_types.cloud_action import (
    GOAL,
    STEP,
    CloudAction,
    Goal,
)

if TYPE_CHECKING:
    from openstack.compute.v2.server import Server

LOG = logging.getLogger(__name__)

COMPUTE = 'compute'
#: The keys of goals.
SERVER = 'server'
#: Statuses of servers.
ACTIVE, SHUTOFF, ERROR, VERIFY_RESIZE = 'ACTIVE', 'SHUTOFF', 'ERROR', 'VERIFY_RESIZE'
#: Statuses of servers of which a change has not ended, or has failed.
UNSETTLED = frozenset(
    {ERROR, VERIFY_RESIZE, 'RESIZE', 'REVERT_RESIZE', 'MIGRATING', 'DELETED'}
)
#: The steps of tokens.
CONFIRMING, ENDED = 'confirming', 'ended'
#: Seconds between two requests for the cause of a failure, which nova records later
#: than the end of the task, and the maximum number of requests.
CAUSE_DELAY = 1.0
CAUSE_TRIES = 10
#: The key of a token with the number of these requests.
TRIES = 'tries'

_RESIZING = frozenset(
    {'resize_prep', 'resize_migrating', 'resize_migrated', 'resize_finish'}
)


def find_server(action: CloudAction, context: base.ActionContext, uuid: str) -> Any:
    """Return a server; None: it does not exist, or not for the creator of the plan."""
    cloud = action.connect(context)
    try:
        with errors.translated(COMPUTE, f'Instance {uuid}'):
            server = cloud.compute.get_server(uuid)
    except exceptions.NotFound:
        return None
    # To the creator, a server of another project does not exist.
    return server if context.creator.may_act_on(server.project_id) else None


def is_settled(server: 'Server') -> bool:
    """Return whether a server has no task and waits for no decision."""
    return server.task_state is None and server.status not in UNSETTLED


def missing(uuid: str) -> str:
    """Return the message for a server that does not exist."""
    return f'Instance {uuid} not found'


class ServerAction(CloudAction['Server']):
    """Changes a server.

    :cvar nova_actions: the names of the task in the list of actions of a server
    :cvar tasks: its task states
    """

    service = COMPUTE
    nova_actions: ClassVar[Collection[str]] = ()
    tasks: ClassVar[Collection[str]] = ()

    def read(self, context: base.ActionContext, goal: Goal) -> 'Server | None':
        server: Server | None = find_server(self, context, goal[SERVER])
        return server

    def check(self, context: base.ActionContext, goal: Goal) -> Outcome | None:
        server = self.read(context, goal)
        if server is None:
            return Skipped(missing(goal[SERVER]))
        if self.is_continued(server, goal):
            return None
        if server.is_locked and not context.creator.everywhere:
            # nova ignores the lock for the service, which is an administrator.
            return Failed(f'Instance {goal[SERVER]} is locked')
        return self.check_server(context, server, goal)

    def check_server(
        self, context: base.ActionContext, server: 'Server', goal: Goal
    ) -> Outcome | None:
        """Return Skipped or Failed if a server cannot be changed."""
        raise NotImplementedError

    def is_running(self, server: 'Server', goal: Goal) -> bool:
        return server.task_state in self.tasks

    def advance(
        self, context: base.ActionContext, server: 'Server', token: Mapping[str, Any]
    ) -> Outcome:
        if server.task_state is not None:
            return self.wait(token, token[STEP])
        if token[STEP] != ENDED:
            # The cause is recorded a moment after the end.
            return self.wait(token, ENDED, CAUSE_DELAY)
        events, tries = self._recorded_events(context, server), token.get(TRIES, 1)
        if tries < CAUSE_TRIES and any(event.result is None for event in events):
            return self.wait({**token, TRIES: tries + 1}, ENDED, CAUSE_DELAY)
        return Failed(self._failure(server, token[GOAL], events))

    def on_missing(self, goal: Goal) -> Outcome:
        return Failed(missing(goal[SERVER]))

    def describe_failure(self, server: 'Server', goal: Goal) -> str:
        """Return the message for a server that has not reached the goal."""
        raise NotImplementedError

    def _failure(self, server: 'Server', goal: Goal, events: Sequence[Any]) -> str:
        """Return the message of a failure, with the text of nova if there is one."""
        texts = [event.details for event in events if event.result == 'Error']
        if server.status == ERROR and server.fault:
            texts.insert(0, server.fault.get('message'))
        cause = next(filter(None, texts), None)
        text = self.describe_failure(server, goal)
        if cause is None:
            return f'{text}; see the log of nova-compute'
        return f'{text}: {errors.clean(cause)}'

    def _recorded_events(
        self, context: base.ActionContext, server: 'Server'
    ) -> Sequence[Any]:
        """Return the events that nova has recorded for the last task."""
        compute = self.connect(context).compute
        try:
            with errors.translated(COMPUTE, f'Instance {server.id}'):
                # The newest is first.
                recent = next(iter(compute.server_actions(server.id)), None)
                if recent is None or recent.action not in self.nova_actions:
                    return ()
                found = compute.get_server_action(recent.request_id, server.id)
        except exceptions.ServiceUnavailable:
            raise
        except exceptions.WatcherliteError as error:
            # The text adds to a failure that is certain.
            LOG.info('The cause of a failure cannot be read: %s', error)
            return ()
        return found.events or ()


class ResizedAction(ServerAction):
    """Changes a server by an operation that nova wants confirmed.

    A server in VERIFY_RESIZE is confirmed. A cancelled action reverts it, but nova
    cannot abort the operation before.
    """

    tasks = _RESIZING

    def is_resized(self, server: 'Server', goal: Goal) -> bool:
        """Return whether the operation awaiting confirmation is the one of the goal."""
        raise NotImplementedError

    def is_running(self, server: 'Server', goal: Goal) -> bool:
        return super().is_running(server, goal) or self._awaits_decision(server, goal)

    def advance(
        self, context: base.ActionContext, server: 'Server', token: Mapping[str, Any]
    ) -> Outcome:
        goal = token[GOAL]
        if not self._awaits_decision(server, goal):
            return super().advance(context, server, token)
        if token[STEP] != CONFIRMING:
            self._confirm(context, server)
        return self.wait(token, CONFIRMING)

    def cancel(self, context: base.ActionContext, token: Any) -> None:
        goal = delays.inner_token(token)[GOAL]
        server = self.read(context, goal)
        if server is None:
            return
        if self._awaits_decision(server, goal):
            context.fence()
            with errors.translated(COMPUTE, f'Instance {server.id}'):
                self.connect(context).compute.revert_server_resize(server.id)
        elif server.task_state is not None:
            context.log(
                f'Instance {server.id}: nova cannot abort this operation; confirm or '
                f'revert it when the instance is in {VERIFY_RESIZE}'
            )

    def _awaits_decision(self, server: 'Server', goal: Goal) -> bool:
        return (
            server.status == VERIFY_RESIZE
            and server.task_state is None
            and self.is_resized(server, goal)
        )

    def _confirm(self, context: base.ActionContext, server: 'Server') -> None:
        context.fence()
        try:
            with errors.translated(COMPUTE, f'Instance {server.id}'):
                self.connect(context).compute.confirm_server_resize(server.id)
        except (exceptions.Conflict, exceptions.Invalid) as error:
            # It is being confirmed, by an earlier request or by nova itself.
            LOG.info(
                'The confirmation was refused; the server is read again: %s', error
            )


def abort_live_migration(
    action: CloudAction,
    context: base.ActionContext,
    uuid: str,
    pauses: Sequence[float],
    sleep: Callable[[float], None],
) -> None:
    """Abort the live migration of a server.

    nova refuses it in the first moments of a migration.

    :param pauses: the seconds before each retry
    """
    compute = action.connect(context).compute
    for pause in (*pauses, None):
        context.fence()
        try:
            with errors.translated(COMPUTE, f'Instance {uuid}'):
                found = list(compute.server_migrations(uuid))
                for migration in found:
                    compute.abort_server_migration(migration.id, uuid)
            if found or pause is None:
                return
        except (exceptions.Conflict, exceptions.Invalid):
            if pause is None:
                raise
        sleep(pause)
