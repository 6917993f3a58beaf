"""Plans that change between the check and the change of a request."""

from typing import Any

from tests.specs.api_case import Meanwhile
from tests.unit.api.infra_optim.handlers.case import HandlerCase
from tests.worlds import action
from watcherlite import exceptions
from watcherlite.states import action_plan as states


class TestSomebodyElseIsFaster(HandlerCase):
    def refused(self, act: Any, method: str, template: str, **request: Any) -> str:
        """Return why a request is refused; `act` happens when it has been checked."""
        services = self.services_of(self.world, plans=Meanwhile(self.world.plans, act))
        return str(
            self.assertRaises(
                exceptions.Invalid,
                self.call,
                method,
                template,
                services=services,
                **request,
            )
        )

    def test_the_second_of_two_starts_is_refused(self) -> None:
        plan = self.world.create('a')
        refusal = self.refused(
            lambda: self.world.plans.start(plan.uuid),
            'POST',
            '/v1/action_plans/{uuid}/start',
            path={'uuid': plan.uuid},
        )
        self.assertEqual("Couldn't start when state is 'PENDING'.", refusal)

    def test_second_concurrent_patch_fails_with_the_present_state(self) -> None:
        plan = self.world.create('a')
        refusal = self.refused(
            lambda: self.world.plans.cancel(plan.uuid),
            'PATCH',
            '/v1/action_plans/{uuid}',
            path={'uuid': plan.uuid},
            body=[{'op': 'replace', 'path': '/state', 'value': 'PENDING'}],
        )
        self.assertEqual(
            'State transition not allowed: (CANCELLED -> PENDING)', refusal
        )

    def test_a_plan_that_has_begun_is_not_cancelled_as_one_that_has_not(self) -> None:
        later = '2999-01-01T00:00:00Z'
        plan = self.world.start('a', action('b', not_before=later))

        def taken() -> None:
            self.world.worker()
            self.world.until_plan(plan, states.ONGOING)

        refusal = self.refused(
            taken,
            'PATCH',
            '/v1/action_plans/{uuid}',
            path={'uuid': plan.uuid},
            body=[{'op': 'replace', 'path': '/state', 'value': 'CANCELLED'}],
        )
        self.assertEqual(
            'State transition not allowed: (ONGOING -> CANCELLED)', refusal
        )
        self.assertEqual(states.ONGOING, self.world.store.get_plan(plan.uuid).state)
