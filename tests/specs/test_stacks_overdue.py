"""Operations on stacks that wait for their resources past the deadline."""

from tests.stack_worlds import StackWorldCase, res
from watcherlite.domain.actions import ActionChange


class TestOverdueOperation(StackWorldCase):
    """An operation past its deadline whose resources no worker has cancelled."""

    def test_an_overdue_operation_is_cancelled_and_rolled_back(self) -> None:
        world = self.create_stack_world()
        gate = self.create_gate_at(world, 'create', 'x')
        worker = world.worker()
        stack = world.start_creation(
            {'x': res(), 'y': res(), 'z': res(_depends_on=['x'])},
            disable_rollback=False,
        )
        gate.wait_until_entered()
        world.wait_until(lambda: world.states(stack)['y'] == 'CREATE_COMPLETE')
        (operation,) = [a for a in world._actions() if a.action_type == 'stack']
        deadline, now = operation.deadline, world.clock.now()
        assert deadline is not None
        # By its own deadline, the operation would end before the timeout of the action.
        self.assertGreater(deadline, world.reload(stack).deadline)
        with world.store.transaction() as tx:
            tx.change_actions([ActionChange(operation, operation.evolve(deadline=now))])

        worker.sweeper.sweep()
        self.assertEqual('CREATE_IN_PROGRESS', world.reload(stack).state.name)
        gate.open()

        stack = world.wait_until_settled(stack)
        self.assertEqual('ROLLBACK_COMPLETE', stack.state.name)
        self.assertEqual(['x', 'y'], sorted(world.external.of('create')))
        self.assertEqual({}, world.external.samples)
