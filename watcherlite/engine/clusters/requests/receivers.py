"""Operations on receivers."""

import urllib.parse
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.credentials import AUTHORITY
from watcherlite.domain import bearer_tokens, events
from watcherlite.domain.clusters import WEBHOOK, Cluster, NewReceiver, Receiver
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.requests import action_inputs, values
from watcherlite.engine.clusters.requests.actions import ActionOperations
from watcherlite.engine.clusters.requests.base import (
    ActionRequest,
    ClusterOperationBase,
    Values,
)
from watcherlite.engine.clusters.requests.values import (
    Accepted,
    IssuedReceiver,
    ReceiverRequest,
    RequestContext,
)
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.execution.ports import SignalSender
from watcherlite.execution.retries import retry_on_conflict

#: The field that replaces the token of a receiver.
RENEWAL = 'renew_token'
#: The error for an unknown webhook, and for one with a wrong token.
NO_WEBHOOK = (
    'There is no webhook of this address: the receiver does not exist, or the token of '
    'the address is missing or wrong. A new token is issued with '
    f"'{RENEWAL}'."
)
#: The version of the webhook protocol: the parameters become inputs unchanged.
PROTOCOL = '2'


class ReceiverOperations(ClusterOperationBase):
    """The operations on receivers; a name is a uuid, a name or a short id."""

    def __init__(
        self,
        parts: ClusterServices,
        clock: Clock,
        signals: SignalSender,
        actions: ActionOperations,
    ) -> None:
        super().__init__(parts, clock, signals)
        self._actions = actions

    def create(
        self, new: ReceiverRequest, by: RequestContext, base_url: str
    ) -> IssuedReceiver:
        """Store a receiver; return it with its token, which is not stored.

        :param base_url: of the clustering API with its version: where its webhook is
        :raises BadRequest: the request is invalid
        """
        name = values.parse_name(new.name)
        cluster = self._validated_cluster(new, by)
        uuid, token = events.new_uuid(), bearer_tokens.new_token()
        params = values.parse_mapping(new.params, 'params')
        action_inputs.validate_parameters(self.parts, str(new.action), params)
        receiver = NewReceiver(
            uuid=uuid,
            name=name,
            type=WEBHOOK,
            owner=by.owner,
            cluster_id=cluster.id,
            action=new.action,
            actor=values.parse_mapping(new.actor, 'actor'),
            params=params,
            channel={'alarm_url': alarm_url(base_url, uuid, params)},
            created_at=self.clock.now(),
            token_digest=bearer_tokens.digest_of(token),
        )
        _, credential = by.delegated(uuid)
        return IssuedReceiver(self.insert_object(Receiver, receiver, credential), token)

    def _validated_cluster(self, new: ReceiverRequest, by: RequestContext) -> Cluster:
        """Validate the type and the action of a request; return its cluster."""
        if new.type != WEBHOOK:
            raise exceptions.BadRequest(
                f"Receivers of type '{new.type}' are not supported; those of type "
                f"'{WEBHOOK}' are."
            )
        if not new.cluster:
            raise exceptions.BadRequest(
                'Cluster identity is required for creating webhook receiver.'
            )
        if not new.action:
            raise exceptions.BadRequest(
                'Action name is required for creating webhook receiver.'
            )
        parse_action(new.action)
        try:
            return self.store.find_object(Cluster, new.cluster, by.tenant)
        except exceptions.NotFound:
            raise exceptions.BadRequest(
                f"The referenced cluster '{new.cluster}' could not be found."
            ) from None

    def update(self, name: str, by: RequestContext, changes: Values) -> IssuedReceiver:
        """Change the action of a receiver, or its token.

        :param changes: of CHANGES, and RENEWAL
        """
        values.check_known_keys(changes, (*CHANGES, RENEWAL))
        requested = values.parse_changes(changes, CHANGES)
        token = None
        if values.parse_boolean(changes.get(RENEWAL) or False, RENEWAL):
            token = bearer_tokens.new_token()
            requested['token_digest'] = bearer_tokens.digest_of(token)
        changed = self.update_object(
            Receiver, name, by, requested, self._derive_channel
        )
        return IssuedReceiver(changed, token)

    def _derive_channel(self, row: Receiver) -> Values:
        """Validate a changed receiver; return its channel."""
        action_inputs.validate_parameters(self.parts, str(row.action), row.params)
        url = str(row.channel['alarm_url'])
        base = url.partition(f'/webhooks/{row.uuid}')[0]
        url = alarm_url(base, row.uuid, row.params)
        return {'channel': {**row.channel, 'alarm_url': url}}

    @retry_on_conflict
    def delete(self, name: str, by: RequestContext) -> None:
        """Delete a receiver with its webhook."""
        row = self.store.find_object(Receiver, name, by.tenant)
        with self.store.transaction() as tx:
            tx.delete_object(row)

    def notify(self, name: str, by: RequestContext) -> None:
        """Reject the request: only receivers of type message have messages."""
        row = self.store.find_object(Receiver, name, by.tenant)
        raise exceptions.BadRequest(
            f"The receiver '{row.uuid}' is of type '{row.type}', which is triggered "
            'and not notified.'
        )

    def trigger(
        self,
        uuid: str,
        token: str | None,
        params: Values | None = None,
        *,
        wait: bool = False,
    ) -> Accepted[Cluster]:
        """Request the action of a webhook; its token authorizes the request.

        :param params: override the parameters of the receiver; unknown ones, which
            monitoring systems send, are ignored
        :param wait: see `RequestContext`
        :raises NotFound: the receiver does not exist, or the token is wrong
        """
        row = self._find_triggered(uuid)
        digest = None if row is None else row.token_digest
        if not bearer_tokens.is_valid(token, digest) or row is None:
            raise exceptions.NotFound(NO_WEBHOOK)
        known = action_inputs.known_parameters(str(row.action))
        sent = values.parse_mapping(params, 'params')
        given = {**row.params, **{k: v for k, v in sent.items() if k in known}}
        cluster = self._cluster(row)
        found = {
            'user_id': row.owner.user,
            'project_id': row.owner.tenant,
            'receiver': row.uuid,
        }
        context = {key: value for key, value in found.items() if value}
        if self.store.find_credential(row.uuid) is not None:
            context[AUTHORITY] = row.uuid
        by = RequestContext(row.owner, context=context, wait=wait)
        name = action_types.unique_name(f'webhook_{row.uuid[:8]}')
        request = ActionRequest(str(row.action), by, name=name)
        return self._actions.request(cluster, request, given)

    def _find_triggered(self, uuid: str) -> Receiver | None:
        """Return the receiver of a full uuid; None: there is none."""
        try:
            row = self.store.find_object(Receiver, uuid, None)
        except (exceptions.NotFound, exceptions.Ambiguous):
            return None
        return row if row.uuid == uuid.lower() else None

    def _cluster(self, row: Receiver) -> Cluster:
        ids = [] if row.cluster_id is None else [row.cluster_id]
        cluster = next(iter(self.store.objects_by_id(Cluster, ids).values()), None)
        if cluster is None or cluster.deleted_at is not None:
            raise exceptions.BadRequest(
                f"The cluster of the receiver '{row.uuid}' could not be found."
            )
        return cluster


def parse_action(action_type: Any, field: str = 'action') -> str:
    """Return the action type that a receiver requests; raises BadRequest."""
    requestable = sorted(action_inputs.REQUESTABLE & action_types.CLUSTER_TYPES)
    if action_type not in requestable:
        raise exceptions.BadRequest(
            f"Illegal action '{action_type}' specified; a receiver can request "
            f'{", ".join(requestable)}.'
        )
    return str(action_type)


#: The fields that a request may change, and the parser of each.
CHANGES: Mapping[str, values.Parser] = {
    'name': values.parse_name,
    'action': parse_action,
    'params': values.parse_mapping,
}


def alarm_url(base_url: str, uuid: str, params: Values) -> str:
    """Return the URL that triggers a webhook, as it is stored: without its token."""
    query = urllib.parse.urlencode([('V', PROTOCOL), *sorted(params.items())])
    return f'{base_url.rstrip("/")}/webhooks/{uuid}/trigger?{query}'
