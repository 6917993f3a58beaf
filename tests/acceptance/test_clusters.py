"""A cluster survives the loss of daemons and of the resources of its nodes."""

import collections
import os
import pathlib
import urllib.error
import urllib.request

from tests.acceptance.daemons import wait_until
from tests.acceptance.test_cluster_examples import ClusterExampleCase
from tests.acceptance.test_stack_examples import README, SERVE, list_commands
from tests.acceptance.test_stacks import Orchestrator, SharedCase
from tests.bounded import TIMEOUT
from watcherlite.domain.clusters import Owner
from watcherlite.engine.clusters.requests.values import ClusterRequest, RequestContext
from watcherlite.states import action as action_states

BY = RequestContext(Owner('a-project'))
COUNT = 50
#: The name format of nodes: m01 and so on.
NAMES = {'node.name.format': 'm$2I'}


def names(count):
    """Return the names of the first nodes of a cluster."""
    return [f'm{at:02}' for at in range(1, count + 1)]


class ClusterOperator(Orchestrator):
    """Creates and observes clusters of marks in the process of the test."""

    def __init__(self, ini):
        super().__init__(ini)
        self.clusters = self.runtime.clusters
        spec = {'type': 'zeta.mark', 'version': '1.0', 'properties': {'text': 'x'}}
        self.clusters.profiles.create('mark', spec, BY)

    def create_cluster(self, size, name='shared'):
        """Request a cluster; return it and the uuid of the action."""
        new = ClusterRequest(name, 'mark', desired_capacity=size, config=NAMES)
        begun = self.clusters.create(new, BY)
        return begun.row, begun.action

    def cluster(self, cluster):
        return self.store.clusters_by_uuid([cluster.uuid])[cluster.uuid]

    def wait_for_end(self, action):
        """Wait until an action has ended; return its status."""

        def status():
            return self.store.get_action(action).status

        wait_until(
            lambda: status() in action_states.FINAL,
            lambda: f'{action} is {status()}; actions: {self.statuses(action)}',
        )
        return status()

    def statuses(self, action):
        """Return the number of derived actions of an action by status."""
        derived = self.store.derived_actions(self.store.get_action(action).id)
        return dict(collections.Counter(one.status for one in derived))

    def nodes(self, cluster):
        """Return (name, index, status) of the nodes of a cluster."""
        rows = self.store.nodes_of([cluster.id])
        return sorted((row.name, row.index, row.status) for row in rows)


class SharedTest(SharedCase):
    nouns = ('cluster', 'node')
    maker = ClusterOperator

    def test_a_created_cluster_is_active_and_each_node_is_created_once(self):
        cluster, action = self.kill_one_in_progress(
            COUNT, lambda: self.own.create_cluster(COUNT)
        )

        status = self.own.wait_for_end(action)
        cluster = self.own.cluster(cluster)

        self.assertEqual('SUCCEEDED', status)
        self.assertEqual(
            ('ACTIVE', COUNT, COUNT + 1),
            (cluster.status, cluster.desired_capacity, cluster.next_index),
        )
        self.assertEqual(
            [(name, at, 'ACTIVE') for at, name in enumerate(names(COUNT), 1)],
            self.own.nodes(cluster),
        )
        self.assert_each_created_once(names(COUNT))
        self.assert_notified(cluster, 'create', COUNT)

    def test_a_deletion_completes_after_all_daemons_are_killed_and_one_restarts(self):
        cluster, action = self.own.create_cluster(12)
        self.own.wait_for_end(action)
        begun = self.kill_all_at(
            'm07', lambda: self.own.clusters.delete(cluster.uuid, BY)
        )

        status = self.own.wait_for_end(begun.action)
        cluster = self.own.cluster(cluster)

        self.assertEqual('SUCCEEDED', status)
        self.assertIsNotNone(cluster.deleted_at)
        self.assertEqual([], self.own.nodes(cluster))
        self.assert_notified(cluster, 'delete', 12)


#: The cluster of the README: its name, and its initial number of nodes.
WEB = 'web'
SIZE = 3


def is_running(pid):
    """Return whether a process exists and has not ended."""
    try:
        state = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2]
    except OSError:
        return False
    return state.split()[0] != 'Z'


class WebServersTest(ClusterExampleCase):
    """The example of the README with its processes, on SQLite."""

    def pids(self):
        """Return the pid of each node, by the id of the node."""
        line = f'watcherlite cluster collect {WEB} details.pid -f value'
        return dict(row.split() for row in self.shell(line)[1].splitlines())

    def statuses(self):
        line = f'watcherlite cluster members list {WEB} -f value -c Status'
        return self.shell(line)[1].split()

    def responding_nodes(self):
        """Return the indexes of the nodes whose web servers respond."""
        found = []
        for at in range(1, SIZE + 1):
            try:
                url = f'http://127.0.0.1:{self.prefix}{at}/'
                with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
                    found += [at] if answer.status == 200 else []
            except urllib.error.URLError:
                continue
        return found

    def wait_for_replacement(self, before):
        """Wait until the process of one node has been replaced; return the pids."""

        def found():
            now = self.pids()
            ended = [node for node, pid in before.items() if not is_running(pid)]
            is_new = ended and now.get(ended[0]) not in (None, before[ended[0]])
            return now if is_new and self.statuses() == ['ACTIVE'] * SIZE else None

        def problem():
            events = self.shell('watcherlite cluster event list')[1]
            return f'{before} became {self.pids()}:\n{events}'

        return wait_until(found, problem)

    def test_a_killed_node_is_replaced_and_two_are_removed(self):
        wrong, seen, events = [], {}, ''
        before = after = left = {}
        self.shell(f'mkdir -p {self.directory}')
        self.serve(SERVE)
        for line, expected in list_commands(README, 'Clusters')[:-1]:
            line = self.own(line)
            code, printed = self.shell(line)
            if code or set(expected) - set(printed.splitlines()):
                wrong.append((line, printed))
            if ' cluster create ' in line:
                before = self.pids()
                seen['created'] = (len(before), self.responding_nodes())
            elif line.startswith('kill '):
                after = self.wait_for_replacement(before)
                seen['replaced'] = (
                    len(after.items() - before.items()),
                    self.responding_nodes(),
                )
                seen['the same nodes'] = after.keys() == before.keys()
            elif ' event list ' in line:
                events = printed
            elif ' scale in ' in line:
                left = self.pids()
                seen['scaled in'] = (len(left), len(self.responding_nodes()))

        self.assertEqual([], wrong)
        self.assertEqual(
            {
                'created': (SIZE, [1, 2, 3]),
                'replaced': (1, [1, 2, 3]),
                'the same nodes': True,
                'scaled in': (1, 1),
            },
            seen,
        )
        for action in ('CLUSTER_CHECK', 'CLUSTER_RECOVER'):
            self.assertIn(action, events)
        self.assertLessEqual(left.items(), after.items())
        ever = {*before.values(), *after.values()}
        self.assertEqual([], [pid for pid in ever if is_running(pid)])
        for noun in ('cluster', 'node'):
            printed = self.shell(f'watcherlite {noun} list -f value')[1]
            self.assertEqual('', printed.strip())
        self.assertEqual([], os.listdir(self.directory))
