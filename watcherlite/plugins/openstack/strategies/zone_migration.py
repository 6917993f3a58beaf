"""The strategy that moves servers and volumes from given places to others."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.openstack.models.compute import ComputeModel, Server
from watcherlite.plugins.openstack.models.storage import (
    AVAILABLE,
    IN_USE,
    StorageModel,
    Volume,
)
from watcherlite.plugins.openstack.strategies import proposals

_NAMES: Mapping[str, Any] = {'type': 'array', 'items': {'type': 'string'}}


def _limit(what: str, default: int) -> Mapping[str, Any]:
    return {
        'description': f'The number of migrations of one plan {what}.',
        'type': 'integer',
        'minimum': 0,
        'default': default,
    }


def _place(what: str) -> Mapping[str, Any]:
    return {'description': what, 'type': 'string', 'minLength': 1}


class ZoneMigration(base.Strategy):
    """Migrate the servers of compute nodes, and the volumes of pools.

    Each plan has a limited number of migrations: run it as a CONTINUOUS audit.
    """

    goal = 'hardware_maintenance'
    display_name = 'Zone migration'
    description = 'Migrates servers and volumes from given places to others.'
    data_models = ('compute', 'storage')
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'compute_nodes': {
                'type': 'array',
                'items': {
                    'type': 'object',
                    'properties': {
                        'src_node': _place('The compute node that servers leave.'),
                        'dst_node': _place(
                            'The compute node to which they go; without it the '
                            'scheduler of nova selects one for each.'
                        ),
                    },
                    'required': ['src_node'],
                    'additionalProperties': False,
                },
            },
            'storage_pools': {
                'type': 'array',
                'items': {
                    'type': 'object',
                    'properties': {
                        'src_pool': _place('The pool that volumes leave.'),
                        'dst_pool': _place('The pool to which they go.'),
                        'src_type': _place('Only volumes of this type.'),
                        'dst_type': _place('The type that they get.'),
                    },
                    'oneOf': [
                        {
                            'required': ['src_pool', 'dst_pool'],
                            'not': {'required': ['dst_type']},
                        },
                        {
                            'required': ['src_pool', 'dst_type'],
                            'not': {'required': ['dst_pool']},
                        },
                    ],
                    'additionalProperties': False,
                },
            },
            'parallel_total': _limit('in total', 6),
            'parallel_per_node': _limit('from one compute node', 2),
            'parallel_per_pool': _limit('from one pool', 2),
            'priority': {
                'description': 'The order of migrations. Earlier keys of this list '
                'outweigh later ones: project, compute_node and storage_pool, which '
                'name the first ones; compute, and storage, by size in descending or '
                'by creation in ascending order.',
                'type': 'object',
                'properties': {
                    'project': _NAMES,
                    'compute_node': _NAMES,
                    'storage_pool': _NAMES,
                    'compute': {
                        'enum': ['vcpu_num', 'mem_size', 'disk_size', 'created_at']
                    },
                    'storage': {'enum': ['size', 'created_at']},
                },
                'additionalProperties': False,
                'default': {},
            },
            'with_attached_volume': {
                'description': 'Migrate a server in the same plan as its volumes.',
                'type': 'boolean',
                'default': False,
            },
        },
        'additionalProperties': False,
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return as many migrations as the limits allow."""
        given = context.parameters
        if not given.get('compute_nodes') and not given.get('storage_pools'):
            raise exceptions.Invalid(
                'zone_migration requires compute_nodes or storage_pools, which are '
                'both empty'
            )
        # A cloud without cinder has compute nodes only.
        storage = context.model('storage') if given.get('storage_pools') else None
        compute = context.model('compute') if given.get('compute_nodes') else None
        return propose(compute, storage, given)


def propose(
    compute: ComputeModel | None,
    storage: StorageModel | None,
    parameters: Mapping[str, Any],
) -> Solution:
    """Return the migrations; the models are None without their parameters."""
    migration = _Migration(compute, storage, parameters)
    return migration.run()


class _Limits:
    """The numbers of migrations of a plan: in total, and from each place."""

    def __init__(self, total: int) -> None:
        self._left = total
        self._taken: dict[str, int] = {}

    def take(self, place: str, limit: int) -> bool:
        """Count a migration from a place; return False if a limit is reached."""
        taken = self._taken.get(place, 0)
        if self._left == 0 or taken >= limit:
            return False
        self._taken[place] = taken + 1
        self._left -= 1
        return True


class _Migration:
    """One search for migrations."""

    def __init__(
        self,
        compute: ComputeModel | None,
        storage: StorageModel | None,
        parameters: Mapping[str, Any],
    ) -> None:
        self._compute = compute
        self._storage = storage
        self._given = parameters
        self._priority = parameters['priority']
        self._limits = _Limits(parameters['parallel_total'])
        self._migrated: set[str] = set()
        self._solution = Solution()
        self._counts: dict[str, int] = dict.fromkeys(
            (
                'live_migrate_instance_count',
                'cold_migrate_instance_count',
                'volume_migrate_count',
                'volume_update_count',
            ),
            0,
        )

    def run(self) -> Solution:
        """Return the solution."""
        servers, volumes = self._servers(), self._volumes()
        planned = dict.fromkeys(self._counts, 0)
        for server in servers:
            planned[_kind(server)] += 1
        for volume, _ in volumes:
            planned[_kind(volume)] += 1
        desired = {server.uuid: server for server in servers}
        for volume, destination in volumes:
            if self._migrate_volume(volume, destination):
                for uuid in volume.attached_to:
                    if self._given['with_attached_volume'] and uuid in desired:
                        self._migrate_server(desired[uuid])
        for server in servers:
            self._migrate_server(server)
        self._solution.set_efficacy_indicators(
            **self._counts,
            **{f'planned_{name}': count for name, count in planned.items()},
        )
        return self._solution

    def _servers(self) -> list[Server]:
        """Return the servers to be migrated, the first ones first."""
        if self._compute is None:
            return []
        found: list[Server] = []
        for pair in self._given['compute_nodes']:
            node = self._compute.find_node(pair['src_node'])
            if 'dst_node' in pair:
                self._compute.find_node(pair['dst_node'])
            found += filter(proposals.may_migrate, self._compute.servers_of(node))
        hosts = {node.uuid: node.hostname for node in self._compute.nodes}
        return _ordered(
            dict.fromkeys(server.uuid for server in found),
            {server.uuid: server for server in found},
            [
                _named(self._priority.get('project'), lambda one: one.project_id),
                _named(self._priority.get('compute_node'), lambda one: hosts[one.node]),
                _SIZES.get(self._priority.get('compute')),
            ],
        )

    def _volumes(self) -> list[tuple[Volume, Mapping[str, Any]]]:
        """Return the volumes to be migrated with their rules, the first ones first."""
        if self._storage is None:
            return []
        for pair in self._given['storage_pools']:
            self._storage.find_pool(pair['src_pool'])
            if 'dst_pool' in pair:
                self._storage.find_pool(pair['dst_pool'])
        found: dict[str, Volume] = {}
        chosen: dict[str, Mapping[str, Any]] = {}
        for volume in self._storage.volumes:
            if volume.excluded or volume.status not in (AVAILABLE, IN_USE):
                continue
            rule = self._rule_of(volume)
            if rule is not None:
                found[volume.uuid] = volume
                chosen[volume.uuid] = rule
        ordered = _ordered(
            found,
            found,
            [
                _named(self._priority.get('project'), lambda one: one.project_id),
                _named(self._priority.get('storage_pool'), lambda one: one.pool),
                _SIZES.get(self._priority.get('storage')),
            ],
        )
        return [(volume, chosen[volume.uuid]) for volume in ordered]

    def _rule_of(self, volume: Volume) -> Mapping[str, Any] | None:
        """Return the rule for a volume: one for its type, else one for its pool."""
        rules = [
            rule
            for rule in self._given['storage_pools']
            if rule['src_pool'] == volume.pool
            and rule.get('src_type', volume.volume_type) == volume.volume_type
            # Nothing is to be done for a volume that has the type.
            and rule.get('dst_type') != (volume.volume_type or '')
        ]
        rules.sort(key=lambda rule: 'src_type' not in rule)
        return rules[0] if rules else None

    def _migrate_volume(self, volume: Volume, rule: Mapping[str, Any]) -> bool:
        """Propose a volume's migration unless a limit is reached."""
        if not self._limits.take(volume.pool, self._given['parallel_per_pool']):
            return False
        if 'dst_type' in rule:
            proposals.retype_volume(self._solution, volume, rule['dst_type'])
        else:
            proposals.migrate_volume(self._solution, volume, rule['dst_pool'])
        self._counts[_kind(volume)] += 1
        return True

    def _migrate_server(self, server: Server) -> None:
        """Propose a server's migration, once, unless a limit is reached."""
        if self._compute is None or server.uuid in self._migrated:
            return
        source = self._compute.node_of(server)
        limit = self._given['parallel_per_node']
        if not self._limits.take(source.hostname, limit):
            return
        name = next(
            pair.get('dst_node')
            for pair in self._given['compute_nodes']
            if pair['src_node'] == source.hostname
        )
        destination = self._compute.find_node(name) if name else None
        proposals.migrate(self._solution, server, source, destination)
        self._migrated.add(server.uuid)
        self._counts[_kind(server)] += 1


#: Value of a priority -> key by which objects are sorted.
_SIZES: Mapping[str | None, Callable[[Any], Any]] = {
    'vcpu_num': lambda server: -server.vcpus,
    'mem_size': lambda server: -server.memory,
    'disk_size': lambda server: -server.disk,
    'size': lambda volume: -volume.size,
    'created_at': lambda one: one.created,
}


def _named(
    names: Sequence[str] | None, attribute: Callable[[Any], str]
) -> Callable[[Any], int] | None:
    """Return a key by which named objects come first, in the order of the names."""
    if not names:
        return None
    order = {name: at for at, name in enumerate(names)}
    return lambda one: order.get(attribute(one), len(order))


def _ordered(
    uuids: Iterable[str],
    objects: Mapping[str, Any],
    keys: Sequence[Callable[[Any], Any] | None],
) -> list[Any]:
    """Return objects sorted by the given keys, the first one first."""
    used = [key for key in keys if key is not None]
    return sorted(
        (objects[uuid] for uuid in uuids),
        key=lambda one: tuple(key(one) for key in used),
    )


def _kind(one: Server | Volume) -> str:
    """Return the indicator that counts the migration of an object."""
    if isinstance(one, Server):
        way = 'live' if one.is_live else 'cold'
        return f'{way}_migrate_instance_count'
    return 'volume_update_count' if one.status == IN_USE else 'volume_migrate_count'
