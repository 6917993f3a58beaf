"""Spec 000: skip actions, through the REST API. One class per paragraph."""

from typing import Any

from tests.specs.api_case import ApiCase, Client, InterleavedOperations
from tests.worlds import action, chain
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

SKIP = ('replace', '/state', 'SKIPPED')
BY_USER = 'Action skipped by user.'
PLAN_BY_USER = 'One or more actions were skipped.'


def reason_line(text: Any) -> tuple[str, str, Any]:
    """Return the line of a patch that sets a reason."""
    return 'add', '/status_message', text


class TestAdminOverride(ApiCase):
    """Administrators can use a patch API call to move an action to SKIPPED."""

    def test_a_skipped_action_is_not_executed_with_its_plan(self) -> None:
        plan = self.world.create(*chain('a', 'b', 'c', action_type='recorded'))
        self.world.worker()

        # The example of the spec.
        answer = self.patch('b', SKIP, reason_line('Exclude migration of intance foo'))
        started = self.client('POST', f'/v1/action_plans/{plan.uuid}/start')
        self.world.wait_until_ended(plan)

        self.assertEqual(
            (200, 'SKIPPED', f'{BY_USER} Reason: Exclude migration of intance foo'),
            (answer.status_code, answer.json['state'], answer.json['status_message']),
        )
        self.assertEqual(200, started.status_code)
        self.assertEqual(['a', 'c'], self.calls.of('execute'))
        listed = self.client.get(f'/v1/actions?action_plan_uuid={plan.uuid}')
        self.assertEqual(
            ['SUCCEEDED', 'SKIPPED', 'SUCCEEDED'],
            [each['state'] for each in listed['actions']],
        )


class TestPreConditionDetection(ApiCase):
    """A pre-condition skips the action, and the status message has the reason."""

    def test_clients_see_the_state_and_the_message(self) -> None:
        self.world.run(action('a', 'gone'))
        shown = self.show_action('a')
        self.assertEqual(
            (
                'SKIPPED',
                'Action was skipped automatically: the instance does not exist',
            ),
            (shown['state'], shown['status_message']),
        )


class TestOnlyWhileThePlanIsPending(ApiCase):
    """From PENDING to SKIPPED only when the parent plan is PENDING as well."""

    def test_a_plan_claimed_between_check_and_change_refuses_a_skip(self) -> None:
        later = '2999-01-01T00:00:00Z'
        plan = self.world.start(action('first'), action('a', not_before=later))

        def taken() -> None:
            self.world.worker()
            self.world.wait_for_plan(plan, plan_states.ONGOING)

        client = Client(self.world, InterleavedOperations(self.world.plans, taken))
        self.assert_refused(
            409,
            'State update not allowed for actionplan state: ONGOING',
            self.patch('a', SKIP, client=client),
        )
        self.assertEqual(states.INIT, self.world.action('a').status)

    def test_an_action_cancelled_between_check_and_change_refuses_a_skip(self) -> None:
        plan = self.world.create('a')
        plans = InterleavedOperations(
            self.world.plans, lambda: self.world.plans.cancel(plan.uuid)
        )
        self.assert_refused(
            409,
            'State transition not allowed: (CANCELLED -> SKIPPED)',
            self.patch('a', SKIP, client=Client(self.world, plans)),
        )


class TestMessageInNewVersion(ApiCase):
    """status_message is in actions and action plans since the new version."""

    def setUp(self) -> None:
        super().setUp()
        self.plan = self.world.create('a')
        self.patch('a', SKIP)

    def all_views(self, version: str) -> list[Any]:
        """Return all representations of the action and its plan with details."""
        return [
            self.show_action('a', version),
            self.client.get('/v1/actions/detail', version)['actions'][0],
            self.client.get(f'/v1/action_plans/{self.plan.uuid}', version),
            self.client.get('/v1/action_plans/detail', version)['action_plans'][0],
        ]

    def test_the_new_and_later_versions_have_the_message(self) -> None:
        uuid = self.world.action('a').uuid
        plan = f'{PLAN_BY_USER} Action {uuid} was skipped by user.'
        for version in ('1.5', '1.6', '1.7'):
            self.assertEqual(
                [BY_USER, BY_USER, plan, plan],
                [view['status_message'] for view in self.all_views(version)],
            )
        for version in ('1.0', '1.1', '1.2', '1.3', '1.4'):
            for view in self.all_views(version):
                self.assertNotIn('status_message', view)
        # Lists without details never contain it.
        for path in ('actions', 'action_plans'):
            for version in ('1.0', '1.7'):
                listed = self.client.get(f'/v1/{path}', version)[path]
                self.assertNotIn('status_message', listed[0])


class TestMethods(ApiCase):
    """Using PATCH vs PUT or POST: actions are top level elements of the API."""

    def test_other_methods_and_paths_do_not_exist(self) -> None:
        plan = self.world.create('a')
        uuid = self.world.action('a').uuid
        below = f'/v1/action_plans/{plan.uuid}/actions/{uuid}'
        body = {'state': 'SKIPPED'}
        answers = [
            self.client('PUT', self.path_of('a'), body),
            self.client('POST', self.path_of('a'), body),
            self.client('POST', below, body),
            self.client('PATCH', below, body),
        ]
        self.assertEqual(
            [405, 405, 404, 404], [answer.status_code for answer in answers]
        )
        self.assertEqual('GET, PATCH, OPTIONS', answers[0].headers['Allow'])
        self.assertEqual('PENDING', self.show_action('a')['state'])


class TestMessageOfSkippedAction(ApiCase):
    """The patch allows to modify the status_message of a SKIPPED action."""

    def test_a_reason_can_be_changed_in_any_plan_state_and_not_removed(self) -> None:
        plan = self.world.create('a', 'b')
        # A missing reason and an empty one are equivalent.
        answers = [
            self.patch('b', SKIP, reason_line('')),
            self.patch('a', SKIP, reason_line(None)),
            self.patch('a', reason_line('one')),
            self.patch('a', SKIP),
            self.patch('a', SKIP, reason_line(None)),
        ]
        self.world.worker()
        self.world.plans.start(plan.uuid)
        self.world.wait_until_ended(plan)
        answers.append(self.patch('a', reason_line('two')))
        one = f'{BY_USER} Reason: one'
        self.assertEqual(
            [
                (200, message)
                for message in (
                    *(BY_USER, BY_USER, one, one, one),
                    f'{BY_USER} Reason: two',
                )
            ],
            [(each.status_code, each.json['status_message']) for each in answers],
        )


class TestSpecificationSpelling(ApiCase):
    """GET /v1/actionplans/detail and GET /v1/actionplans/{actionplan_id}."""

    def test_both_spellings_have_equal_responses(self) -> None:
        plan = self.world.create('a')
        for rest in ('', '/detail', '?limit=1', f'/{plan.uuid}', '/detail?limit=0'):
            one, other = (
                self.client('GET', f'/v1/{collection}{rest}')
                for collection in ('action_plans', 'actionplans')
            )
            self.assertEqual(
                (one.status_code, one.json), (other.status_code, other.json)
            )
        started = self.client('POST', f'/v1/actionplans/{plan.uuid}/start', {})
        self.assertEqual((200, 'PENDING'), (started.status_code, started.json['state']))
