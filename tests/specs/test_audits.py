"""Audits: from the request to the plan, and what is told of it."""

from typing import Any

from tests.audit_worlds import AuditCase, proposes, strategy
from tests.worlds import kind
from watcherlite import exceptions
from watcherlite.domain.solutions import Solution
from watcherlite.engine.audits import runs
from watcherlite.plugins.planners.graph import Graph

#: What is told of the audit of a run that goes well.
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


class TestOneshot(AuditCase):
    """It runs once, at once."""

    def test_it_proposes_a_plan_and_tells_of_each_step(self) -> None:
        world = self.an_engine()
        audit = world.audit()
        world.until_over(audit)
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
            world.whole_story(),
        )
        self.assertEqual(WELL, world.audit_story(audit))

    def test_the_plan_knows_its_audit_and_its_strategy(self) -> None:
        world = self.an_engine()
        audit = world.audit(parameters={'para2': 'good morning'})
        audit = world.until_over(audit)
        (plan,) = world.plans_of(audit)
        chosen = world.store.find_strategy('dummy').strategy
        self.assertEqual(
            ('RECOMMENDED', audit.id, chosen.id, 3, 'the audit'),
            (plan.state, plan.audit_id, plan.strategy_id, plan.total, plan.name),
        )
        actions = world.store.list_actions(plan_id=plan.id)
        self.assertEqual(
            [
                ('nop', {'message': 'hello World'}, 0),
                ('nop', {'message': 'good morning'}, 1),
                ('sleep', {'duration': 3.2}, 1),
            ],
            [(a.action_type, a.inputs, len(a.parents)) for a in actions],
        )
        context = {'user': 'a test', 'creator': {}}
        self.assertEqual([context] * 3, [a.context for a in actions])

    def test_its_action_names_the_plan(self) -> None:
        world = self.an_engine()
        audit = world.until_over(world.audit())
        action = world.store.actions_by_id([audit.action_id or 0])[audit.action_id or 0]
        (plan,) = world.plans_of(audit)
        self.assertEqual(
            ('audit', 'engine', None, {'action_plan': plan.uuid}),
            (action.action_type, action.lane, action.plan_id, action.outputs),
        )

    def test_the_engine_is_told_that_there_is_something_to_run(self) -> None:
        world = self.an_audit_world()
        world.audit()
        self.assertEqual(
            ['RunActions', 'EventsStored'], [type(m).__name__ for m in world.told]
        )

    def test_without_a_strategy_the_first_one_of_the_goal_runs(self) -> None:
        world = self.an_engine(strategies={'a_first': strategy()})
        audit = world.until_over(world.audit(strategy=None))
        (plan,) = world.plans_of(audit)
        first = world.store.find_strategy('a_first').strategy
        self.assertEqual((None, first.id), (audit.strategy_id, plan.strategy_id))

    def test_a_goal_without_strategies_fails_and_says_so(self) -> None:
        world = self.an_engine()
        audit = world.until_over(world.audit(goal='server_consolidation'))
        self.assertEqual(
            (
                'FAILED',
                'Strategy failed: No strategy for the goal server_consolidation is '
                'installed; name one, or install one',
            ),
            (audit.state, audit.status_message),
        )

    def test_a_solution_without_actions_is_a_plan_that_has_succeeded(self) -> None:
        world = self.an_engine(
            strategies={'content': strategy(lambda context: Solution())}
        )
        audit = world.until_over(world.audit(strategy='content', auto_trigger=True))
        (plan,) = world.plans_of(audit)
        self.assertEqual(
            ('SUCCEEDED', 'SUCCEEDED', 0), (audit.state, plan.state, plan.total)
        )
        self.assertEqual(
            [
                'action_plan created RECOMMENDED',
                'action_plan state_changed RECOMMENDED SUCCEEDED',
            ],
            [line for line in world.whole_story() if line.startswith('action_plan')],
        )

    def test_auto_trigger_starts_the_plan(self) -> None:
        world = self.an_engine()
        audit = world.audit(auto_trigger=True)
        world.until_over(audit)
        plan = world.until_ended(world.plans_of(audit)[0])
        self.assertEqual('SUCCEEDED', plan.state)
        self.assertEqual(
            [
                'action_plan created RECOMMENDED',
                'action_plan state_changed RECOMMENDED PENDING',
                'action_plan state_changed PENDING ONGOING',
                'action_plan state_changed ONGOING SUCCEEDED',
            ],
            [line for line in world.whole_story() if line.startswith('action_plan')],
        )

    def test_a_strategy_sees_its_parameters_its_scope_and_the_time(self) -> None:
        seen: list[Any] = []

        def look(context: Any) -> Any:
            context.checkpoint()
            context.sleep(0)
            seen.append(
                (
                    context.parameters,
                    context.scope,
                    context.now(),
                    context.goal,
                    context.audit_name,
                    context.audit_uuid,
                    context.model('compute'),
                )
            )
            return proposes('nop')

        schema = {'type': 'object', 'properties': {'n': {'default': 3}}}
        world = self.an_engine(strategies={'looks': strategy(look, schema=schema)})
        world.models['compute'] = lambda scope, creator: ('a model of', scope)
        scope = [{'compute': []}]
        audit = world.until_over(world.audit(strategy='looks', scope=scope))
        self.assertEqual(
            [
                (
                    {'n': 3},
                    scope,
                    self.clock.now(),
                    'dummy',
                    'the audit',
                    audit.uuid,
                    ('a model of', scope),
                )
            ],
            seen,
        )

    def test_a_model_that_nobody_keeps_fails_the_strategy(self) -> None:
        world = self.an_engine(
            strategies={'looks': strategy(lambda context: context.model('compute'))}
        )
        audit = world.until_over(world.audit(strategy='looks'))
        self.assertEqual(
            'Strategy looks failed: There is no model compute of the infrastructure; '
            'there are: none',
            audit.status_message,
        )


class TestFailures(AuditCase):
    """A run that fails says why, where users look."""

    def ran(self, made: Any, **planners: Any) -> tuple[Any, Any]:
        world = self.an_engine(strategies={'made': made}, planners=planners)
        return world, world.until_over(world.audit(strategy='made'))

    def test_a_strategy_that_raises_fails_the_audit(self) -> None:
        world, audit = self.ran(raising(exceptions.Invalid('no host is left')))
        message = 'Strategy made failed: no host is left'
        self.assertEqual(
            [
                ('created', 'PENDING', None),
                ('state_changed', 'ONGOING', None),
                ('strategy.start', 'ONGOING', None),
                ('strategy.error', 'ONGOING', message),
                ('state_changed', 'FAILED', message),
            ],
            world.audit_story(audit),
        )
        self.assertEqual(
            f'Action failed in execute: {message}',
            world.action('the audit').status_message,
        )
        self.assertEqual([], world.plans_of(audit))

    def test_the_event_has_the_fault(self) -> None:
        world, _ = self.ran(raising(exceptions.Invalid('no host is left')))
        (event,) = [
            e
            for e in world.events()
            if (e.detail or {}).get('step') == 'strategy.error'
        ]
        self.assertEqual(
            {
                'exception': 'Invalid',
                'message': 'no host is left',
                'module': 'tests.specs.test_audits',
                'function': 'execute',
            },
            dict((event.detail or {})['fault']),
        )

    def test_the_text_of_a_foreign_exception_stays_in_the_log(self) -> None:
        _, audit = self.ran(raising(ValueError('password=hunter2')))
        self.assertEqual('Strategy made failed: ValueError', audit.status_message)
        self.assertIn('hunter2', self.log.output)

    def test_one_that_leaves_the_process_fails_only_its_audit(self) -> None:
        world, audit = self.ran(raising(SystemExit('bye')))
        self.assertEqual('Strategy made failed: SystemExit', audit.status_message)
        self.assertEqual('SUCCEEDED', world.until_over(world.audit(name='b')).state)

    def test_what_is_no_solution_fails_the_strategy(self) -> None:
        _, audit = self.ran(strategy(lambda context: ['nop']))
        self.assertEqual(
            'Strategy made failed: The strategy made returned a list, not a Solution',
            audit.status_message,
        )

    def test_a_type_without_a_weight_fails_the_planner(self) -> None:
        world, audit = self.ran(strategy(lambda context: proposes('unweighted')))
        message = (
            'Planner weight failed: There is no weight for the action type unweighted; '
            'add it to weights in [watcherlite.planners.weight]'
        )
        self.assertEqual(
            [
                ('strategy.end', 'ONGOING', None),
                ('planner.start', 'ONGOING', None),
                ('planner.error', 'ONGOING', message),
                ('state_changed', 'FAILED', message),
            ],
            world.audit_story(audit)[3:],
        )

    def test_an_action_type_of_the_engine_cannot_be_proposed(self) -> None:
        made = strategy(lambda context: proposes('audit'), planner='graph')
        _, audit = self.ran(made)
        self.assertIn('There is no action type audit.', audit.status_message or '')

    def test_inputs_that_do_not_fit_fail_the_planner(self) -> None:
        def execute(context: Any) -> Any:
            solution = Solution()
            solution.add_action('nop', {'mesage': 'x'})
            return solution

        _, audit = self.ran(strategy(execute))
        self.assertIn('did you mean message?', audit.status_message or '')

    def test_a_planner_that_loses_an_action_is_found_out(self) -> None:
        class Forgetful(Graph):
            def plan(self, solution: Any, name: str | None = None) -> Any:
                return super().plan(proposes('nop'), name)

        made = strategy(lambda context: proposes('nop', 'nop'), planner='forgetful')
        _, audit = self.ran(made, forgetful=Forgetful)
        self.assertEqual(
            'Planner forgetful failed: The planner forgetful did not keep the actions '
            'of the solution',
            audit.status_message,
        )

    def test_a_planner_that_is_not_installed_fails_the_run(self) -> None:
        _, audit = self.ran(strategy(planner='nowhere'))
        self.assertEqual(
            'Planner nowhere failed: There is no planner nowhere. Installed: graph, '
            'weight.',
            audit.status_message,
        )

    def test_the_figures_of_the_goal_are_wanted(self) -> None:
        for given, said in (
            ({}, 'needs the indicators compute_nodes_count, instance_migrations_count'),
            (
                {
                    'compute_nodes_count': 4,
                    'released_compute_nodes_count': -1,
                    'instance_migrations_count': 2,
                },
                'indicator released_compute_nodes_count: -1 is less than the minimum',
            ),
        ):

            def execute(context: Any, given: Any = given) -> Any:
                solution = proposes('nop')
                solution.set_efficacy_indicators(**given)
                return solution

            made = strategy(execute, goal='server_consolidation')
            world = self.an_engine(strategies={'made': made})
            audit = world.until_over(
                world.audit(goal='server_consolidation', strategy='made')
            )
            self.assertIn(said, audit.status_message or '')

    def test_the_figures_are_kept_with_the_plan(self) -> None:
        def execute(context: Any) -> Any:
            solution = proposes('nop')
            solution.set_efficacy_indicators(
                compute_nodes_count=4,
                released_compute_nodes_count=1,
                instance_migrations_count=2,
            )
            return solution

        made = strategy(execute, goal='server_consolidation')
        world = self.an_engine(strategies={'made': made})
        audit = world.audit(goal='server_consolidation', strategy='made')
        world.until_over(audit)
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

    def test_a_strategy_that_runs_too_long_is_failed(self) -> None:
        entered = self.a_gate()
        world = self.an_engine(
            strategies={'slow': strategy(lambda context: entered())},
            default_action_timeout=60,
            signal_grace=1.0,
        )
        audit = world.audit(strategy='slow')
        entered.until_entered()

        def is_over() -> bool:
            self.clock.advance(1)
            return world.now(audit).state == 'FAILED'

        world.until(is_over)
        audit = world.until_over(audit)
        self.assertEqual(
            ('FAILED', 'Action failed in execute: it ran longer than its timeout'),
            (audit.state, audit.status_message),
        )
        # What it proposes in the end is dropped.
        entered.open()
        world.until_over(world.audit(name='another'))
        self.assertEqual([], world.plans_of(audit))

    def test_a_strategy_that_listens_is_stopped_when_its_time_is_over(self) -> None:
        entered = self.a_gate()
        entered.open()

        def listens(context: Any) -> Any:
            entered()
            context.sleep(10**6)

        world = self.an_engine(
            strategies={'slow': strategy(listens)}, default_action_timeout=60
        )
        audit = world.audit(strategy='slow')
        entered.until_entered()

        def is_over() -> bool:
            self.clock.advance(1)
            return world.now(audit).state == 'FAILED'

        world.until(is_over)
        self.assertEqual(
            'Strategy slow failed: it ran longer than the timeout of the action',
            world.now(audit).status_message,
        )


class TestWhileAPlanIsOngoing(AuditCase):
    """A ONESHOT audit does not look at what is being changed, unless forced to."""

    def busy(self) -> Any:
        gate = self.a_gate()
        world = self.an_engine(types={'slow': kind(execute=gate)})
        plan = world.start({'name': 'x', 'action_type': 'slow'})
        gate.until_entered()
        world.until_plan(plan, 'ONGOING')
        return world, gate, plan

    def test_it_is_cancelled_and_says_why(self) -> None:
        world, _, _ = self.busy()
        audit = world.until_over(world.audit())
        self.assertEqual(
            [
                ('created', 'PENDING', None),
                ('state_changed', 'CANCELLED', runs.PLAN_IS_ONGOING),
            ],
            world.audit_story(audit),
        )
        self.assertEqual('CANCELLED', world.action('the audit').status)

    def test_with_force_it_runs(self) -> None:
        world, _, _ = self.busy()
        audit = world.until_over(world.audit(force=True))
        self.assertEqual(WELL, world.audit_story(audit))

    def test_a_continuous_one_waits_for_its_next_run(self) -> None:
        world, gate, plan = self.busy()
        audit = world.audit(audit_type='CONTINUOUS', interval='60')
        audit = world.until_runs(audit, 1)
        self.assertEqual(
            ('ONGOING', runs.PLAN_IS_ONGOING), (audit.state, audit.status_message)
        )
        gate.open()
        world.until_ended(plan)
        audit = self.pass_time(world, audit, 60)
        self.assertEqual(('ONGOING', None), (audit.state, audit.status_message))
        self.assertEqual(1, len(world.plans_of(audit)))

    def test_one_whose_last_time_this_was_has_succeeded(self) -> None:
        world, _, _ = self.busy()
        audit = world.audit(audit_type='CONTINUOUS', interval='0 0 1 1 * 0 2030')
        audit = world.until_over(audit)
        self.assertEqual(
            ('SUCCEEDED', runs.NO_NEXT_RUN), (audit.state, audit.status_message)
        )

    def test_an_event_that_comes_meanwhile_is_left_out(self) -> None:
        world, gate, plan = self.busy()
        audit = world.audit(audit_type='EVENT')
        world.audits.trigger(audit.uuid)
        audit = world.until_runs(audit, 1)
        self.assertEqual(
            ('PENDING', runs.PLAN_IS_ONGOING), (audit.state, audit.status_message)
        )
        gate.open()
        world.until_ended(plan)
        world.audits.trigger(audit.uuid)
        audit = world.until_runs(audit, 2)
        self.assertEqual(('SUCCEEDED', None), (audit.state, audit.status_message))
