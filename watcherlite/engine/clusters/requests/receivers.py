"""Operations on receivers."""

import urllib.parse
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.domain import bearer_tokens, events
from watcherlite.domain.clusters import WEBHOOK, Cluster, Receiver
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.requests import action_inputs as making
from watcherlite.engine.clusters.requests import values
from watcherlite.engine.clusters.requests.actions import ActionOperations
from watcherlite.engine.clusters.requests.base import (
    ActionRequest,
    ClusterOperationBase,
    Values,
)
from watcherlite.engine.clusters.requests.values import (
    Accepted,
    IssuedReceiver,
    NewReceiver,
    RequestContext,
)
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.execution.ports import SignalSender
from watcherlite.execution.retries import retry_on_conflict

#: Fields that a request may change.
CHANGES = ('name', 'action', 'params')
#: What of a request has a receiver be triggered by a new token, and by no other.
RENEWAL = 'renew_token'
#: Said of a webhook that there is not, and of one that is called without its token.
NO_WEBHOOK = (
    'There is no webhook of this address: the receiver is gone, or the token of the '
    'address is missing or is not its token. A new one is issued with '
    f"'{RENEWAL}'."
)
#: The version of the protocol of webhooks: what is sent becomes inputs as it is.
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
        self, new: NewReceiver, by: RequestContext, base_url: str
    ) -> IssuedReceiver:
        """Store a receiver; return it with its token, which nobody sees again.

        :param base_url: of the clustering API with its version: where its webhook is
        :raises BadRequest: what is wrong with it
        """
        name = values.parse_name(new.name)
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
        check_action(new.action)
        try:
            cluster = self.store.find_object(Cluster, new.cluster, by.tenant)
        except exceptions.NotFound:
            raise exceptions.BadRequest(
                f"The referenced cluster '{new.cluster}' could not be found."
            ) from None
        uuid, token = events.new_uuid(), bearer_tokens.new_token()
        params = values.parse_mapping(new.params, 'params')
        making.validate_parameters(self.parts, new.action, params)
        receiver = Receiver(
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
        return IssuedReceiver(self.insert_object(receiver), token)

    def update(self, name: str, by: RequestContext, changes: Values) -> IssuedReceiver:
        """Change what a receiver asks for, or the token that triggers it.

        :param changes: of CHANGES, and RENEWAL
        """
        values.check_known_keys(changes, (*CHANGES, RENEWAL))
        wanted: dict[str, Any] = {}
        token = None
        if values.parse_boolean(changes.get(RENEWAL) or False, RENEWAL):
            token = bearer_tokens.new_token()
            wanted['token_digest'] = bearer_tokens.digest_of(token)
        if changes.get('name') is not None:
            wanted['name'] = values.parse_name(changes['name'])
        if changes.get('action') is not None:
            check_action(changes['action'])
            wanted['action'] = changes['action']
        if changes.get('params') is not None:
            wanted['params'] = values.parse_mapping(changes['params'], 'params')
        changed = self.update_object(Receiver, name, by, wanted, self._completed)
        return IssuedReceiver(changed, token)

    def _completed(self, row: Receiver) -> Values:
        """Check a receiver as it is to be; return what its parameters change."""
        making.validate_parameters(self.parts, str(row.action), row.params)
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
        """Refuse it: only receivers of type message have messages to look for."""
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
        """Ask for what a webhook is for; its token is the authority to do so.

        :param params: inputs of the action, over those of the receiver. What the
            action knows nothing of is passed over: what monitoring systems send is
            made for no receiver
        :param wait: it is queued where its cluster is busy; else that is refused
        :raises NotFound: there is no such receiver, or the token is not its token
        """
        row = self._triggered(uuid)
        digest = None if row is None else row.token_digest
        if not bearer_tokens.is_valid(token, digest) or row is None:
            raise exceptions.NotFound(NO_WEBHOOK)
        known = making.known_parameters(str(row.action))
        sent = values.parse_mapping(params, 'params')
        given = {**row.params, **{k: v for k, v in sent.items() if k in known}}
        cluster = self._cluster(row)
        context = {
            'user_id': row.owner.user,
            'project_id': row.owner.tenant,
            'receiver': row.uuid,
        }
        by = RequestContext(row.owner, context={k: v for k, v in context.items() if v})
        name = action_types.unique_name(f'webhook_{row.uuid[:8]}')
        request = ActionRequest(str(row.action), by, wait, name=name)
        return self._actions.request(cluster, request, given)

    def _triggered(self, uuid: str) -> Receiver | None:
        """Return the receiver of a uuid; no name and no part of a uuid is one."""
        try:
            row = self.store.find_object(Receiver, uuid, None)
        except (exceptions.NotFound, exceptions.Ambiguous):
            return None  # not there, or a text that several have in common
        return row if row.uuid == uuid.lower() else None

    def _cluster(self, row: Receiver) -> Cluster:
        key = row.cluster_id or 0
        cluster = self.store.objects_by_id(Cluster, [key]).get(key)
        if cluster is None or cluster.deleted_at is not None:
            raise exceptions.BadRequest(
                f"The cluster of the receiver '{row.uuid}' could not be found."
            )
        return cluster


def check_action(action_type: Any) -> None:
    """Raise BadRequest for an action that a receiver cannot request."""
    askable = sorted(making.REQUESTABLE & action_types.CLUSTER_TYPES)
    if action_type not in askable:
        raise exceptions.BadRequest(
            f"Illegal action '{action_type}' specified; a receiver asks for "
            f'{", ".join(askable)}.'
        )


def alarm_url(base_url: str, uuid: str, params: Values) -> str:
    """Return the URL that triggers a webhook, as it is stored: without its token."""
    query = urllib.parse.urlencode([('V', PROTOCOL), *sorted(params.items())])
    return f'{base_url.rstrip("/")}/webhooks/{uuid}/trigger?{query}'
