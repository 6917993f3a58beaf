"""Clusters, nodes, profiles, policies and receivers of the clustering service."""

import functools
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.resource_results import (
    Property,
    Ready,
    ResourceInProgress,
    Result,
)
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields
from watcherlite.plugins.openstack.resources.cloud_resource import (
    CloudResource,
    record_of,
)
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.markers import KEY, Marker, MetadataMarker
from watcherlite.plugins.openstack.resources.references import (
    Reference,
    missing_as_none,
)
from watcherlite.plugins.resource_handlers.errors import ResourceFault

CLUSTER = Reference('clustering', 'cluster')
POLICY = Reference('clustering', 'policy')
PROFILE = Reference('clustering', 'profile')

_SUCCEEDED = 'SUCCEEDED'
_UNSUCCESSFUL = frozenset({'FAILED', 'CANCELLED'})
#: The number of times that a request is repeated while another action runs.
_MOST_CONFLICTS = 30
# The stages of changes
_UPDATE, _RESIZE, _BIND, _UNBIND, _MOVE = 'update', 'resize', 'bind', 'unbind', 'move'

_NAME = field(
    fields.TEXT, 'The name; the default is a unique one.', updatable=True, sent=OWN
)
_PROFILE = field(
    fields.TEXT,
    'The name or id of the profile.',
    required=True,
    updatable=True,
    sent='profile_id',
    reference=PROFILE,
)
_METADATA = field(fields.MAP, 'The metadata.', default={}, updatable=True)
_SPEC_TYPE = field(
    {'type': 'string', 'pattern': '^.+-[^-]+$', 'description': 'TYPE-VERSION'},
    'The type and its version, for example `os.nova.server-1.0`.',
    required=True,
    sent=OWN,
)
_ENABLED = {**fields.FLAG, 'default': True}

#: The ids of a cluster and of a policy -> whether it is enabled.
Bindings = dict[tuple[str, str], bool]


class ClusteringResource(CloudResource):
    """An object whose changes are actions of the service, one after the other.

    :cvar stages: the stages of an update, with the properties that each changes
    :cvar completing: the stages that also complete a creation
    """

    service = 'clustering'
    marker: ClassVar[Marker] = MetadataMarker()
    stages: ClassVar[Mapping[str, Collection[str]]] = {}
    completing: ClassVar[Collection[str]] = ()

    def start(
        self, context: ResourceContext, connection: Any, stage: str, before: Any
    ) -> str | None:
        """Start the next action of a stage; return its id.

        :param before: the result of `state_before`
        :returns: None: the stage is complete
        """
        raise NotImplementedError

    def state_before(self, context: ResourceContext, connection: Any) -> Any:
        """Return what the stages need of the former properties (JSON)."""
        return None

    def is_finished(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        return not any(
            context.properties.get(name)
            for stage in self.completing
            for name in self.stages[stage]
        )

    def changes(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> dict[str, Any]:
        return {}

    def apply(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> ResourceInProgress | None:
        todo = [stage for stage in self.stages if set(self.stages[stage]) & set(names)]
        before = self.state_before(context, connection)
        return ResourceInProgress(
            {'step': 'change', 'todo': todo, 'names': sorted(names), 'before': before},
            0.0,
        )

    def step(
        self, context: ResourceContext, connection: Any, operation: str, token: Any
    ) -> Result:
        """Wait for the running action, and start the next one."""
        action = token.get('action')
        if action is not None and not self._has_succeeded(context, connection, action):
            return self.later(token)
        todo = list(token['todo'])
        while todo:
            context.fence()
            try:
                with self._translated(context):
                    started = self._start(context, connection, todo[0], token)
            except exceptions.Conflict:
                # Another action runs on the cluster.
                if token.get('conflicts', 0) >= _MOST_CONFLICTS:
                    raise
                conflicts = token.get('conflicts', 0) + 1
                kept = {**token, 'todo': todo, 'action': None, 'conflicts': conflicts}
                return self.later(kept)
            if started is not None:
                # Each binding is an action of its own.
                left = todo if todo[0] in (_BIND, _UNBIND, _MOVE) else todo[1:]
                return ResourceInProgress(
                    {**token, 'todo': left, 'action': started, 'polls': 0},
                    self.interval,
                )
            todo.pop(0)
        return self._complete(context, connection, operation)

    def _start(
        self, context: ResourceContext, connection: Any, stage: str, token: Any
    ) -> str | None:
        if stage != _UPDATE:
            return self.start(context, connection, stage, token.get('before'))
        names = set(token['names']) & set(self.stages[_UPDATE])
        values = self.values(context.properties)
        body = self.sent(context, connection, values, names)
        return self._patch(connection, str(context.physical_id), body)

    def _complete(
        self, context: ResourceContext, connection: Any, operation: str
    ) -> Result:
        return self._ready(connection, self.existing(context, connection))

    def _wait(
        self, context: ResourceContext, connection: Any, operation: str, token: Any
    ) -> Result:
        result = super()._wait(context, connection, operation, token)
        left = operation == 'create' and not self.is_finished(context, {})
        if not left or not isinstance(result, Ready):
            return result
        todo = list(self.completing)
        return ResourceInProgress({'step': 'change', 'todo': todo}, 0.0)

    def _patch(
        self, connection: Any, physical_id: str, body: Mapping[str, Any]
    ) -> str | None:
        """Update the object; return the id of the action, if there is one.

        The objects of openstacksdk do not have the header with the id.
        """
        # Slow to import, and not needed without a cloud.
        from openstack import exceptions as cloud

        response = self.proxy(connection).patch(
            f'/{self.plural or f"{self.noun}s"}/{physical_id}',
            json={self.noun: dict(body)},
        )
        cloud.raise_from_response(response)
        location = str(response.headers.get('Location') or '')
        return location.rpartition('/')[2] or None

    def _has_succeeded(
        self, context: ResourceContext, connection: Any, action: str
    ) -> bool:
        """Return whether an action has succeeded; raise for one that has not."""
        found = connection.clustering.get_action(action)
        if found.status in _UNSUCCESSFUL:
            raise ResourceFault(
                f'{self._label(context)} {context.physical_id}: the action '
                f'{found.action} is {found.status}: {found.status_reason}'
            )
        return bool(found.status == _SUCCEEDED)

    def attributes_of(
        self, connection: Any, record: Mapping[str, Any]
    ) -> dict[str, Any]:
        found = {name: record.get(name) for name in self.attributes}
        if 'metadata' in found:
            metadata = dict(found['metadata'] or {})
            metadata.pop(KEY, None)
            found['metadata'] = metadata
        return found


def _bind(connection: Any, present: Bindings, desired: Bindings) -> str | None:
    """Start one action that brings bindings closer to the desired ones.

    :returns: None: there is nothing to do
    """
    for pair in sorted(desired):
        cluster, policy = pair
        if pair not in present:
            name = 'policy_attach'
        elif present[pair] != desired[pair]:
            name = 'policy_update'
        else:
            continue
        values = {'policy_id': policy, 'enabled': desired[pair]}
        return _start_action(connection, cluster, name, values)
    for cluster, policy in sorted(present.keys() - desired.keys()):
        values = {'policy_id': policy}
        return _start_action(connection, cluster, 'policy_detach', values)
    return None


def _start_action(
    connection: Any, cluster: str, name: str, values: Mapping[str, Any]
) -> str:
    """Start an action on a cluster; return its id.

    The methods of openstacksdk return error responses as if they were actions.
    """
    # Slow to import, and not needed without a cloud.
    from openstack import exceptions as cloud

    response = connection.clustering.post(
        f'/clusters/{cluster}/actions', json={name: dict(values)}
    )
    cloud.raise_from_response(response)
    return str(response.json()['action'])


def _present(connection: Any, pairs: Collection[tuple[str, str]]) -> Bindings:
    """Return those of some bindings that exist."""
    service = connection.clustering
    found: Bindings = {}
    for cluster, policy in pairs:
        read = functools.partial(service.get_cluster_policy, policy, cluster)
        one = missing_as_none(read)
        if one is not None:
            found[cluster, policy] = bool(one.is_enabled)
    return found


class Cluster(ClusteringResource):
    """A cluster: a number of nodes with one profile."""

    description = 'A number of nodes with one profile.'
    noun = 'cluster'
    settled = frozenset({'ACTIVE', 'WARNING'})
    failed = frozenset({'ERROR', 'CRITICAL'})
    waits_for_deletion = True
    stages: ClassVar[Mapping[str, Collection[str]]] = {
        _UPDATE: ('name', 'profile', 'metadata', 'timeout'),
        _RESIZE: ('desired_capacity', 'min_size', 'max_size'),
        _BIND: ('policies',),
    }
    completing = (_BIND,)
    properties: ClassVar[Mapping[str, Property]] = {
        'name': _NAME,
        'profile': _PROFILE,
        'desired_capacity': field(
            {**fields.INTEGER, 'minimum': 0},
            'The number of nodes.',
            default=0,
            updatable=True,
        ),
        'min_size': field(
            {**fields.INTEGER, 'minimum': 0},
            'The minimum number of nodes.',
            default=0,
            updatable=True,
        ),
        'max_size': field(
            {**fields.INTEGER, 'minimum': -1},
            'The maximum number of nodes; -1: unlimited.',
            default=-1,
            updatable=True,
        ),
        'metadata': _METADATA,
        'timeout': field(
            {**fields.INTEGER, 'minimum': 0},
            'The timeout of its actions in seconds.',
            updatable=True,
        ),
        'policies': field(
            fields.items(
                fields.mapping({'policy': fields.TEXT, 'enabled': _ENABLED}, ['policy'])
            ),
            'Its policies: each a `policy`, by name or id, and whether it is '
            '`enabled`.',
            default=[],
            updatable=True,
            sent=OWN,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'name': 'The name.',
        'metadata': 'The metadata.',
        'desired_capacity': 'The number of nodes.',
        'nodes': 'The ids of its nodes.',
        'policies': 'Its policies: each with its id, name and type, and whether it is '
        'enabled.',
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        least, desired = (
            values.get(name) or 0 for name in ('min_size', 'desired_capacity')
        )
        most = values.get('max_size')
        if most is None or most < 0:
            most = max(least, desired)
        if most < least:
            return ['properties.max_size: is lower than min_size']
        if not least <= desired <= most:
            return [
                'properties.desired_capacity: must be between min_size and max_size'
            ]
        return ()

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        return {name: value for name, value in body.items() if value is not None}

    def state_before(self, context: ResourceContext, connection: Any) -> Any:
        return sorted(_policies(connection, context.before))

    def start(
        self, context: ResourceContext, connection: Any, stage: str, before: Any
    ) -> str | None:
        cluster, values = str(context.physical_id), context.properties
        if stage == _RESIZE:
            sizes = {
                'adjustment_type': 'EXACT_CAPACITY',
                'number': values['desired_capacity'],
                'min_size': values['min_size'],
                'max_size': values['max_size'],
            }
            return _start_action(connection, cluster, 'resize', sizes)
        desired = {
            (cluster, policy): enabled
            for policy, enabled in _policies(connection, values).items()
        }
        # Other policies were attached by others.
        known = {*desired, *((cluster, policy) for policy in before or ())}
        return _bind(connection, _present(connection, known), desired)

    def attributes_of(
        self, connection: Any, record: Mapping[str, Any]
    ) -> dict[str, Any]:
        bound = connection.clustering.cluster_policies(record['id'])
        return {
            **super().attributes_of(connection, record),
            'policies': [_binding_values(record_of(one)) for one in bound],
        }


def _policies(connection: Any, values: Mapping[str, Any]) -> dict[str, bool]:
    return {
        POLICY.id_of(connection, item['policy']): item.get('enabled', True)
        for item in values.get('policies') or ()
    }


def _binding_values(record: Mapping[str, Any]) -> dict[str, Any]:
    names = ('policy_id', 'policy_name', 'policy_type', 'enabled')
    return {name: record.get(name) for name in names}


class Node(ClusteringResource):
    """A node of a cluster, or without one."""

    description = 'A node of a cluster, or without one.'
    noun = 'node'
    settled = frozenset({'ACTIVE', 'WARNING'})
    waits_for_deletion = True
    stages: ClassVar[Mapping[str, Collection[str]]] = {
        _UPDATE: ('name', 'profile', 'metadata'),
        _MOVE: ('cluster',),
    }
    properties: ClassVar[Mapping[str, Property]] = {
        'name': _NAME,
        'profile': _PROFILE,
        'cluster': field(
            fields.TEXT,
            'The name or id of its cluster; the default is none.',
            updatable=True,
            sent='cluster_id',
            reference=CLUSTER,
        ),
        'metadata': _METADATA,
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'cluster_id': 'The id of its cluster; empty without one.',
        'details': 'The details of its physical resource.',
    }

    def start(
        self, context: ResourceContext, connection: Any, stage: str, before: Any
    ) -> str | None:
        """Start to take the node from its cluster, or to add it to the desired one."""
        nodes = {'nodes': [str(context.physical_id)]}
        present = record_of(self.existing(context, connection)).get('cluster_id')
        desired = CLUSTER.ids_of(connection, context.properties.get('cluster'))
        if (present or None) == desired:
            return None
        if present:
            return _start_action(connection, present, 'del_nodes', nodes)
        return _start_action(connection, desired, 'add_nodes', nodes)

    def attributes_of(
        self, connection: Any, record: Mapping[str, Any]
    ) -> dict[str, Any]:
        found = connection.clustering.get_node(record['id'], details=True)
        details = record_of(found).get('details')
        return {'cluster_id': record.get('cluster_id'), 'details': details or {}}


class Profile(ClusteringResource):
    """A profile of nodes."""

    description = 'A profile: a type of nodes with its properties.'
    noun = 'profile'
    stages: ClassVar[Mapping[str, Collection[str]]] = {_UPDATE: ('name', 'metadata')}
    properties: ClassVar[Mapping[str, Property]] = {
        'name': _NAME,
        'type': _SPEC_TYPE,
        'metadata': _METADATA,
        'properties': field(
            fields.MAP, 'The properties of the type.', default={}, sent=OWN
        ),
    }

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        return {**body, 'spec': _spec(context.properties)}


def _spec(values: Mapping[str, Any]) -> dict[str, Any]:
    kind, _, version = values['type'].rpartition('-')
    return {
        'type': kind,
        'version': version,
        'properties': dict(values.get('properties') or {}),
    }


class Policy(ClusteringResource):
    """A policy, with the clusters that it is attached to."""

    description = 'A policy, attached to clusters.'
    noun = 'policy'
    plural = 'policies'
    marker: ClassVar[Marker] = CloudResource.marker
    stages: ClassVar[Mapping[str, Collection[str]]] = {
        _UPDATE: ('name',),
        _BIND: ('bindings',),
    }
    completing = (_BIND,)
    properties: ClassVar[Mapping[str, Property]] = {
        'name': _NAME,
        'type': _SPEC_TYPE,
        'properties': field(
            fields.MAP, 'The properties of the type.', default={}, sent=OWN
        ),
        'bindings': field(
            fields.items(
                fields.mapping(
                    {'cluster': fields.TEXT, 'enabled': _ENABLED}, ['cluster']
                )
            ),
            'The clusters that it is attached to: each a `cluster`, by name or id, and '
            'whether it is `enabled` there.',
            default=[],
            updatable=True,
            sent=OWN,
        ),
    }

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        return {**body, 'spec': _spec(context.properties)}

    def state_before(self, context: ResourceContext, connection: Any) -> Any:
        return sorted(_clusters(connection, context.before))

    def start(
        self, context: ResourceContext, connection: Any, stage: str, before: Any
    ) -> str | None:
        policy = str(context.physical_id)
        clusters = _clusters(connection, context.properties) if stage == _BIND else {}
        desired = {(cluster, policy): enabled for cluster, enabled in clusters.items()}
        known = {*desired, *((cluster, policy) for cluster in before or ())}
        return _bind(connection, _present(connection, known), desired)

    def _delete(self, context: ResourceContext, connection: Any, tries: int) -> Result:
        """Detach the policy from its clusters first."""
        if context.physical_id is None or tries:
            return super()._delete(context, connection, tries)
        before = sorted(_clusters(connection, context.properties, missing=True))
        token = {'step': 'change', 'todo': [_UNBIND], 'before': before}
        return self.step(context, connection, 'delete', token)

    def _complete(
        self, context: ResourceContext, connection: Any, operation: str
    ) -> Result:
        if operation == 'delete':
            return super()._delete(context, connection, 0)
        return super()._complete(context, connection, operation)


def _clusters(
    connection: Any, values: Mapping[str, Any], missing: bool = False
) -> dict[str, bool]:
    """Return the clusters that a policy is attached to.

    :param missing: ignore those that do not exist
    """
    found = {}
    for item in values.get('bindings') or ():
        try:
            cluster = CLUSTER.id_of(connection, item['cluster'])
        except ResourceFault:
            if not missing:
                raise
            continue
        found[cluster] = item.get('enabled', True)
    return found


class Receiver(CloudResource):
    """A receiver: a URL that starts an action on a cluster."""

    description = 'A URL that starts an action on a cluster.'
    service = 'clustering'
    noun = 'receiver'
    properties: ClassVar[Mapping[str, Property]] = {
        'cluster': field(
            fields.TEXT,
            'The name or id of the cluster.',
            required=True,
            sent='cluster_id',
            reference=CLUSTER,
        ),
        'type': field(fields.one_of('webhook'), 'The type.', default='webhook'),
        'action': field(
            fields.one_of('CLUSTER_SCALE_OUT', 'CLUSTER_SCALE_IN'),
            'The action.',
            required=True,
        ),
        'name': field(fields.TEXT, 'The name; the default is a unique one.', sent=OWN),
        'params': field(fields.MAP, 'The inputs of the action.', default={}),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'channel': 'The `alarm_url` that starts the action, with a token, which is its '
        'only credential.'
    }

    def _create(self, context: ResourceContext, connection: Any) -> Result:
        """Create it, and keep its URL: no other response has the token."""
        body = self.body(context, connection)
        self.marker.add(body, context)
        context.fence()
        made = self.make(connection, body)
        data = {'channel': record_of(made).get('channel')}
        return ResourceInProgress({'step': 'wait'}, 0.0, str(made.id), data=data)

    def _find(self, context: ResourceContext, connection: Any) -> Result:
        """Delete a receiver whose URL was lost; it is created again."""
        for found in self.search(connection, self.marker.filters({}, context)):
            if self.marker.matches(record_of(found), context):
                connection.clustering.delete_receiver(found.id, ignore_missing=True)
        return None

    def change(self, connection: Any, physical_id: str, body: dict[str, Any]) -> Any:
        # Slow to import, and not needed without a cloud.
        from openstack import exceptions as cloud

        response = self.proxy(connection).patch(
            f'/receivers/{physical_id}', json={'receiver': body}, microversion='1.7'
        )
        cloud.raise_from_response(response)
        return self.get(connection, physical_id)

    def poll(self, context: ResourceContext, operation: str, token: Any) -> Result:
        return _with_channel(context, super().poll(context, operation, token))

    def check(self, context: ResourceContext) -> Result:
        return _with_channel(context, super().check(context))


def _with_channel(context: ResourceContext, result: Result) -> Result:
    """Return a result with the URL that is known from the creation."""
    if not isinstance(result, Ready) or 'channel' not in context.data:
        return result
    attributes = {**(result.attributes or {}), **context.data}
    return Ready(result.physical_id, attributes)
