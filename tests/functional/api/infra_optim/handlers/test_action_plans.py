"""Plans that change between the check and the write of a request."""

import functools
from typing import Any

from tests.specs.api_case import InterleavedOperations
from tests.unit.api.infra_optim.handlers.case import HandlerCase
from tests.worlds import action
from watcherlite import exceptions
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.states import action_plan as states


class TestConcurrentChanges(HandlerCase):
    def refusal(
        self, act: Any, plan: ActionPlan, method: str, template: str, body: Any = None
    ) -> str:
        """Return the error of a request; `act` is called after its check."""
        services = self.services_of(
            self.world, plans=InterleavedOperations(self.world.plans, act)
        )
        request = {'services': services, 'path': {'uuid': plan.uuid}, 'body': body}
        error = self.assertRaises(
            exceptions.Invalid, self.call, method, template, **request
        )
        return str(error)

    def test_second_concurrent_request_fails_with_current_state(self) -> None:
        pending = [{'op': 'replace', 'path': '/state', 'value': 'PENDING'}]
        template = '/v1/action_plans/{uuid}'
        for act, request, text in (
            (
                self.world.plans.start,
                ('POST', f'{template}/start'),
                "Couldn't start when state is 'PENDING'.",
            ),
            (
                self.world.plans.cancel,
                ('PATCH', template, pending),
                'State transition not allowed: (CANCELLED -> PENDING)',
            ),
        ):
            plan = self.world.create('a')
            meanwhile = functools.partial(act, plan.uuid)
            self.assertEqual(text, self.refusal(meanwhile, plan, *request))

    def test_plan_that_starts_after_check_is_not_cancelled(self) -> None:
        later = '2999-01-01T00:00:00Z'
        plan = self.world.start('a', action('b', not_before=later))

        def taken() -> None:
            self.world.worker()
            self.world.wait_for_plan(plan, states.ONGOING)

        refusal = self.refusal(
            *(taken, plan, 'PATCH', '/v1/action_plans/{uuid}'),
            [{'op': 'replace', 'path': '/state', 'value': 'CANCELLED'}],
        )
        self.assertEqual(
            'State transition not allowed: (ONGOING -> CANCELLED)', refusal
        )
        self.assertEqual(states.ONGOING, self.world.store.get_plan(plan.uuid).state)
