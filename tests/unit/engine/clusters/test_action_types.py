"""The action types of clusters and nodes, as in Senlin."""

import jsonschema

from tests import base
from watcherlite.domain.clusters import Node, Owner
from watcherlite.engine.clusters import action_types
from watcherlite.states import cluster as states

TARGET = '1a2b3c4d-0000-4000-8000-000000000000'
OWN = '5e6f7081-0000-4000-8000-000000000000'


class TestActions(base.TestCase):
    def test_all_action_types_are_defined(self):
        self.assertEqual(15, len(action_types.CLUSTER_TYPES))
        self.assertEqual(8, len(action_types.NODE_TYPES))
        self.assertEqual(set(), action_types.CLUSTER_TYPES & action_types.NODE_TYPES)

    def test_names_have_the_target_and_the_verb_and_are_unique(self):
        for name, action_type, *operation in (
            ('cluster_create', 'CLUSTER_CREATE'),
            ('cluster_del_nodes', 'CLUSTER_DEL_NODES'),
            ('attach_policy', 'CLUSTER_ATTACH_POLICY'),
            ('node_delete', 'NODE_DELETE'),
            ('node_reboot', 'NODE_OPERATION', 'reboot'),
        ):
            self.assertEqual(
                f'{name}_1a2b3c4d_5e6f7081',
                action_types.action_name(action_type, TARGET, *operation, uuid=OWN),
            )
        names = {action_types.action_name('NODE_DELETE', TARGET) for _ in range(9)}
        self.assertEqual(9, len(names))

    def test_schemas_are_valid_and_reject_unknown_inputs(self):
        for kind in action_types.DEFINITIONS.values():
            with self.subTest(kind=kind.name):
                jsonschema.Draft202012Validator.check_schema(kind.schema)
                validator = jsonschema.Draft202012Validator(kind.schema)
                needed = {name: ['x'] for name in kind.schema['required']}
                self.assertFalse(validator.is_valid({**needed, 'bogus': 1}))

    def test_running_statuses_are_transient(self):
        for kind in action_types.DEFINITIONS.values():
            with self.subTest(kind=kind.name):
                known = (
                    states.CLUSTER_STATUSES if kind.on_cluster else states.NODE_STATUSES
                )
                self.assertIn(kind.status, {None, *states.TRANSIENT} & {None, *known})

    def test_private_outputs_are_hidden(self):
        outputs = {'nodes_added': ['x'], '_node': {'kept': {}}, '_cluster': {}}

        self.assertEqual({'nodes_added': ['x']}, action_types.public_outputs(outputs))
        self.assertEqual({}, action_types.public_outputs(None))

    def test_a_mark_is_read_from_the_data_of_a_node(self):
        node = Node('u', 'n', Owner('t'), 1, 'h', id=1)

        self.assertIsNone(action_types.unhealthy_mark(node))
        marked = node.evolve(data={action_types.UNHEALTHY_MARK: 'bad smell'})
        self.assertEqual('bad smell', action_types.unhealthy_mark(marked))
