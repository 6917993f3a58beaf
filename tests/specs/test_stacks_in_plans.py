"""Actions of plans on stacks, and the effect of locks."""

import functools
from collections.abc import Mapping
from typing import Any

from tests.stack_worlds import TENANT, StackWorld, StackWorldCase, res, template
from tests.worlds import action
from watcherlite import exceptions
from watcherlite.applier.operations import PlanOperations
from watcherlite.conf import masking
from watcherlite.db.api import Store
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.stacks import Stack, StackRequest
from watcherlite.engine.action_types import EngineActionTypes
from watcherlite.engine.stacks.action_inputs import RESOURCE, STACK
from watcherlite.engine.stacks.actions import plan_actions
from watcherlite.engine.stacks.actions.resource_action import ResourceAction
from watcherlite.engine.stacks.actions.stack_action import StackAction
from watcherlite.engine.stacks.lock_admission import StackLockAdmission
from watcherlite.engine.stacks.projection.stack_projection import StackProjection
from watcherlite.execution.ports import ActionTypes
from watcherlite.execution.worker import Worker
from watcherlite.states import action_plan as plan_states

TWO = {'a': res(value='1'), 'b': res(value='2', _depends_on=['a'])}
#: Seconds; no test waits for a sweep.
NEVER = 600.0


class PlanWorld(StackWorld):
    """A world whose plans may contain actions on stacks."""

    def __init__(self, store: Store, **settings: Any) -> None:
        super().__init__(
            store,
            types=dict(plan_actions.TYPES),
            **{'sweep_interval': NEVER, **settings},
        )
        self.plans = PlanOperations(
            store,
            self.types,
            self.progress,
            self.clock,
            self,
            plan_states.RESUME,
            StackProjection(),
        )

    def worker_types(self, store: Store) -> ActionTypes:
        parts = self.parts(store)
        own: dict[str, Any] = {
            STACK: functools.partial(StackAction, parts),
            RESOURCE: functools.partial(ResourceAction, parts),
        }
        for name, kind in plan_actions.TYPES.items():
            own[name] = functools.partial(kind, services=parts, operations=self.stacks)
        return EngineActionTypes(self.types, own)

    def worker(self, **keys: Any) -> Worker:
        return super().worker(**{'admission': StackLockAdmission(self.store), **keys})

    def do(self, action_type: str, stack: Stack, **inputs: Any) -> dict[str, Any]:
        """Return an action of a plan document, named like its type."""
        return action(
            action_type, action_type, input_parameters={'stack': stack.uuid, **inputs}
        )

    def message(self, name: str) -> str | None:
        """Return the status message of an action."""
        return self.action(name).status_message


class PlanWorldCase(StackWorldCase):
    """By default plans are executed by one worker and stacks by another."""

    def setUp(self) -> None:
        super().setUp()
        self.world = PlanWorld(self.make_store())
        self.addCleanup(self.world.stop)
        self.applier = self.world.worker(lanes=('applier',))
        self.engine = self.world.worker(lanes=('engine',))
        self.stack = self.world.make(TWO)

    def start_update_plan(self) -> ActionPlan:
        """Start a plan that updates the resource `a`."""
        desired = template({**TWO, 'a': res(value='3')})
        return self.world.start(
            self.world.do('stack_update', self.stack, template=desired)
        )

    def run_plan(self, *actions: Mapping[str, Any], **plan: Any) -> ActionPlan:
        return self.world.wait_until_ended(self.world.start(*actions, **plan))


class TestUpdate(PlanWorldCase):
    """`stack_update` and `resource_mark_unhealthy`."""

    def test_an_update_of_a_plan_replaces_resources_it_marked(self) -> None:
        before = self.world.ids(self.stack)

        plan = self.run_plan(
            self.world.do('resource_mark_unhealthy', self.stack, resource='b'),
            {
                **self.world.do('stack_update', self.stack),
                'parents': ['resource_mark_unhealthy'],
            },
        )

        after = self.world.ids(self.stack)
        self.assertEqual('SUCCEEDED', plan.state)
        self.assertEqual((2, 0), (plan.total, plan.unfinished))
        self.assertEqual(before['a'], after['a'])
        self.assertNotEqual(before['b'], after['b'])
        self.assertEqual('UPDATE_COMPLETE', self.world.reload(self.stack).state.name)

    def test_the_plan_waits_for_the_end_without_a_thread_or_a_poll(self) -> None:
        gate = self.create_gate_at(self.world, 'update', 'a')
        plan = self.start_update_plan()
        gate.wait_until_entered()

        waiting = self.world.action('stack_update')
        self.assertEqual(('WAITING', None), (waiting.status, waiting.owner))
        gate.open()

        self.assertEqual('SUCCEEDED', self.world.wait_until_ended(plan).state)
        self.assertEqual(
            [
                ('plan', 'RECOMMENDED', 'PENDING', None),
                ('plan', 'PENDING', 'ONGOING', None),
                ('stack_update', 'READY', 'RUNNING', None),
                ('stack_update', 'RUNNING', 'WAITING', None),
                ('stack_update', 'READY', 'RUNNING', None),
                ('stack_update', 'RUNNING', 'SUCCEEDED', None),
                ('plan', 'ONGOING', 'SUCCEEDED', None),
            ],
            self.world.history(plan),
        )
        samples = self.world.external.samples
        ids = self.world.ids(self.stack)
        self.assertEqual('3', samples[ids['a'] or '']['value'])

    def test_given_parameters_override_existing_ones_and_may_be_hidden(self) -> None:
        names = ('one', 'two', 'pw')
        parameters: dict[str, Any] = {
            name: {'type': 'string', 'default': 'none'} for name in names
        }
        parameters['two']['hidden'] = True
        desired = {
            'a': res(value={'get_param': 'one'}, fixed={'get_param': 'two'}),
            'b': res(value={'get_param': 'pw'}),
        }
        stack = self.world.make(
            desired,
            name='p',
            sections={'parameters': parameters},
            parameters={'two': 'keep'},
        )

        given = {'parameters': {'one': 'y'}, 'private_parameters': {'pw': 'S3cret'}}
        plan = self.run_plan(self.world.do('stack_update', stack, **given))

        self.assertEqual('SUCCEEDED', plan.state)
        found = self.world.resource(stack, 'a').properties
        self.assertEqual(('y', 'keep'), (found['value'], found['fixed']))
        self.assertEqual('S3cret', self.world.resource(stack, 'b').properties['value'])
        inputs = self.world.action('stack_update').inputs
        self.assertEqual('***', masking.mask_data(inputs)['private_parameters'])

    def test_an_action_of_a_plan_fails_with_the_reason_of_the_stack(self) -> None:
        self.world.external.fails.add(('update', 'a'))

        plan = self.world.wait_until_ended(self.start_update_plan())

        self.assertEqual('FAILED', plan.state)
        reason = 'Resource action failed: resources.a: update of a does not work'
        self.assertEqual(reason, self.world.reload(self.stack).status_reason)
        self.assertEqual(
            f'Action failed in execute: UPDATE of stack {self.stack.uuid} failed: '
            f'{reason}',
            self.world.message('stack_update'),
        )

    def test_an_update_of_an_unknown_stack_or_project_is_refused_first(self) -> None:
        self.run_plan(
            self.world.do(
                'stack_update', self.stack, template=template({'a': res('None::Such')})
            )
        )

        self.assertIn('None::Such', self.world.message('stack_update') or '')
        plan = self.run_plan(
            action('u', 'stack_update', input_parameters={'stack': 'unknown'})
        )
        self.assertEqual('FAILED', plan.state)
        self.assertEqual(
            'Action failed in pre_condition: The Stack (unknown) could not be found.',
            self.world.message('u'),
        )
        self.assertEqual('CREATE_COMPLETE', self.world.reload(self.stack).state.name)

    def test_an_update_waits_for_a_running_operation(self) -> None:
        gate = self.create_gate_at(self.world, 'check', 'a')
        self.world.stacks.start_operation(self.stack.uuid, TENANT, 'CHECK')
        gate.wait_until_entered()

        plan = self.world.start(self.world.do('stack_update', self.stack))
        self.world.wait_for_action('stack_update', 'WAITING')
        gate.open()

        self.assertEqual('SUCCEEDED', self.world.wait_until_ended(plan).state)
        self.assertEqual(
            ['CHECK_COMPLETE', 'UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE'],
            [
                state
                for name, state in self.world.transitions(self.stack)
                if name == 's'
            ][3:],
        )

    def test_an_update_superseded_by_a_user_fails(self) -> None:
        gate = self.create_gate_at(self.world, 'update', 'a')
        plan = self.start_update_plan()
        gate.wait_until_entered()

        self.world.start_update(self.stack, {**TWO, 'a': res(value='4')})
        gate.open()

        self.assert_superseded(plan, 'was cancelled')

    def test_an_update_does_not_supersede_a_later_request(self) -> None:
        self.engine.stop(1.0)
        self.world.workers.remove(self.engine)
        plan = self.start_update_plan()
        self.world.wait_for_action('stack_update', 'WAITING')

        self.world.start_update(self.stack, {**TWO, 'a': res(value='4')})
        self.world.worker(lanes=('engine',))

        self.assert_superseded(
            plan, 'Stack s already has an action (UPDATE) in progress.'
        )

    def assert_superseded(self, plan: ActionPlan, text: str) -> None:
        """Check that a plan failed, and that the operation of the user succeeded."""
        self.assertEqual('FAILED', self.world.wait_until_ended(plan).state)
        self.assertIn(text, self.world.message('stack_update') or '')
        stack = self.world.wait_until_settled(self.stack)
        value = self.world.resource(stack, 'a').properties['value']
        self.assertEqual(('UPDATE_COMPLETE', '4'), (stack.state.name, value))

    def test_an_ambiguous_name_needs_the_project(self) -> None:
        whole = template(TWO)
        other = self.world.stacks.create(StackRequest('s', whole), 'another-project')
        self.world.wait_until_settled(other)

        self.run_plan(
            action('u', 'stack_update', input_parameters={'stack': 's'}),
            action(
                'v', 'stack_update', input_parameters={'stack': 's', 'tenant': TENANT}
            ),
        )

        self.assertIn('specify the tenant', self.world.message('u') or '')
        self.assertEqual('SUCCEEDED', self.world.statuses()['v'])
        self.assertEqual('CREATE_COMPLETE', self.world.reload(other).state.name)
        self.assertEqual('UPDATE_COMPLETE', self.world.reload(self.stack).state.name)


class TestCheck(PlanWorldCase):
    """`stack_check`."""

    def test_an_unhealthy_resource_does_not_fail_a_check(self) -> None:
        gone = self.world.ids(self.stack)['b'] or ''
        del self.world.external.samples[gone]

        plan = self.run_plan(self.world.do('stack_check', self.stack))

        self.assertEqual('SUCCEEDED', plan.state)
        self.assertEqual('CHECK_FAILED', self.world.reload(self.stack).state.name)
        outputs = self.world.action('stack_check').outputs or {}
        self.assertEqual(
            [{'stack': 's', 'resource': 'b', 'reason': f'{gone} is not there'}],
            outputs['unhealthy'],
        )


class TestCancel(PlanWorldCase):
    """The operation continues or ends when the action of the plan ends."""

    def setUp(self) -> None:
        super().setUp()
        self.gate = self.create_gate_at(self.world, 'update', 'a')
        self.plan = self.start_update_plan()
        self.gate.wait_until_entered()
        self.world.wait_for_action('stack_update', 'WAITING')

    def test_a_cancel_of_the_plan_cancels_the_operation(self) -> None:
        self.world.plans.cancel(self.plan.uuid)
        self.assertEqual('CANCELLED', self.assert_cancelled().state)

    def test_a_cancel_of_the_action_cancels_the_operation(self) -> None:
        uuid = self.world.action('stack_update').uuid
        self.world.plans.signal_action(uuid, 'CANCEL')
        self.assert_cancelled()

    def assert_cancelled(self) -> ActionPlan:
        """Check that the operation and the action are cancelled; return the plan."""
        self.gate.open()
        plan = self.world.wait_until_ended(self.plan)
        stack = self.world.wait_until_settled(self.stack)
        self.assertEqual(
            ('UPDATE_FAILED', 'Stack UPDATE cancelled'),
            (stack.state.name, stack.status_reason),
        )
        self.assertEqual('CANCELLED', self.world.statuses()['stack_update'])
        return plan


class TestLostWorkers(PlanWorldCase):
    """The waiting action and the operation survive the loss of their workers."""

    #: The interval between the commits after which a worker dies.
    every = 1

    def test_the_workers_of_a_waiting_plan_and_of_its_operation_are_lost(self) -> None:
        gate = self.create_gate_at(self.world, 'update', 'a')
        plan = self.start_update_plan()
        gate.wait_until_entered()
        self.world.wait_for_action('stack_update', 'WAITING')

        self.world.kill(self.applier)
        self.world.kill(self.engine)
        del self.world.external.gates['update', 'a']
        self.world.worker(lanes=('engine',))
        self.world.wait_until_settled(self.stack)
        self.world.worker(lanes=('applier',))

        self.assertEqual('SUCCEEDED', self.world.wait_until_ended(plan).state)
        self.assertEqual('UPDATE_COMPLETE', self.world.reload(self.stack).state.name)

    def test_an_operation_is_executed_once_after_a_loss_at_any_commit(self) -> None:
        for lane, other, commits in (
            ('engine', 'applier', 8),
            ('applier', 'engine', 6),
        ):
            for commit in range(1, commits + 1, self.every):
                with self.subTest(lane=lane, commit=commit):
                    self._run_across_worker_loss(lane, other, commit)

    def _run_across_worker_loss(self, lane: str, other: str, commit: int) -> None:
        world = PlanWorld(self.make_store(), lease=60.0, sweep_interval=0.2)
        try:
            first = world.worker(lanes=('applier', 'engine'))
            stack = world.make(TWO)
            before = len(world.transitions(stack))
            first.stop(1.0)
            world.workers.remove(first)
            world.worker(lanes=(other,))
            doomed = world.worker(lanes=(lane,), dies_after=commit)
            plan = world.start(
                world.do('stack_update', stack, template=template({**TWO, 'c': res()}))
            )
            world.wait_until(
                lambda: (
                    world.is_dead(doomed)
                    or world.store.get_plan(plan.uuid).state == 'SUCCEEDED'
                )
            )
            if world.is_dead(doomed):
                world.kill(doomed)
            world.worker(lanes=(lane,))
            self.assertEqual('SUCCEEDED', world.wait_until_ended(plan).state)
            self.assertEqual(3, len(world.external.samples), world.report(plan))
            self.assertEqual(
                [
                    ('s', 'UPDATE_IN_PROGRESS'),
                    ('c', 'CREATE_IN_PROGRESS'),
                    ('c', 'CREATE_COMPLETE'),
                    ('s', 'UPDATE_COMPLETE'),
                ],
                world.transitions(stack)[before:],
            )
        finally:
            world.stop()


class TestEngineLane(PlanWorldCase):
    """An action without a plan does the same."""

    def test_an_action_waits_in_the_engine_lane_and_passes_its_lock_on(self) -> None:
        new = self.world.new_action(
            'alone', 'stack_update', inputs={'stack': self.stack.uuid}
        )
        self.world.add(new)

        self.world.wait_for_action('alone', 'SUCCEEDED')

        self.assertEqual('UPDATE_COMPLETE', self.world.reload(self.stack).state.name)
        target = f'stack:{self.stack.uuid}'
        plan = self.run_plan(
            {**self.world.do('stack_update', self.stack), 'target': target}
        )
        self.assertEqual('SUCCEEDED', plan.state)


class TestWithoutAWorker(PlanWorldCase):
    """A plan is validated by a process that cannot execute actions."""

    def test_inputs_are_validated_when_a_plan_is_stored(self) -> None:
        error = self.assertRaises(
            exceptions.InvalidDocument,
            self.world.create,
            self.world.do('stack_lock', self.stack, level='some'),
        )

        self.assertIn('level', str(error))
        # Only a worker can execute them.
        alone = plan_actions.StackUpdate()
        self.assertRaises(exceptions.PluginError, lambda: alone.services)
        self.assertRaises(exceptions.PluginError, lambda: alone.operations)
