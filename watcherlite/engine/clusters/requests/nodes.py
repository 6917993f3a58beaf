"""Operations on nodes."""

from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain import capacity
from watcherlite.domain.clusters import Cluster, NewNode, Node, Profile
from watcherlite.domain.events import new_uuid
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions.update_batches import is_outdated
from watcherlite.engine.clusters.projection import events
from watcherlite.engine.clusters.projection.transitions import evaluated
from watcherlite.engine.clusters.requests import admission, health_marks, values
from watcherlite.engine.clusters.requests.adoption import NodeAdoption
from watcherlite.engine.clusters.requests.base import ActionRequest, Values
from watcherlite.engine.clusters.requests.target_operations import TargetOperations
from watcherlite.engine.clusters.requests.values import (
    Accepted,
    NodeRequest,
    RequestContext,
)
from watcherlite.execution.retries import retry_on, retry_on_conflict
from watcherlite.states import cluster as states


class NodeOperations(NodeAdoption, TargetOperations[Node]):
    """The operations on nodes."""

    kind, noun = Node, 'NODE'
    parsers: ClassVar[Mapping[str, values.Parser]] = {
        'name': values.parse_name,
        'role': values.parse_role,
        'metadata': values.parse_mapping,
        'tainted': values.parse_boolean,
    }

    def create(self, new: NodeRequest, by: RequestContext) -> Accepted[Node]:
        """Store a node as INIT, in a cluster or in none, and request its creation.

        :raises BadRequest, Invalid: the request is invalid
        """
        name = values.parse_name(new.name)
        profile = self.resolve_reference(Profile, new.profile, by)
        node = NewNode(
            uuid=new_uuid(),
            name=name,
            owner=by.owner,
            profile_id=profile.id,
            handler=profile.handler,
            role=values.parse_role(new.role),
            metadata=values.parse_mapping(new.metadata, 'metadata'),
            status_reason='Initializing',
            init_at=self.clock.now(),
        )
        cluster, credential = None, None
        if new.cluster:
            cluster = self.resolve_reference(Cluster, new.cluster, by)
            if profile.type != self.parts.profile(cluster.profile_id).type:
                raise exceptions.BadRequest(
                    'Node and cluster have different profile type, operation aborted.'
                )
        else:
            by, credential = by.delegated(node.uuid)
        request = ActionRequest(action_types.NODE_CREATE, by)
        return self._insert(cluster, node, request, credential)

    @retry_on_conflict
    def _insert(
        self,
        found: Cluster | None,
        node: NewNode,
        request: ActionRequest,
        credential: str | None,
    ) -> Accepted[Node]:
        row, now = None, self.clock.now()
        with self.store.transaction() as tx:
            if found is not None:
                row = admission.lock_cluster(tx, found.uuid)
                size = row.desired_capacity + 1
                capacity.check_sizes(row, size, strict=True, most=self.limits.nodes)
                if not (request.by.wait or self.is_scheduled(request, now)):
                    admission.check_idle(tx, request.action_type, node, row, now)
                # Its action increases the desired capacity of the cluster.
                index = row.next_index
                node = node.evolve(cluster_id=row.id, index=index, owner=row.owner)
            self.check_unique(tx, Node, node.name, node.owner.tenant)
            if row is not None:
                tx.save_clusters([row.evolve(next_index=row.next_index + 1)])
            stored = tx.insert_object(node)
            if credential is not None:
                tx.assign_credential(credential, stored.uuid)
            action = self.insert_action(tx, request, stored, row, {}, now)
        self.announce(action)
        return Accepted(action.uuid, stored)

    def _is_outdated(
        self, tx: Transaction, row: Node, profile: Profile, options: Values
    ) -> bool:
        return is_outdated(row, profile)

    @retry_on(exceptions.StoreConflict, exceptions.OutOfDate)
    def mark_unhealthy(
        self, name: str, by: RequestContext, unhealthy: Any = True, reason: Any = None
    ) -> Node:
        """Mark a node as unhealthy, or remove the mark; evaluate its cluster.

        :raises ResourceIsLocked, ActionConflict: an action changes it or its cluster
        """
        is_mark = values.parse_boolean(unhealthy, 'mark_unhealthy')
        text = health_marks.parse_reason(reason)
        found = self.store.find_object(Node, name, by.tenant)
        now = self.clock.now()
        with self.store.transaction() as tx:
            cluster, row = admission.lock_node(tx, found)
            admission.check_idle(tx, health_marks.ACTION, row, cluster, now)
            changed = health_marks.add_mark if is_mark else health_marks.remove_mark
            after = changed(row, text)
            if after is row:
                return row
            after = after.evolve(updated_at=now)
            tx.save_nodes([after])
            if cluster is not None and cluster.created_at is not None:
                key = cluster.id
                active = tx.count_nodes([key]).get(key, {}).get(states.ACTIVE, 0)
                marked = evaluated(cluster, health_marks.ACTION, active)
                tx.save_clusters([marked.evolve(updated_at=now)])
            inputs = {'mark_unhealthy': is_mark, 'status_reason': text}
            label = action_types.unique_name(health_marks.NAME.format(row.uuid[:8]))
            request = ActionRequest(health_marks.ACTION, by, name=label)
            action = self.insert_action(
                tx, request, row, cluster, inputs, now, done=True
            )
            around = cluster.uuid if cluster is not None else None
            event = events.target_event(
                row, after, action, events.END, now, cluster=around
            )
            tx.add_events([event])
        self.announce()
        return after
