"""The derived actions on nodes, and their results."""

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

from tests import base
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.clusters import Cluster, Node, Owner
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions import derivation

NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
CLUSTER = Cluster(
    'c-uuid',
    'c',
    Owner('a-project'),
    5,
    id=3,
    next_index=7,
    config={'node.name.format': 'web-$3I'},
)


@dataclasses.dataclass
class Result:
    """The end of a derived action."""

    key: str
    status: str = 'SUCCEEDED'
    status_message: str | None = None
    outputs: Mapping[str, Any] | None = None


class DerivedTest(base.TestCase):
    def test_an_action_on_a_node_runs_under_the_lock_of_the_cluster(self) -> None:
        derived = derivation.node_action(
            action_types.NODE_OPERATION,
            'abcdefgh-1',
            CLUSTER,
            {'operation': 'reboot'},
            after=['other'],
            operation='reboot',
        )
        self.assertEqual(
            ('NODE_OPERATION:abcdefgh-1', 'node_reboot_abcdefgh_', 'abcdefgh-1', None),
            (derived.key, derived.name[:-8], derived.target, derived.lane),
        )
        self.assertEqual(
            (('other',), 'success', 'c-uuid', {'operation': 'reboot'}),
            (derived.parents, derived.needs, derived.within, derived.inputs),
        )

    def test_an_action_that_joins_a_node_locks_the_node(self) -> None:
        derived = derivation.join_action('abcdefgh-1', CLUSTER)
        self.assertEqual(
            (ENGINE, {'cluster_id': 'c-uuid'}), (derived.lane, derived.inputs)
        )


class NewNodesTest(base.TestCase):
    def rows(self, origin: str, placements: Any = ()) -> list[Node]:
        return derivation.new_nodes(CLUSTER, 2, placements, 'Sample', origin, NOW)

    def test_new_nodes_have_names_indices_placements_and_their_origin(self) -> None:
        rows = self.rows('an action', [{'zone': 'a'}])
        self.assertEqual(
            [('web-007', 7, {'placement': {'zone': 'a'}}), ('web-008', 8, {})],
            [(row.name, row.index, row.data) for row in rows],
        )
        self.assertEqual(
            {('INIT', 3, 5, 'Sample', 'an action', 'a-project')},
            {
                (
                    row.status,
                    row.cluster_id,
                    row.profile_id,
                    row.handler,
                    row.origin,
                    row.owner.tenant,
                )
                for row in rows
            },
        )
        self.assertEqual(2, len({row.uuid for row in rows}))

    def test_random_names_differ_per_run_and_are_repeatable(self) -> None:
        cluster = CLUSTER.evolve(config={})

        def names(next_index: int) -> list[str]:
            of_run = cluster.evolve(next_index=next_index)
            rows = derivation.new_nodes(of_run, 2, (), 'Sample', 'an action', NOW)
            return [row.name for row in rows]

        self.assertEqual(names(1), names(1))
        self.assertEqual(4, len({*names(1), *names(3)}))


class EndsTest(base.TestCase):
    NODES: Mapping[str, Node] = {
        uuid: Node(uuid, f'name-{uuid}', Owner('t'), 1, 'Sample', id=1) for uuid in 'ab'
    }

    def test_outputs_name_the_nodes_added_and_removed(self) -> None:
        ended = derivation.node_results(
            [
                Result('NODE_CREATE:a'),
                Result('NODE_CREATE:b', 'FAILED'),
                Result('NODE_JOIN:c'),
                Result('NODE_LEAVE:d'),
                Result('NODE_CHECK:e'),
            ]
        )
        self.assertEqual(
            {'nodes_added': ['a', 'c'], 'nodes_removed': ['d']},
            derivation.outputs(ended),
        )
        self.assertEqual({}, derivation.outputs(ended[-1:]))

    def test_a_failure_names_failed_and_not_cancelled_nodes(self) -> None:
        ended = derivation.node_results(
            [
                Result('NODE_CREATE:a', 'FAILED', 'Action failed in execute: no'),
                Result('NODE_CREATE:b', 'CANCELLED', 'stop'),
                Result('NODE_CREATE:c', 'FAILED', 'cut', {'reason': 'the whole'}),
            ]
        )
        self.assertEqual(
            ('FAILED', 'Failed: name-a: no; c: the whole'),
            derivation.failure('Failed', ended, self.NODES),
        )
        self.assertEqual(
            ('CANCELLED', 'Failed: name-b: stop'),
            derivation.failure('Failed', ended[1:2], self.NODES),
        )
        self.assertIsNone(derivation.failure('Failed', [], self.NODES))

    def test_a_long_reason_is_truncated(self) -> None:
        ended = derivation.node_results(
            Result(f'NODE_CREATE:{at}', 'FAILED', 'x' * 99) for at in range(100)
        )
        status_and_text = derivation.failure('Failed', ended, {})
        assert status_and_text is not None
        self.assertEqual(derivation.MAX_REASON_LENGTH, len(status_and_text[1]))
