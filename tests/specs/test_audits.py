"""Audits: from the request to the plan, and their notifications."""

import dataclasses
from typing import Any

from tests.audit_worlds import AuditCase, propose_actions, strategy
from tests.worlds import kind
from watcherlite import exceptions
from watcherlite.domain.solutions import Solution
from watcherlite.engine.audits import runs
from watcherlite.plugins.planners.graph import Graph

#: The notifications of the audit of a successful run.
WELL = [
    ('created', 'PENDING', None),
    ('state_changed', 'ONGOING', None),
    ('strategy.start', 'ONGOING', None),
    ('strategy.end', 'ONGOING', None),
    ('planner.start', 'ONGOING', None),
    ('planner.end', 'ONGOING', None),
    ('state_changed', 'SUCCEEDED', None),
]


def raising(error: BaseException) -> Any:
    def execute(context: Any) -> Any:
        raise error

    return strategy(execute)


def figures(**given: int) -> Any:
    """Return a strategy for server_consolidation that reports these indicators."""

    def execute(context: Any) -> Any:
        solution = propose_actions('nop')
        solution.set_efficacy_indicators(**given)
        return solution

    return strategy(execute, goal='server_consolidation')


class IncompletePlanner(Graph):
    """A planner that loses all but one action."""

    def plan(self, solution: Any, name: str | None = None) -> Any:
        return super().plan(propose_actions('nop'), name)


class MissingParentPlanner(Graph):
    """A planner that gives each action a parent that does not exist."""

    def plan(self, solution: Any, name: str | None = None) -> Any:
        plan = super().plan(solution, name)
        return dataclasses.replace(
            plan,
            actions=tuple(
                dataclasses.replace(each, parents=('unknown',)) for each in plan.actions
            ),
        )


class TestOneshot(AuditCase):
    """A ONESHOT audit runs once, immediately."""

    def test_an_audit_proposes_a_plan_and_notifies_each_step(self) -> None:
        world = self.create_engine_world()
        audit = world.wait_for_audit_end(
            world.audit(parameters={'para2': 'good morning'})
        )
        self.assertEqual(
            [
                'audit created PENDING',
                'action created READY',
                'action state_changed READY RUNNING',
                'audit state_changed PENDING ONGOING',
                'audit strategy.start ONGOING ONGOING',
                'audit strategy.end ONGOING ONGOING',
                'audit planner.start ONGOING ONGOING',
                'action_plan created RECOMMENDED',
                'action created INIT',
                'action created INIT',
                'action created INIT',
                'audit planner.end ONGOING ONGOING',
                'audit state_changed ONGOING SUCCEEDED',
                'action state_changed RUNNING SUCCEEDED',
            ],
            world.all_events(),
        )
        self.assertEqual(WELL, world.audit_events(audit))
        self.assertEqual('alpha', audit.hostname)
        (plan,) = world.plans_of(audit)
        chosen = world.store.find_strategy('dummy').strategy
        self.assertEqual(
            ('RECOMMENDED', audit.id, chosen.id, 3, 'the audit'),
            (plan.state, plan.audit_id, plan.strategy_id, plan.total, plan.name),
        )
        context = {'user': 'a test', 'creator': {}}
        self.assertEqual(
            [
                ('nop', {'message': 'hello World'}, 0, context),
                ('nop', {'message': 'good morning'}, 1, context),
                ('sleep', {'duration': 3.2}, 1, context),
            ],
            [
                (a.action_type, a.inputs, len(a.parents), a.context)
                for a in world.store.list_actions(plan_id=plan.id)
            ],
        )
        action = world.store.actions_by_id([audit.action_id or 0])[audit.action_id or 0]
        self.assertEqual(
            ('audit', 'engine', None, {'action_plan': plan.uuid}),
            (action.action_type, action.lane, action.plan_id, action.outputs),
        )

    def test_a_created_audit_sends_a_hint_to_the_engine(self) -> None:
        world = self.create_audit_world()
        world.audit()
        self.assertEqual(
            ['RunActions', 'EventsStored'],
            [type(m).__name__ for m in world.sent_messages],
        )

    def test_auto_trigger_starts_the_plan(self) -> None:
        """A plan without actions succeeds immediately."""
        world = self.create_engine_world(
            strategies={'content': strategy(lambda context: Solution())}
        )
        for name, total, states in (
            (
                *('dummy', 3),
                ['RECOMMENDED PENDING', 'PENDING ONGOING', 'ONGOING SUCCEEDED'],
            ),
            ('content', 0, ['RECOMMENDED SUCCEEDED']),
        ):
            audit_state = len(world.all_events())
            audit = world.audit(strategy=name, name=name, auto_trigger=True)
            audit = world.wait_for_audit_end(audit)
            (plan,) = world.plans_of(audit)
            plan = world.wait_until_ended(plan)
            self.assertEqual(
                ('SUCCEEDED', 'SUCCEEDED', total), (audit.state, plan.state, plan.total)
            )
            changes = [f'action_plan state_changed {change}' for change in states]
            news = world.all_events()[audit_state:]
            self.assertEqual(
                ['action_plan created RECOMMENDED', *changes],
                [line for line in news if line.startswith('action_plan')],
            )

    def test_a_strategy_receives_its_parameters_its_scope_and_the_time(self) -> None:
        """Also the first strategy of the goal, which runs if the audit names none."""
        seen: list[Any] = []

        def record_context(context: Any) -> Any:
            context.checkpoint()
            context.sleep(0)
            seen.append(
                (
                    dict(context.parameters),
                    context.scope,
                    context.now(),
                    context.goal,
                    context.audit_name,
                    context.audit_uuid,
                    context.model('compute'),
                )
            )
            return propose_actions('nop')

        schema = {'type': 'object', 'properties': {'n': {'default': 3}}}
        world = self.create_engine_world(
            strategies={'a_first': strategy(record_context, schema=schema)}
        )
        world.models['compute'] = lambda scope, creator: ('a model of', scope)
        scope = [{'compute': []}]
        chosen = world.store.find_strategy('a_first').strategy.id
        for named, parameters in (('a_first', {'n': 3}), (None, {})):
            audit = world.audit(strategy=named, scope=scope, name=str(named))
            audit = world.wait_for_audit_end(audit)
            (plan,) = world.plans_of(audit)
            self.assertEqual(
                (chosen if named else None, parameters, chosen),
                (audit.strategy_id, dict(audit.parameters), plan.strategy_id),
            )
            self.assertEqual(
                (
                    {'n': 3},
                    scope,
                    self.clock.now(),
                    'dummy',
                    str(named),
                    audit.uuid,
                    ('a model of', scope),
                ),
                seen.pop(),
            )
        self.assertEqual([], seen)

    def test_the_plan_has_the_parents_given_to_the_actuator(self) -> None:
        world = self.create_engine_world()
        given = [
            {'action_type': 'sleep', 'input_parameters': {}, 'name': 'first'},
            {
                'action_type': 'nop',
                'input_parameters': {'message': 'x'},
                'name': 'then',
                'parents': ['first'],
            },
        ]
        audit = world.audit(
            goal='unclassified', strategy='actuator', parameters={'actions': given}
        )
        world.wait_for_audit_end(audit)
        (plan,) = world.plans_of(audit)
        actions = world.store.list_actions(plan_id=plan.id)
        self.assertEqual(
            [('first', ()), ('then', (actions[0].uuid,))],
            [(a.name, tuple(a.parents)) for a in actions],
        )


class TestFailures(AuditCase):
    """The status messages of a failed run."""

    def test_a_strategy_that_raises_fails_the_audit(self) -> None:
        made = raising(exceptions.Invalid('no host is left'))
        world = self.create_engine_world(strategies={'made': made})
        audit = world.wait_for_audit_end(world.audit(strategy='made'))
        message = 'Strategy made failed: no host is left'
        self.assertEqual(
            [
                ('created', 'PENDING', None),
                ('state_changed', 'ONGOING', None),
                ('strategy.start', 'ONGOING', None),
                ('strategy.error', 'ONGOING', message),
                ('state_changed', 'FAILED', message),
            ],
            world.audit_events(audit),
        )
        self.assertEqual(
            f'Action failed in execute: {message}',
            world.action('the audit').status_message,
        )
        self.assertEqual([], world.plans_of(audit))
        (detail,) = [
            e.detail
            for e in world.events()
            if e.detail and e.detail.get('step') == 'strategy.error'
        ]
        self.assertEqual(
            {
                'exception': 'Invalid',
                'message': 'no host is left',
                'module': 'tests.specs.test_audits',
                'function': 'execute',
            },
            dict(detail['fault']),
        )

    def test_a_failed_audit_reports_its_reason_and_the_next_one_runs(self) -> None:
        def misspelt(context: Any) -> Any:
            solution = Solution()
            solution.add_action('nop', {'mesage': 'x'})
            return solution

        unweighted = (
            'Planner weight failed: There is no weight for the action type unweighted; '
            'add it to weights in [watcherlite.planners.weight]'
        )
        # The text of a foreign exception appears in the log only.
        cases = {
            'raises': (
                raising(ValueError('password=hunter2')),
                'Strategy raises failed: ValueError',
            ),
            'exits': (raising(SystemExit('bye')), 'Strategy exits failed: SystemExit'),
            'list': (
                strategy(lambda context: ['nop']),
                'Strategy list failed: The strategy list returned a list, not a '
                'Solution',
            ),
            'model': (
                strategy(lambda context: context.model('compute')),
                'Strategy model failed: There is no model compute of the '
                'infrastructure; there are: none',
            ),
            'none': (
                figures(),
                'Strategy none failed: The goal server_consolidation needs the '
                'indicators compute_nodes_count, instance_migrations_count, '
                'released_compute_nodes_count, which the strategy did not set',
            ),
            'negative': (
                figures(
                    compute_nodes_count=4,
                    released_compute_nodes_count=-1,
                    instance_migrations_count=2,
                ),
                'Strategy negative failed: indicator released_compute_nodes_count: -1 '
                'is less than the minimum of 0',
            ),
            'unweighted': (
                strategy(lambda context: propose_actions('unweighted')),
                unweighted,
            ),
            'engine': (
                strategy(lambda context: propose_actions('audit'), planner='graph'),
                'Planner graph failed: actions[0].action_type: action audit-1: There '
                'is no action type audit. Installed: nop, sleep.',
            ),
            'misspelt': (
                strategy(misspelt),
                'Planner weight failed: actions[0]: action nop-1: '
                'input_parameters.message: is required; input_parameters.mesage: is '
                'not known, did you mean message?',
            ),
            'loses': (
                strategy(
                    lambda context: propose_actions('nop', 'nop'), planner='forgetful'
                ),
                'Planner forgetful failed: The planner forgetful did not keep the '
                'actions of the solution',
            ),
            'parents': (
                strategy(planner='careless'),
                'Planner careless failed: actions[0].parents[0]: there is no action '
                "'unknown'",
            ),
            'missing': (
                strategy(planner='missing'),
                'Planner missing failed: There is no planner missing. Installed: '
                'careless, forgetful, graph, weight.',
            ),
        }
        world = self.create_engine_world(
            strategies={name: made for name, (made, _) in cases.items()},
            planners={'forgetful': IncompletePlanner, 'careless': MissingParentPlanner},
        )
        found: dict[str, Any] = {}
        for name, (made, _) in cases.items():
            audit = world.audit(goal=made.goal, strategy=name, name=name)
            audit = world.wait_for_audit_end(audit)
            found[name] = audit.state, audit.status_message, world.plans_of(audit)
            if name == 'unweighted':
                recorded = world.audit_events(audit)
        self.assertEqual(
            {name: ('FAILED', message, []) for name, (_, message) in cases.items()},
            found,
        )
        self.assertEqual(
            [
                ('strategy.end', 'ONGOING', None),
                ('planner.start', 'ONGOING', None),
                ('planner.error', 'ONGOING', unweighted),
                ('state_changed', 'FAILED', unweighted),
            ],
            recorded[3:],
        )
        self.assertEqual('SUCCEEDED', world.wait_for_audit_end(world.audit()).state)
        self.assertIn('hunter2', self.log.output)

    def test_a_goal_without_strategies_fails_with_a_reason(self) -> None:
        world = self.create_engine_world()
        audit = world.wait_for_audit_end(world.audit(goal='server_consolidation'))
        self.assertEqual(
            (
                'FAILED',
                'Strategy failed: No strategy for the goal server_consolidation is '
                'installed; name one, or install one',
            ),
            (audit.state, audit.status_message),
        )

    def test_the_efficacy_indicators_are_stored_with_the_plan(self) -> None:
        made = figures(
            compute_nodes_count=4,
            released_compute_nodes_count=1,
            instance_migrations_count=2,
        )
        world = self.create_engine_world(strategies={'made': made})
        audit = world.audit(goal='server_consolidation', strategy='made')
        world.wait_for_audit_end(audit)
        (plan,) = world.plans_of(audit)
        self.assertEqual(
            [
                ('compute_nodes_count', 4, None),
                ('released_compute_nodes_count', 1, None),
                ('instance_migrations_count', 2, None),
            ],
            [(i['name'], i['value'], i['unit']) for i in plan.efficacy_indicators],
        )
        self.assertEqual(
            [('released_nodes_ratio', 25.0, '%')],
            [(i['name'], i['value'], i['unit']) for i in plan.global_efficacy],
        )

    def run_past_timeout(self, world: Any, entered: Any) -> Any:
        audit = world.audit(strategy='slow')
        entered.wait_until_entered()

        def is_over() -> bool:
            self.clock.advance(1)
            return world.reload(audit).state == 'FAILED'

        world.wait_until(is_over)
        return world.wait_for_audit_end(audit)

    def test_a_strategy_fails_after_its_timeout(self) -> None:
        entered = self.create_gate()
        world = self.create_engine_world(
            strategies={'slow': strategy(lambda context: entered())},
            default_action_timeout=60,
            signal_grace=1.0,
        )
        audit = self.run_past_timeout(world, entered)
        self.assertEqual(
            'Action failed in execute: it ran longer than its timeout',
            audit.status_message,
        )
        # The solution that it returns later is dropped.
        entered.open()
        world.wait_for_audit_end(world.audit(name='another'))
        self.assertEqual([], world.plans_of(audit))

    def test_a_cooperative_strategy_is_stopped_at_its_timeout(self) -> None:
        entered, listens = self.create_listener()
        world = self.create_engine_world(
            strategies={'slow': listens}, default_action_timeout=60
        )
        self.assertEqual(
            'Strategy slow failed: it ran longer than the timeout of the action',
            self.run_past_timeout(world, entered).status_message,
        )


class TestWhileAPlanIsOngoing(AuditCase):
    """A ONESHOT audit is rejected while its objects are changed, unless forced."""

    def start_ongoing_plan(self) -> Any:
        gate = self.create_gate()
        world = self.create_engine_world(types={'slow': kind(execute=gate)})
        plan = world.start({'name': 'x', 'action_type': 'slow'})
        gate.wait_until_entered()
        world.wait_for_plan(plan, 'ONGOING')
        return world, gate, plan

    def test_an_audit_is_cancelled_with_a_reason_unless_it_is_forced(self) -> None:
        world, _, _ = self.start_ongoing_plan()
        audit = world.wait_for_audit_end(world.audit())
        self.assertEqual(
            [
                ('created', 'PENDING', None),
                ('state_changed', 'CANCELLED', runs.PLAN_IS_ONGOING),
            ],
            world.audit_events(audit),
        )
        self.assertEqual('CANCELLED', world.action('the audit').status)
        forced = world.wait_for_audit_end(world.audit(force=True, name='forced'))
        self.assertEqual(WELL, world.audit_events(forced))

    def test_continuous_audits_wait_for_their_next_run(self) -> None:
        def audit_state(audit: Any) -> Any:
            return audit.state, audit.status_message

        world, gate, plan = self.start_ongoing_plan()
        repeated = world.audit(audit_type='CONTINUOUS', interval='60')
        once = world.audit(
            audit_type='CONTINUOUS', interval='0 0 1 1 * 0 2030', name='once'
        )
        event = world.audit(audit_type='EVENT', name='event')
        world.audits.trigger(event.uuid)
        self.assertEqual(
            [
                ('ONGOING', runs.PLAN_IS_ONGOING),
                ('SUCCEEDED', runs.NO_NEXT_RUN),
                ('PENDING', runs.PLAN_IS_ONGOING),
            ],
            [
                audit_state(world.wait_for_runs(audit, 1))
                for audit in (repeated, once, event)
            ],
        )
        gate.open()
        world.wait_until_ended(plan)
        repeated = self.pass_time(world, repeated, 60)
        world.audits.trigger(event.uuid)
        event = world.wait_for_runs(event, 2)
        self.assertEqual(
            [('ONGOING', None), ('SUCCEEDED', None)],
            [audit_state(repeated), audit_state(event)],
        )
        self.assertEqual(1, len(world.plans_of(repeated)))
