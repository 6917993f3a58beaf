"""What users do with receivers; see `operations`."""

import urllib.parse
from collections.abc import Callable
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.clustering import not_found
from watcherlite.domain import events
from watcherlite.domain.clusters import WEBHOOK, Cluster, Receiver
from watcherlite.engine.clusters import actions, asking
from watcherlite.engine.clusters import inputs as making
from watcherlite.engine.clusters.asked_actions import ActionOperations
from watcherlite.engine.clusters.asking import Asker, Begun, NewReceiver
from watcherlite.engine.clusters.parts import Parts
from watcherlite.engine.clusters.requesting import Requests, Values, Wish
from watcherlite.execution.conflicts import again_on_conflict

#: What of a receiver a request may change.
CHANGES = ('name', 'action', 'params')
#: The version of the protocol of webhooks: what is sent becomes inputs as it is.
PROTOCOL = '2'


class ReceiverOperations(Requests):
    """The operations on receivers; a name is a uuid, a name or a short id."""

    def __init__(
        self,
        parts: Parts,
        clock: Clock,
        signal: Callable[[str, str], Any],
        asked: ActionOperations,
    ) -> None:
        super().__init__(parts, clock, signal)
        self._asked = asked

    def create(self, new: NewReceiver, by: Asker, base_url: str) -> Receiver:
        """Store a receiver.

        :param base_url: of the clustering API with its version: where its webhook is
        :raises BadRequest: what is wrong with it
        """
        name = asking.name_of(new.name)
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
            cluster = self.store.find_noun(Cluster, new.cluster, by.tenant)
        except exceptions.NotFound:
            raise exceptions.BadRequest(
                f"The referenced cluster '{new.cluster}' could not be found."
            ) from None
        uuid = events.new_uuid()
        params = asking.mapping_of(new.params, 'params')
        making.kept(self.parts, new.action, params)
        receiver = Receiver(
            uuid=uuid,
            name=name,
            type=WEBHOOK,
            owner=by.owner,
            cluster_id=cluster.id,
            action=new.action,
            actor=asking.mapping_of(new.actor, 'actor'),
            params=params,
            channel={'alarm_url': alarm_url(base_url, uuid, params)},
            created_at=self.clock.now(),
        )
        return self.store_noun(receiver)

    def update(self, name: str, by: Asker, changes: Values) -> Receiver:
        """Change what a receiver asks for.

        :param changes: of CHANGES
        """
        asking.known_keys(changes, CHANGES)
        wanted: dict[str, Any] = {}
        if changes.get('name') is not None:
            wanted['name'] = asking.name_of(changes['name'])
        if changes.get('action') is not None:
            check_action(changes['action'])
            wanted['action'] = changes['action']
        if changes.get('params') is not None:
            wanted['params'] = asking.mapping_of(changes['params'], 'params')
        return self.change_noun(Receiver, name, by, wanted, self._completed)

    def _completed(self, row: Receiver) -> Values:
        """Check a receiver as it is to be; return what its parameters change."""
        making.kept(self.parts, str(row.action), row.params)
        url = str(row.channel['alarm_url'])
        base = url.partition(f'/webhooks/{row.uuid}')[0]
        url = alarm_url(base, row.uuid, row.params)
        return {'channel': {**row.channel, 'alarm_url': url}}

    @again_on_conflict
    def delete(self, name: str, by: Asker) -> None:
        """Delete a receiver: its webhook is not there any more."""
        row = self.store.find_noun(Receiver, name, by.tenant)
        with self.store.transaction() as tx:
            tx.delete_noun(row)

    def notify(self, name: str, by: Asker) -> None:
        """Refuse it: only receivers of type message have messages to look for."""
        row = self.store.find_noun(Receiver, name, by.tenant)
        raise exceptions.BadRequest(
            f"The receiver '{row.uuid}' is of type '{row.type}', which is triggered "
            'and not notified.'
        )

    def trigger(self, uuid: str, params: Values | None = None) -> Begun[Cluster]:
        """Ask for what a webhook is for; to know its uuid is to be allowed to.

        :param params: inputs of the action, over those of the receiver. What the
            action knows nothing of is passed over: what monitoring systems send is
            made for no receiver
        :raises NotFound: there is no such receiver
        """
        row = self.store.find_noun(Receiver, uuid, None)
        if row.uuid != uuid.lower():
            raise not_found(Receiver, uuid)
        known = making.known(str(row.action))
        sent = asking.mapping_of(params, 'params')
        given = {**row.params, **{k: v for k, v in sent.items() if k in known}}
        cluster = self._cluster(row)
        context = {
            'user_id': row.owner.user,
            'project_id': row.owner.tenant,
            'receiver': row.uuid,
        }
        by = Asker(row.owner, context={k: v for k, v in context.items() if v})
        wish = Wish(str(row.action), by, name=f'webhook_{row.uuid[:8]}')
        return self._asked.ask_for(cluster, wish, given)

    def _cluster(self, row: Receiver) -> Cluster:
        key = row.cluster_id or 0
        cluster = self.store.nouns_by_id(Cluster, [key]).get(key)
        if cluster is None or cluster.deleted_at is not None:
            raise exceptions.BadRequest(
                f"The cluster of the receiver '{row.uuid}' could not be found."
            )
        return cluster


def check_action(action_type: Any) -> None:
    """Raise BadRequest for what a receiver cannot ask for."""
    askable = sorted(making.ASKABLE & actions.CLUSTER_TYPES)
    if action_type not in askable:
        raise exceptions.BadRequest(
            f"Illegal action '{action_type}' specified; a receiver asks for "
            f'{", ".join(askable)}.'
        )


def alarm_url(base_url: str, uuid: str, params: Values) -> str:
    """Return the URL that triggers a webhook."""
    query = urllib.parse.urlencode([('V', PROTOCOL), *sorted(params.items())])
    return f'{base_url.rstrip("/")}/webhooks/{uuid}/trigger?{query}'
