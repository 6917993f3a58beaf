"""A runtime as daemons build it: audits of stacks, and plans that change them."""

from tests.functional.engine.runtime_case import RuntimeCase
from watcherlite.domain.audits import AuditRequest
from watcherlite.domain.creators import LOCAL
from watcherlite.domain.documents import plan_document
from watcherlite.domain.stacks import Stack, StackRequest

TENANT = 'a-project'
TEMPLATE = {
    'heat_template_version': '2018-08-31',
    'resources': {
        'one': {'type': 'OS::Heat::RandomString'},
        'two': {'type': 'OS::Heat::RandomString'},
    },
}


class RuntimeOfStacksTest(RuntimeCase):
    def setUp(self) -> None:
        super().setUp()
        self.runtime = self.start(self.options())
        self.stack = self.runtime.stacks.create(StackRequest('web', TEMPLATE), TENANT)
        self.wait_until(lambda: self.reload().state.name == 'CREATE_COMPLETE')

    def reload(self) -> Stack:
        return self.runtime.store.find_stack(self.stack.uuid, TENANT)

    def ids(self) -> dict[str, str | None]:
        rows = self.runtime.store.list_resources([self.stack.id])
        return {row.name: row.physical_id for row in rows}

    def test_an_audit_replaces_marked_resources(self) -> None:
        before = self.ids()
        self.runtime.stacks.mark_unhealthy('web', TENANT, 'two', True, 'it is slow')

        self.runtime.audits.create(
            AuditRequest(
                'ONESHOT',
                goal='stack_health',
                strategy='stack_health',
                parameters={'stacks': ['web']},
                auto_trigger=True,
            ),
            creator=LOCAL,
        )
        plan = self.ended_plan()

        self.assertEqual(('SUCCEEDED', 2), (plan.state, plan.total))
        self.assertEqual('UPDATE_COMPLETE', self.reload().state.name)
        after = self.ids()
        self.assertEqual(
            {'one': True, 'two': False}, {n: before[n] == after[n] for n in before}
        )
        efficacy = {i['name']: i['value'] for i in plan.global_efficacy}
        self.assertEqual({'repaired_resources_ratio': 100}, efficacy)

    def test_an_action_of_a_plan_on_a_locked_stack_is_skipped(self) -> None:
        self.runtime.stacks.start_operation('web', TENANT, 'LOCK')
        self.wait_until(lambda: self.reload().state.name == 'LOCK_COMPLETE')

        plan = self.runtime.plans.create(
            plan_document.from_mapping(
                {
                    'actions': [
                        {
                            'name': 'update',
                            'action_type': 'stack_update',
                            'input_parameters': {'stack': 'web'},
                        },
                        {
                            'name': 'other',
                            'action_type': 'nop',
                            'input_parameters': {'message': 'x'},
                            'target': f'stack:{self.stack.uuid}/one',
                        },
                    ]
                }
            ),
            {},
            LOCAL,
        )
        self.runtime.plans.start(plan.uuid)

        self.assertEqual('SUCCEEDED', self.ended_plan().state)
        message = (
            'Action was skipped automatically: Stack web is locked (LOCK_COMPLETE, '
            'level all).'
        )
        actions = self.runtime.store.list_actions(plan_id=plan.id)
        self.assertEqual([message, message], [a.status_message for a in actions])
