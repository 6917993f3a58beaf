"""What users do with actions; see `operations`."""

import contextlib
import datetime
from collections.abc import Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import EPOCH
from watcherlite.db.api import Transaction
from watcherlite.db.clustering import ListedAction, not_found
from watcherlite.domain import json_values
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters import actions, asking, forcing, lifecycle_hooks
from watcherlite.engine.clusters import inputs as making
from watcherlite.engine.clusters.asking import Asker, Begun, NewAction
from watcherlite.engine.clusters.requesting import Requests, Values, Wish
from watcherlite.engine.stacks import plan_actions as of_stacks
from watcherlite.plugins.base import ACTION_TYPES
from watcherlite.states import action as states

#: Status that an action is to have -> the signal that leads there.
SIGNALS = {
    states.CANCELLED: states.CANCEL,
    states.SUSPENDED: states.SUSPEND,
    states.RUNNING: states.RESUME,
}


class ActionOperations(Requests):
    """The operations on actions."""

    def create(self, new: NewAction, *askers: Asker, wait: bool = False) -> Begun[Any]:
        """Have an action done on a cluster or node: one that users define.

        It is any action type that is installed; under the same locks as all others,
        and policies are asked about it. What is done with clusters anyway, and needs
        no more than inputs, can be asked for like this at a certain time, or again
        and again.

        :param askers: who asks, once for each place where the target is looked for
        :raises BadRequest: what is wrong with it
        :raises PluginNotFound: there is no such type
        """
        target, by = self._reached(new, askers)
        interval = 0
        if new.interval is not None:
            interval = max(0, asking.number_of(new.interval, 'interval'))
        timeout = None
        if new.timeout is not None:
            timeout = asking.number_of(new.timeout, 'timeout', 0)
        wish = Wish(
            new.action,
            by,
            wait,
            name=None if new.name is None else asking.name_of(new.name),
            interval=interval,
            not_before=_moment(new.not_before),
            timeout=timeout,
        )
        given = asking.mapping_of(new.inputs, 'inputs')
        if new.action in actions.KINDS:
            return self.ask_for(target, wish, given)
        self._check_type(new.action, given)
        if isinstance(target, Cluster):
            return self.on_cluster(target.uuid, wish, lambda tx, row: given)
        return self.on_node(target.uuid, wish, lambda tx, cluster, row: given)

    def _reached(
        self, new: NewAction, askers: Sequence[Asker]
    ) -> tuple[Cluster | Node, Asker]:
        """Return the target, and who asks, as one in its project; BadRequest."""
        *before, by = askers
        for near in before:
            with contextlib.suppress(exceptions.BadRequest):
                target = self._target(new, near)
                return target, near.within(target.owner.tenant)
        target = self._target(new, by)
        return target, by.within(target.owner.tenant)

    def _target(self, new: NewAction, by: Asker) -> Cluster | Node:
        """Return the cluster or node that is meant; BadRequest."""
        kind = actions.KINDS.get(new.action)
        if kind is not None and kind.on_cluster:
            return self.meant(Cluster, new.target, by)
        if kind is not None:
            return self.meant(Node, new.target, by)
        try:
            return self.store.find_noun(Cluster, new.target, by.tenant)
        except exceptions.NotFound:
            pass
        try:
            return self.store.find_noun(Node, new.target, by.tenant)
        except exceptions.NotFound:
            raise exceptions.BadRequest(
                f"The specified target '{new.target}' could not be found: there is "
                'neither a cluster nor a node of that name.'
            ) from None

    def _check_type(self, name: str, inputs: Values) -> None:
        """Refuse types that users may not ask for, and inputs that do not fit."""
        allowed = self.limits.user_actions
        if name in of_stacks.TYPES or (allowed and name not in allowed):
            known = f': {", ".join(sorted(allowed))}' if allowed else ''
            raise exceptions.BadRequest(
                f"The action type '{name}' is not for clusters and nodes; those that "
                f'this installation allows are{known or " all others"}.'
            )
        made = self.parts.plugins.make(ACTION_TYPES, name)
        making.fit_type(self.parts, made, inputs, 'inputs')

    def ask_for(self, target: Cluster | Node, wish: Wish, given: Values) -> Begun[Any]:
        """Ask for one of `inputs.ASKABLE`; BadRequest for others."""
        check_askable(wish.action_type)
        kind = wish.action_type

        def inputs(row: Cluster | Node) -> Values:
            profile = self.parts.profile(row.profile_id)
            return making.requested(self.parts, kind, profile, given)

        def on_node(tx: Transaction, cluster: Cluster | None, row: Node) -> Values:
            return inputs(row)

        if isinstance(target, Cluster):
            return self.on_cluster(target.uuid, wish, lambda tx, row: inputs(row))
        return self.on_node(target.uuid, wish, on_node)

    def update(
        self, uuid: str, by: Asker, status: Any, *, force: bool = False
    ) -> ListedAction:
        """Cancel, suspend or resume an action.

        :param status: CANCELLED, SUSPENDED or RUNNING
        :param force: end it and all that it derived now, whoever works on it; what
            comes of that work counts no more. For those who may do that
        :raises ActionImmutable: its status does not allow it
        """
        signal = SIGNALS.get(str(status))
        if signal is None:
            raise exceptions.BadRequest(
                f'Field value {status} is invalid: an action is to become '
                f'{", ".join(SIGNALS)}.'
            )
        found = self.store.find_cluster_action(uuid, by.tenant).action
        if found.uuid != uuid.lower():
            # It is done with actions by their uuids alone.
            raise not_found(Action, uuid)
        try:
            if force and signal == states.CANCEL:
                forcing.end(self, found)
            else:
                self.signal(found.uuid, signal)
        except exceptions.Conflict as error:
            raise self._immutable(found.uuid, signal, error) from None
        return self.store.find_cluster_action(found.uuid, by.tenant)

    def complete_lifecycle(self, cluster: str, by: Asker, token: str) -> Action:
        """Let the node of a lifecycle hook go; see `lifecycle_hooks.complete`."""
        return lifecycle_hooks.complete(self, cluster, token, by)

    def _immutable(
        self, uuid: str, signal: str, error: exceptions.Conflict
    ) -> exceptions.ActionImmutable:
        status = self.store.get_action(uuid).status
        allowed = states.SIGNAL_ALLOWED[signal]
        if status in allowed:
            return exceptions.ActionImmutable(str(error))
        expected = ', '.join(s for s in states.STATES if s in allowed)
        return exceptions.ActionImmutable(
            f'Action ({uuid}) is in status ({status}) while expected status must be '
            f'one of ({expected}).'
        )


def check_askable(action_type: str) -> None:
    """Raise BadRequest for what needs more than inputs, or has its own request."""
    if action_type not in making.ASKABLE:
        raise exceptions.BadRequest(
            f"Illegal action '{action_type}' specified; it can be one of "
            f'{", ".join(sorted(making.ASKABLE))}.'
        )


def _moment(value: Any) -> datetime.datetime:
    """Return a time in UTC, which may come as text; BadRequest."""
    if value is None:
        return EPOCH
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value)
        except ValueError:
            raise exceptions.BadRequest(
                f"The value for not_before is no time in ISO 8601: '{value[:40]}'."
            ) from None
    if not isinstance(value, datetime.datetime):
        what = json_values.kind(value)
        raise exceptions.BadRequest(
            f'The value for not_before must be a time, not {what}.'
        )
    if value.tzinfo is None:
        value = value.replace(tzinfo=datetime.UTC)
    try:
        # Earlier than EPOCH nothing is looked for.
        return max(value.astimezone(datetime.UTC), EPOCH)
    except OverflowError:
        raise exceptions.BadRequest(
            f'The value for not_before is out of range: {value}.'
        ) from None
