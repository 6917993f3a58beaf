"""Spec 001, paragraph by paragraph: actions on clusters, end to end."""

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any, ClassVar

from tests.cluster_worlds import BY
from tests.operated_worlds import OperatedCase, OperatedWorld
from tests.worlds import kind
from watcherlite import exceptions
from watcherlite.clock import EPOCH
from watcherlite.db.query import EventQuery, Query
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Node, PolicyObject
from watcherlite.domain.outcomes import Failed
from watcherlite.engine.clusters import action_types
from watcherlite.plugins import options
from watcherlite.plugins.action_types.command import Command
from watcherlite.plugins.base import Policy

#: Nodes are called n1, n2, ...
NAMED = {'node.name.format': 'n$I'}


class OperatedActionCase(OperatedCase):
    """The base case, with clusters whose nodes have predictable names."""

    def create(self, size: int = 0, **new: Any) -> Cluster:
        return self.world.cluster(size, **{'config': NAMED, **new})

    def action(self, uuid: str) -> Action:
        return self.world.store.get_action(uuid)

    def of_type(self, name: str) -> list[Action]:
        return [a for a in self.world._actions() if a.action_type == name]

    def assert_has(self, found: Action, **expected: Any) -> None:
        """Check these attributes of an action."""
        self.assertEqual(expected, {name: getattr(found, name) for name in expected})

    def scale_out(self, count: int = 1, wait: bool = False) -> str:
        by = dataclasses.replace(self.by, wait=wait)
        begun = self.operations.scale('c', by, action_types.CLUSTER_SCALE_OUT, count)
        return begun.action


class TestActions(OperatedActionCase):
    """Actions."""

    def test_all_actions_succeed(self) -> None:
        clusters, nodes = self.operations, self.operations.nodes
        cluster = self.create(2)
        better = self.world.profile('better', value='2')
        for name in ('x', 'y'):
            self.world.orphan(name, better)
        self.world.policy('senlin.policy.scaling', event='CLUSTER_SCALE_IN')

        def by(call: Any, *args: Any, **keys: Any) -> None:
            begun = call(*args, **keys)
            self.assertEqual(
                'SUCCEEDED',
                self.world.wait_for_end(begun.action).status,
                str(self.action(begun.action).status_message),
            )

        by(clusters.update, 'c', BY, {'profile_id': 'better', 'metadata': {'k': 'v'}})
        by(clusters.add_nodes, 'c', BY, ['x'])
        by(clusters.replace_nodes, 'c', BY, {'n1': 'y'})
        by(clusters.del_nodes, 'c', BY, ['n2'], destroy_after_deletion=True)
        by(clusters.resize, 'c', BY, {'adjustment_type': 'EXACT_CAPACITY', 'number': 3})
        by(clusters.scale, 'c', BY, 'CLUSTER_SCALE_OUT', 1)
        by(clusters.attach_policy, 'c', BY, 'po', False)
        by(clusters.update_policy, 'c', BY, 'po', True)
        by(clusters.scale, 'c', BY, 'CLUSTER_SCALE_IN')
        by(clusters.detach_policy, 'c', BY, 'po')
        by(clusters.check, 'c', BY)
        self.world.external.samples.clear()
        by(clusters.check, 'c', BY)
        self.assertEqual(['ERROR'] * 3, self.world.statuses_of(cluster))
        by(clusters.recover, 'c', BY)
        self.assertEqual(['ACTIVE'] * 3, self.world.statuses_of(cluster))
        by(clusters.operate, 'c', BY, 'patch', {'colour': 'red'})
        # The node left the cluster when another one replaced it.
        by(nodes.update, 'n1', BY, {'role': 'master'})
        by(nodes.check, 'n1', BY)
        by(nodes.recover, 'n1', BY, {'operation': 'RECREATE'})
        by(nodes.operate, 'n1', BY, 'reboot', {'type': 'SOFT'})
        by(nodes.delete, 'n1', BY)
        by(clusters.delete, 'c', BY)

        done = {a.action_type for a in self.world._actions()}
        self.assertEqual(set(action_types.DEFINITIONS), done)
        self.assertEqual(
            set(),
            {a.action_type for a in self.world._actions() if a.status != 'SUCCEEDED'},
        )
        self.assertEqual([], self.world.store.list_objects(Node, Query()))


class TestActionProperties(OperatedActionCase):
    """Action Properties, Action Statuses."""

    def test_requested_and_derived_actions_have_all_properties(self) -> None:
        cluster = self.create(1)
        (node,) = self.world.nodes(cluster)
        (derived,) = self.of_type('NODE_CREATE')

        found = self.world.wait_for_end(self.scale_out(2))

        added = [node.uuid for node in self.world.nodes(cluster)[1:]]
        self.assert_has(
            found,
            name=f'cluster_scale_out_{cluster.uuid[:8]}_{found.uuid[:8]}',
            action_type='CLUSTER_SCALE_OUT',
            target=cluster.uuid,
            cause='RPC Request',
            owner=None,
            interval=0,
            timeout=3600,
            status='SUCCEEDED',
            control=None,
            inputs={'count': 2},
            outputs={'nodes_added': added},
            not_before=EPOCH,
            tenant='a-project',
        )
        times = (found.created_at, found.start_time, found.end_time, found.updated_at)
        self.assertNotIn(None, times)
        self.assertEqual(sorted(times[:3]), list(times[:3]))  # type: ignore[type-var]
        self.assert_has(
            derived,
            cause='Derived Action',
            target=node.uuid,
            within=cluster.uuid,
            tenant='a-project',
        )
        begin = f'node_create_{node.uuid[:8]}_'
        self.assertEqual(begin, (derived.name or '')[:-8])

    def test_an_action_depends_on_its_unfinished_derived_actions(self) -> None:
        self.create(0)
        gate = self.create_gate_at(self.world, 'create', 'n1')
        uuid = self.scale_out()
        gate.wait_until_entered()

        (child,) = self.of_type('NODE_CREATE')
        found = self.world.store.find_cluster_action
        self.assertEqual((child.uuid,), found(uuid, None).depends_on)
        self.assertEqual((uuid,), found(child.uuid, None).depended_by)
        waiting = self.action(uuid)
        self.assert_has(waiting, status='WAITING', owner=None, end_time=None)
        self.assertIsNotNone(waiting.start_time)

        gate.open()
        ended = self.world.wait_for_end(uuid)
        self.assertEqual((), found(uuid, None).depends_on)
        self.assertEqual((), found(child.uuid, None).depended_by)
        self.assertIsNotNone(ended.end_time)
        self.assert_has(ended, start_time=waiting.start_time, updated_at=ended.end_time)
        self.assertEqual(
            [
                ('cluster_scale_out', 'READY', 'RUNNING'),
                ('cluster_scale_out', 'RUNNING', 'WAITING'),
                ('node_create', 'READY', 'RUNNING'),
                ('node_create', 'RUNNING', 'SUCCEEDED'),
                ('cluster_scale_out', 'READY', 'RUNNING'),
                ('cluster_scale_out', 'RUNNING', 'SUCCEEDED'),
            ],
            self.world.status_changes('cluster_scale_out', 'node_create'),
        )

    def test_an_action_does_not_start_before_its_start_time(self) -> None:
        cluster = self.create(0)
        self.world.clock.pause()
        due = self.world.clock.now() + datetime.timedelta(seconds=0.2)

        asked = self.world.user_action(
            'CLUSTER_SCALE_OUT', cluster, not_before=due.isoformat()
        )
        other = self.world.wait_for_end(self.scale_out())
        self.world.clock.resume()
        later = self.world.wait_for_end(asked.uuid)

        self.assertEqual('SUCCEEDED', later.status)
        assert later.start_time is not None and other.start_time is not None
        self.assertLessEqual(due, later.start_time)
        self.assertLess(other.start_time, later.start_time)
        self.assertEqual(2, len(self.world.nodes(cluster)))

    def test_an_action_with_an_interval_is_repeated(self) -> None:
        cluster = self.create(1)
        asked = self.world.user_action('CLUSTER_CHECK', cluster, interval=1)

        self.world.wait_until(lambda: len(self.of_type('NODE_CHECK')) >= 2)

        self.operations.actions.update(asked.uuid, BY, 'CANCELLED')
        self.assertEqual('CANCELLED', self.world.wait_for_end(asked.uuid).status)
        self.world.wait_until_idle()
        self.assertEqual('ACTIVE', self.world.reload(cluster).status)

    def test_an_action_that_times_out_fails_and_ends_its_derived_actions(self) -> None:
        cluster = self.create(0, timeout=1)
        self.create_gate_at(self.world, 'create', 'n1')

        def is_created() -> bool:
            nodes = {node.name: node for node in self.world.nodes(cluster)}
            last = nodes['n2'].last if 'n2' in nodes else None
            return last is not None and self.action(last).status == 'SUCCEEDED'

        self.world.clock.pause()
        action = self.scale_out(2)
        self.world.wait_until(is_created)
        self.world.clock.resume()
        found = self.world.wait_for_end(action)

        late = 'The timeout of the cluster expired before the action completed.'
        self.assertEqual(
            ('FAILED', f'Action failed in execute: {late}'),
            (found.status, found.status_message),
        )
        nodes = {node.name: node for node in self.world.nodes(cluster)}
        self.assertEqual(
            {'nodes_added': [nodes['n2'].uuid], 'reason': late}, found.outputs
        )
        self.assertEqual(
            {'n1': 'FAILED', 'n2': 'SUCCEEDED'},
            {name: self.action(node.last or '').status for name, node in nodes.items()},
        )
        self.assertEqual('WARNING', self.world.reload(cluster).status)


class TestTheActionDataProperty(OperatedActionCase):
    """The Action Data Property."""

    def test_a_policy_that_refuses_fails_the_action_and_leaves_the_cluster(
        self,
    ) -> None:
        cluster = self.create(1)
        self.world.attach(
            cluster,
            self.world.policy(
                'senlin.policy.scaling',
                'calm',
                event='CLUSTER_SCALE_OUT',
                adjustment={'cooldown': 600},
            ),
        )
        self.world.wait_for_end(self.scale_out())

        with self.assertRaises(exceptions.ActionCooldown) as caught:
            self.scale_out()

        policy = self.world.store.find_object(PolicyObject, 'calm', None)
        self.assertEqual(
            f'The CLUSTER_SCALE_OUT action for cluster {cluster.uuid} cannot be '
            f'processed due to Policy {policy.uuid} cooldown still in progress.',
            str(caught.exception),
        )
        self.assertEqual(2, len(self.world.nodes(cluster)))

        # The cooldown of a disabled policy does not apply.
        disabled = self.operations.update_policy('c', self.by, policy.uuid, False)
        self.world.wait_for_end(disabled.action)
        self.world.wait_for_end(self.scale_out())
        self.assertEqual(3, len(self.world.nodes(cluster)))


class TestExecuteAndReturnValues(OperatedActionCase):
    """The execute() Method and Return Values."""

    types: ClassVar[Mapping[str, type]] = {
        'ok': kind(execute=lambda context: ('OK', 'it went well')),
        'error': kind(execute=lambda context: ('ERROR', 'it did not')),
        'cancel': kind(execute=lambda context: ('CANCEL', 'it was requested')),
        'timeout': kind(execute=lambda context: ('TIMEOUT', 'it took too long')),
        'retry': kind(execute=lambda context: ('RETRY', 'later')),
    }

    def test_each_result_is_a_status(self) -> None:
        cluster = self.create(0)

        def ends(name: str) -> tuple[str, str | None]:
            found = self.world.wait_for_end(self.world.user_action(name, cluster))
            return found.status, found.status_message

        self.assertEqual(('SUCCEEDED', None), ends('ok'))
        self.assertEqual(
            ('FAILED', 'Action failed in execute: it did not'), ends('error')
        )
        self.assertEqual('CANCELLED', ends('cancel')[0])
        status, message = ends('timeout')
        self.assertEqual('FAILED', status)
        self.assertIn('it took too long', message or '')

    def test_a_retry_is_ready_for_any_worker_and_keeps_its_lock(self) -> None:
        cluster = self.create(0)
        asked = self.world.user_action('retry', cluster)
        self.world.wait_until(lambda: self.waits_for_retry(asked.uuid))

        found = self.action(asked.uuid)
        self.assertEqual(('READY', None, 'later'), self.outcome(found))
        self.assertLess(found.updated_at, found.not_before)
        with self.assertRaises(exceptions.Conflict):
            self.scale_out()

        self.operations.actions.update(asked.uuid, BY, 'CANCELLED')

        self.assertEqual('CANCELLED', self.world.wait_for_end(asked.uuid).status)
        self.assertEqual('SUCCEEDED', self.world.wait_for_end(self.scale_out()).status)

    def waits_for_retry(self, uuid: str) -> bool:
        """Return whether an action waits for its retry with the maximum delay."""
        found = self.action(uuid)
        return found.attempt >= 5 and found.owner is None

    def outcome(self, action: Action) -> tuple[str, str | None, str | None]:
        return action.status, action.owner, action.status_message


class Watching(Policy):
    """A policy before an action type that users create."""

    before = frozenset({'paper'})
    after = frozenset({'paper'})

    def pre_op(self, context: Any, data: dict[str, Any]) -> None:
        if context.inputs.get('burn'):
            raise exceptions.Invalid('no fire here')
        data['asked'] = context.cluster.name

    def post_op(self, context: Any, data: dict[str, Any]) -> None:
        data['result'] = context.result


class Hello(Command):
    """A command type for which the operator permits `hello`, and scripts."""

    def __init__(self, given: Any = None) -> None:
        allowed = {'allowed': ['/bin/echo hello', '/bin/sh -c {value}']}
        super().__init__(options.standalone_group(Command, allowed))


class TestCreatingAnAction(OperatedActionCase):
    """Creating An Action: actions that users create."""

    types: ClassVar[Mapping[str, type]] = {
        'command': Hello,
        'paper': kind(
            schema={
                'type': 'object',
                'properties': {'burn': {'type': 'boolean'}},
                'additionalProperties': False,
            }
        ),
    }

    def test_every_end_of_a_run_is_an_event_and_the_row_has_the_last(self) -> None:
        ends = iter(('', 'no disk', 'gone'))

        def execute(context: Any) -> Any:
            return Failed(reason) if (reason := next(ends, '')) else True

        world = self.create_other_world(types={'theirs': kind(execute=execute)})
        cluster = world.cluster(0)
        world.user_action('theirs', cluster, interval=1)

        def runs() -> list[Any]:
            query = EventQuery(filters={'action': ['theirs']}, descending=False)
            details = [
                (one.event.message, one.event.detail or {})
                for one in world.store.list_cluster_events(query)
            ]
            return [
                (detail['phase'], detail['result']['status'], text, 'fault' in detail)
                for text, detail in details
            ]

        world.wait_until(lambda: len(runs()) >= 3)
        self.assertEqual(
            [
                ('end', 'SUCCEEDED', 'theirs SUCCEEDED', False),
                ('error', 'FAILED', 'Action failed in execute: no disk', True),
                ('error', 'FAILED', 'Action failed in execute: gone', True),
            ],
            runs()[:3],
        )

    def test_a_permitted_command_runs_and_receives_its_target(self) -> None:
        cluster = self.create(1)
        (node,) = self.world.nodes(cluster)
        asked = self.world.user_action('paper', node, name='mine', timeout=60)
        # It runs under the lock of the node.
        self.assert_has(
            asked,
            name='mine',
            target=node.uuid,
            within=cluster.uuid,
            tenant='a-project',
            timeout=60,
            cause='RPC Request',
        )
        self.assertEqual('SUCCEEDED', self.world.wait_for_end(asked).status)

        def run(row: Cluster | Node, *argv: str) -> tuple[Any, ...]:
            asked = self.world.user_action('command', row, inputs={'argv': [*argv]})
            outputs = self.world.wait_for_end(asked).outputs or {}
            return outputs['exit_code'], outputs['stdout']

        self.assertEqual((0, 'hello\n'), run(node, '/bin/echo', 'hello'))
        for row in (cluster, node):
            script = ('/bin/sh', '-c', 'echo $WATCHERLITE_TARGET')
            self.assertEqual((0, f'{row.uuid}\n'), run(row, *script))
        with self.assertRaisesRegex(
            exceptions.BadRequest, '/bin/echo is allowed only as /bin/echo hello'
        ):
            run(node, '/bin/echo', 'good', 'bye')

    def test_invalid_inputs_unsuitable_types_and_busy_targets_are_refused(self) -> None:
        cluster = self.create(0)
        gate = self.create_gate_at(self.world, 'create', 'n1')

        def refuses(
            name: str, error: type[Exception], text: str, **inputs: Any
        ) -> None:
            with self.subTest(name=name), self.assertRaisesRegex(error, text):
                self.world.user_action(name, cluster, inputs=inputs)

        refuses(
            *('paper', exceptions.Invalid, r'\Ainputs.burn: 1 is not true or false\Z'),
            burn=1,
        )
        unknown = r"Action parameter \['number'\] is not recognizable; known are count."
        refuses('CLUSTER_SCALE_OUT', exceptions.Invalid, rf'\A{unknown}\Z', number=1)
        refuses('CLUSTER_DELETE', exceptions.BadRequest, 'Illegal action')
        refuses('no such type', exceptions.PluginNotFound, '')
        refuses('stack_update', exceptions.BadRequest, 'is not for clusters')
        first = self.scale_out()
        gate.wait_until_entered()
        refuses('paper', exceptions.ResourceIsLocked, '')
        gate.open()
        self.world.wait_for_end(first)

    def test_policies_are_evaluated(self) -> None:
        watched = self.create_other_world(
            types=self.types, policies={'watching-1.0': Watching}
        )
        cluster = watched.cluster(0)
        spec = {'type': 'watching', 'version': '1.0'}
        policy = watched.operations.policies.create('w', spec, BY)
        watched.attach(cluster, policy)

        well = watched.wait_for_end(watched.user_action('paper', cluster))
        ill = watched.wait_for_end(
            watched.user_action('paper', cluster, inputs={'burn': True})
        )

        self.assertEqual(
            ('SUCCEEDED', 'c', 'OK'),
            (well.status, well.data.get('asked'), well.data.get('result')),
        )
        self.assertEqual(
            ('FAILED', "Policy check failure: Failed policy 'w': no fire here"),
            (ill.status, ill.status_message),
        )

    def create_other_world(self, **keys: Any) -> OperatedWorld:
        world = OperatedWorld(self.make_store(), **keys)
        self.addCleanup(world.stop)
        world.worker()
        return world


class TestSignalingAnAction(OperatedActionCase):
    """Signaling An Action."""

    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.create(0)

    def signal(self, uuid: str, status: str, **keys: Any) -> str:
        found = self.operations.actions.update(uuid, BY, status, **keys)
        return found.action.status

    def test_a_cancel_reaches_derived_actions_and_the_cluster_shows_its_nodes(
        self,
    ) -> None:
        gate = self.create_gate_at(self.world, 'create', 'n1')
        uuid = self.scale_out(2)
        gate.wait_until_entered()

        self.signal(uuid, 'CANCELLED')
        with self.assertRaises(exceptions.ResourceIsLocked):
            self.operations.check('c', BY)
        gate.open()

        self.assertEqual('CANCELLED', self.world.wait_for_end(uuid).status)
        self.world.wait_until_idle()
        active = self.world.statuses_of(self.cluster).count('ACTIVE')
        self.assertEqual(
            'ACTIVE' if active >= 2 else 'WARNING',
            self.world.reload(self.cluster).status,
        )
        self.assertEqual([None], [self.action(uuid).owner])

    def test_a_suspended_action_starts_nothing_until_resume(self) -> None:
        gate = self.create_gate_at(self.world, 'create', 'n1')
        uuid = self.scale_out(1)
        gate.wait_until_entered()

        self.assertEqual('SUSPENDED', self.signal(uuid, 'SUSPENDED'))
        gate.open()
        self.assertEqual('SUSPENDED', self.action(uuid).status)
        with self.assertRaises(exceptions.ResourceIsLocked):
            self.operations.check('c', BY)

        self.signal(uuid, 'RUNNING')
        self.assertEqual('SUCCEEDED', self.world.wait_for_end(uuid).status)
        self.assertEqual(['ACTIVE'], self.world.statuses_of(self.cluster))

    def test_signals_that_its_status_does_not_permit_are_refused(self) -> None:
        later = '2999-01-01T00:00:00Z'
        asked = self.world.user_action('CLUSTER_CHECK', self.cluster, not_before=later)
        # An action that has not started is cancelled immediately.
        self.assertEqual('CANCELLED', self.signal(asked.uuid, 'CANCELLED'))
        uuid = self.scale_out()
        self.world.wait_for_end(uuid)
        for status, expected in (
            ('CANCELLED', 'INIT, WAITING, READY, RUNNING, SUSPENDED'),
            ('SUSPENDED', 'WAITING, RUNNING'),
            ('RUNNING', 'SUSPENDED'),
        ):
            with self.subTest(status=status):
                with self.assertRaises(exceptions.ActionImmutable) as caught:
                    self.signal(uuid, status)
                self.assertEqual(
                    f'Action ({uuid}) is in status (SUCCEEDED) while expected status '
                    f'must be one of ({expected}).',
                    str(caught.exception),
                )

    def test_a_forced_cancel_ends_an_action_of_any_owner(self) -> None:
        gate = self.create_gate_at(self.world, 'create', 'n1')
        uuid = self.scale_out()
        gate.wait_until_entered()
        (child,) = self.of_type('NODE_CREATE')

        self.assertEqual('CANCELLED', self.signal(uuid, 'CANCELLED', force=True))
        begun = self.operations.check('c', BY)
        self.assertEqual('SUCCEEDED', self.world.wait_for_end(begun.action).status)
        gate.open()
        self.world.wait_until_idle()

        self.assertEqual('CANCELLED', self.action(child.uuid).status)
        self.assertEqual('CANCELLED', self.action(uuid).status)
