"""Audits: what a strategy is given, and what becomes of its solution."""

from typing import Any

from tests.audit_worlds import AuditCase, proposes, strategy
from watcherlite.domain.documents.plan_document import ActionDocument, PlanDocument
from watcherlite.plugins import base


class Careless(base.Planner):
    """Gives an action a parent that there is not."""

    def plan(self, solution: Any, name: str | None = None) -> PlanDocument:
        (action,) = solution.actions
        planned = ActionDocument(
            name=action.name,
            action_type=action.action_type,
            input_parameters=action.input_parameters,
            parents=('nobody',),
        )
        return PlanDocument(
            name=name, on_failure='continue', max_parallel=None, actions=(planned,)
        )


class TestStrategies(AuditCase):
    """The inputs of planners."""

    def test_one_that_the_audit_did_not_name_has_the_defaults_of_its_schema(
        self,
    ) -> None:
        seen = []

        def look(context: Any) -> Any:
            seen.append(dict(context.parameters))
            return proposes('nop')

        schema = {'type': 'object', 'properties': {'n': {'default': 3}}}
        world = self.an_engine(strategies={'a_first': strategy(look, schema=schema)})
        audit = world.until_over(world.audit(strategy=None))
        self.assertEqual(({}, [{'n': 3}]), (dict(audit.parameters), seen))


class TestPlanners(AuditCase):
    """The selection of a planner, and the stored plan."""

    def test_parents_that_the_actuator_is_given_are_those_of_the_plan(self) -> None:
        world = self.an_engine()
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
        world.until_over(audit)
        (plan,) = world.plans_of(audit)
        actions = world.store.list_actions(plan_id=plan.id)
        self.assertEqual(
            [('first', ()), ('then', (actions[0].uuid,))],
            [(a.name, tuple(a.parents)) for a in actions],
        )

    def test_a_plan_that_cannot_be_executed_is_not_stored(self) -> None:
        world = self.an_engine(
            strategies={'made': strategy(planner='careless')},
            planners={'careless': Careless},
        )
        audit = world.until_over(world.audit(strategy='made'))
        self.assertEqual(('FAILED', []), (audit.state, world.plans_of(audit)))
        message = audit.status_message or ''
        self.assertTrue(message.startswith('Planner careless failed: '), message)
        self.assertIn('nobody', message)


class TestOlderProposals(AuditCase):
    """The earlier proposals of a CONTINUOUS audit."""

    def test_one_that_was_started_and_waits_for_a_worker_stays(self) -> None:
        world = self.an_audit_world()
        world.worker(lanes=('engine',))
        audit = world.audit(audit_type='CONTINUOUS', interval='60')
        world.until_runs(audit, 1)
        (first,) = world.plans_of(audit)
        world.plans.start(first.uuid)

        self.pass_time(world, audit, 60)

        self.assertEqual(
            ['PENDING', 'RECOMMENDED'], [plan.state for plan in world.plans_of(audit)]
        )
