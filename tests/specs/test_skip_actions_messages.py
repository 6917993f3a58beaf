"""Spec 000: the status messages of skipped actions and of their plans."""

from tests.specs.skip_case import SkipCase
from tests.worlds import (
    action,
    kind,
    raises,
)
from watcherlite import exceptions
from watcherlite.domain import events
from watcherlite.domain.outcomes import Skipped

BY_USER = 'Action skipped by user.'


class TestTheStatusMessageOfActions(SkipCase):
    """The comment of a skip by a user, with further details or without."""

    def test_without_details_it_says_that_a_user_did_it(self) -> None:
        self.world.create('a')
        self.skip('a')
        self.assertEqual(BY_USER, self.world.action('a').status_message)

    def test_with_details_it_says_those(self) -> None:
        self.world.create('a')
        self.skip('a', 'Exclude migration of instance foo')
        self.assertEqual(
            'Action skipped by user. Reason: Exclude migration of instance foo',
            self.world.action('a').status_message,
        )

    def test_it_has_at_most_255_characters_and_a_longer_one_is_refused(self) -> None:
        self.world.create('a', 'b')
        most = 255 - len('Action skipped by user. Reason: ')

        self.skip('a', 'x' * most)
        refusal = self.refused(exceptions.Invalid, 'b', 'x' * (most + 1))

        self.assertEqual(255, len(self.world.action('a').status_message or ''))
        self.assertEqual('The reason has 224 characters; at most 223 are kept', refusal)

    def test_a_text_that_no_database_keeps_is_refused(self) -> None:
        self.world.create('a')
        self.assertEqual(
            'The reason cannot be stored: this text has a NUL character, which '
            'databases cannot store',
            self.refused(exceptions.Invalid, 'a', 'a\0b'),
        )

    def test_without_a_message_an_exception_gives_a_plain_one(self) -> None:
        empty = raises(exceptions.ActionSkipException())
        world = self.a_world(
            {
                'empty': kind(pre_condition=empty),
                'said': kind(pre_condition=lambda context: Skipped('')),
            }
        )
        world.run(action('a', 'empty'), action('b', 'said'))
        text = (
            'Action was skipped automatically: The action does not apply to the '
            'state that its target is in.'
        )
        self.assertEqual(
            [text, text], [world.action(name).status_message for name in 'ab']
        )

    def test_a_long_message_of_an_exception_is_cut(self) -> None:
        world = self.a_world(
            {
                'long': kind(
                    pre_condition=raises(exceptions.ActionSkipException('x' * 500))
                )
            }
        )
        world.run(action('a', 'long'))
        message = world.action('a').status_message or ''
        self.assertEqual(255, len(message))
        self.assertTrue(message.startswith('Action was skipped automatically: xxx'))
        self.assertTrue(message.endswith('x…'))


class TestTheStatusMessageOfPlans(SkipCase):
    """It is updated when actions are skipped, and says which."""

    def test_it_names_them_as_they_come_with_who_skipped_them(self) -> None:
        plan = self.world.create('a', action('b', 'gone'), 'c')
        self.skip('a')
        self.world.worker()
        self.world.plans.start(plan.uuid)
        ended = self.world.until_ended(plan)
        a, b = (self.world.action(name).uuid for name in 'ab')
        self.assertEqual(
            'One or more actions were skipped. '
            f'Action {a} was skipped by user. Action {b} was skipped automatically.',
            ended.status_message,
        )
        self.assertEqual(2, ended.skipped)

    def test_it_names_as_many_as_255_characters_hold(self) -> None:
        names = [f'a{n}' for n in range(6)]
        plan = self.world.create(*names)
        for name in names:
            self.skip(name)
        message = self.world.store.get_plan(plan.uuid).status_message or ''
        uuids = [self.world.action(name).uuid for name in names]
        sentences = [f' Action {uuid} was skipped by user.' for uuid in uuids[:3]]
        self.assertEqual(
            f'One or more actions were skipped.{"".join(sentences)} And 3 more.',
            message,
        )

    def test_it_keeps_them_when_actions_fail_as_well(self) -> None:
        plan = self.world.create('a', action('b', 'fails'))
        self.skip('a')
        self.world.worker()
        self.world.plans.start(plan.uuid)
        self.world.until_ended(plan)
        self.assertEqual(
            (
                'plan',
                'ONGOING',
                'FAILED',
                'An action failed: no disk. One or more actions were skipped. '
                'Action a was skipped by user.',
            ),
            self.world.story(plan)[-1],
        )


class TestTheMessageOfASkippedActionMayBeModified(SkipCase):
    """Whatever the state of the plan; a text is the operator's."""

    def edited(self, name: str, reason: str | None) -> str | None:
        uuid = self.world.action(name).uuid
        self.world.plans.edit_skip_message(uuid, reason)
        return self.world.action(name).status_message

    def test_of_a_skip_by_a_user(self) -> None:
        self.world.create('a')
        self.skip('a', 'one')
        self.assertEqual('Action skipped by user. Reason: two', self.edited('a', 'two'))
        self.assertEqual(BY_USER, self.edited('a', None))

    def test_of_an_automatic_one_after_the_plan_has_ended(self) -> None:
        plan = self.world.run(action('a', 'gone'))
        told = [
            self.edited('a', None),
            self.edited('a', 'it was deleted'),
            self.edited('a', 'by bob'),
        ]
        self.assertEqual(
            [
                'Action was skipped automatically: the instance does not exist',
                'Action skipped by user. Reason: it was deleted',
                'Action skipped by user. Reason: by bob',
            ],
            told,
        )
        self.assertEqual(
            [(events.MESSAGE_CHANGED, 'SKIPPED', message) for message in told[1:]],
            [
                (e.kind, e.new_status, e.message)
                for e in self.world.events(plan)
                if e.kind == events.MESSAGE_CHANGED
            ],
        )
        self.assertEqual(1, len(self.world.story(plan, 'a')))

    def test_it_is_refused_for_actions_that_are_not_skipped(self) -> None:
        self.world.run('a', action('b', 'fails'))
        for name in 'ab':
            refusal = self.assertRaises(exceptions.Conflict, self.edited, name, 'x')
            self.assertEqual(
                'status_message update only allowed when action state is SKIPPED',
                str(refusal),
            )

    def test_a_longer_one_is_refused_and_says_how_long_it_may_be(self) -> None:
        self.world.run(action('a', 'gone'))
        before = self.world.action('a')
        refusal = self.assertRaises(exceptions.Invalid, self.edited, 'a', 'x' * 300)
        self.assertEqual(
            'The reason has 300 characters; at most 223 are kept', str(refusal)
        )
        self.assertEqual(before, self.world.action('a'))
