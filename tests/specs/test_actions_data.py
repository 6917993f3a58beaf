"""Spec 001, The action data property: decisions of policies, and their storage."""

import copy
from collections.abc import Callable
from typing import Any

from tests.policies import chain_of
from tests.worlds import World, WorldCase, action, kind, ran
from watcherlite.plugins.base import Policy
from watcherlite.states import action as states


def policy(
    number: int,
    before: Callable[[Any, dict[str, Any]], None] | None = None,
    after: Callable[[Any, dict[str, Any]], None] | None = None,
) -> Policy:
    """Return a policy on actions of the type 'scale_in'."""

    class ThePolicy(Policy):
        priority = number

        def pre_op(self, context: Any, data: dict[str, Any]) -> None:
            if before:
                before(context, data)

        def post_op(self, context: Any, data: dict[str, Any]) -> None:
            if after:
                after(context, data)

    ThePolicy.before = frozenset({'scale_in'} if before else ())
    ThePolicy.after = frozenset({'scale_in'} if after else ())
    return ThePolicy()


class TestPoliciesExchangeDecisions(WorldCase):
    """The example of the spec: scaling, deletion and load balancing."""

    def run_with(
        self, *policies: Policy, execute: Any = None
    ) -> tuple[World, dict[str, Any]]:
        world = self.create_world(
            {'scale_in': kind(execute=execute or (lambda c: True))}
        )
        world.worker(policies=chain_of(*policies))
        world.run(action('a', 'scale_in'), action('b'))
        return world, dict(world.action('a').data)

    def test_decisions_are_visible_to_later_policies_and_the_action(self) -> None:
        seen: list[Any] = []

        def scaling(context: Any, data: dict[str, Any]) -> None:
            data['deletion'] = {'count': 2}

        def deletion(context: Any, data: dict[str, Any]) -> None:
            data['deletion']['candidates'] = ['n-1', 'n-2'][: data['deletion']['count']]

        def load_balancing(context: Any, data: dict[str, Any]) -> None:
            seen.append(copy.deepcopy(data))

        decided = {'deletion': {'count': 2, 'candidates': ['n-1', 'n-2']}}
        _, data = self.run_with(
            policy(300, load_balancing),
            policy(200, deletion),
            policy(100, scaling),
            execute=lambda c: seen.append(c.data) or True,
        )
        self.assertEqual([decided, decided], seen)
        self.assertEqual(decided, data)

    def test_a_decision_is_durable_before_the_next_policy_runs(self) -> None:
        stored: list[Any] = []
        world: World

        def decide(context: Any, data: dict[str, Any]) -> None:
            data['count'] = data.get('count', 0) + 1

        def record_row(context: Any, data: dict[str, Any]) -> None:
            row = world.store.get_action(context.action_uuid)
            stored.append((row.status, row.data))

        world = self.create_world({'scale_in': kind()})
        chain = [policy(1, decide, decide), policy(2, record_row, record_row)]
        world.worker(policies=chain_of(*chain))
        plan = world.run(action('a', 'scale_in'))
        self.assertEqual([('READY', {'count': 1}), ('RUNNING', {'count': 2})], stored)
        self.assertEqual(ran('a'), world.history(plan, 'a'))

    def test_a_decision_survives_the_worker(self) -> None:
        gate = self.create_gate()
        asked: list[Any] = []

        def decide(context: Any, data: dict[str, Any]) -> None:
            asked.append(dict(data))
            data.setdefault('candidates', f'by attempt {context.attempt}')

        def act(context: Any, data: dict[str, Any]) -> None:
            if context.attempt == 1:
                gate()

        world = self.create_world({'scale_in': kind()})
        chain = chain_of(policy(1, decide), policy(2, act))
        worker = world.worker(policies=chain)
        plan = world.start(action('a', 'scale_in'))
        gate.wait_until_entered()
        world.kill(worker)
        world.worker(policies=chain)
        world.wait_until_ended(plan)
        self.assertEqual([{}, {'candidates': 'by attempt 1'}], asked)
        self.assertEqual({'candidates': 'by attempt 1'}, world.action('a').data)

    def test_data_that_is_not_json_fails_the_action(self) -> None:
        world, data = self.run_with(policy(1, lambda c, data: data.update(x={1})))
        self.assertEqual(
            "Policy check failure: Failed policy 'ThePolicy': ThePolicy.pre_op left "
            'data that is not JSON: x: this is a set, which JSON does not have',
            world.action('a').status_message,
        )
        self.assertEqual({}, data)
        self.assertEqual(states.SUCCEEDED, world.action('b').status)

    def test_a_fenced_worker_does_not_apply_a_decision(self) -> None:
        gate = self.create_gate()
        acted: list[int] = []

        def decide(context: Any, data: dict[str, Any]) -> None:
            if context.attempt == 1:
                gate()
            data['by'] = context.attempt

        chain = chain_of(
            policy(1, decide),
            policy(2, lambda context, data: acted.append(context.attempt)),
        )
        world = self.create_world({'scale_in': kind()})
        zombie = world.worker(policies=chain)
        plan = world.start(action('a', 'scale_in'))
        gate.wait_until_entered()
        world.store.end_lease(zombie.record.uuid)
        world.worker(policies=chain)
        world.wait_until_ended(plan)
        gate.open()
        world.wait_until(lambda: not zombie.dispatcher.owned)
        self.assertEqual([2], acted)
        self.assertEqual({'by': 2}, world.action('a').data)
