"""Groups: which members there are, and in which steps they come to be."""

import datetime
import itertools
import math
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from tests import base
from watcherlite import exceptions
from watcherlite.domain import groups
from watcherlite.domain.groups import GroupStep, Pace, Standing
from watcherlite.domain.resource_results import Member

BEGIN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def member(name: str, age: int = 0, status: str = 'COMPLETE', **more: Any) -> Member:
    """Return a member that was made `age` hours after the others."""
    values: dict[str, Any] = {
        'type': 'OS::Heat::None',
        'physical_id': f'id-{name}',
        'reference': f'ref-{name}',
        'attributes': {},
        'created_at': BEGIN + datetime.timedelta(hours=age),
    }
    return Member(name=name, status=status, **{**values, **more})


def names(members: list[Member]) -> list[str]:
    return [one.name for one in members]


def spare() -> Iterator[str]:
    return (f't{at}' for at in itertools.count())


def story(steps: list[GroupStep]) -> list[tuple[str, str, str]]:
    """Return for each step: who is there, who is new, what was touched."""
    return [
        (' '.join(step.names), ' '.join(sorted(step.converted)), ' '.join(step.touched))
        for step in steps
    ]


class OrderTest(base.TestCase):
    """The order of deletions."""

    def test_failed_ones_come_first_then_the_oldest_then_by_name(self) -> None:
        members = [
            member('young', age=3),
            member('b', age=1),
            member('a', age=1),
            member('broken', age=2, status='FAILED'),
            member('never', age=4, physical_id=None),
        ]
        self.assertEqual(
            ['broken', 'never', 'a', 'b', 'young'], names(groups.order(members))
        )

    def test_outdated_members_precede_older_ones(self) -> None:
        members = [
            member('old', age=1, definition={'v': 1}),
            member('other', age=3, definition={'v': 2}),
            member('broken', age=4, status='FAILED', definition={'v': 1}),
        ]
        self.assertEqual(
            ['broken', 'other', 'old'], names(groups.order(members, {'v': 1}))
        )
        self.assertEqual(['broken', 'old', 'other'], names(groups.order(members)))

    def test_member_of_unknown_age_is_old(self) -> None:
        members = [member('a'), member('b', created_at=None)]
        self.assertEqual(['b', 'a'], names(groups.order(members)))


class ResizedTest(base.TestCase):
    """Members without numbers."""

    def setUp(self) -> None:
        super().setUp()
        self.members = [
            member('a', age=0),
            member('b', age=1),
            member('c', age=2, status='FAILED'),
        ]

    def test_a_failed_member_keeps_its_name_when_the_size_stays(self) -> None:
        self.assertEqual(['c', 'a', 'b'], groups.resized(self.members, 3, spare()))

    def test_a_failed_member_is_the_first_to_go_then_the_oldest(self) -> None:
        self.assertEqual(['a', 'b'], groups.resized(self.members, 2, spare()))
        self.assertEqual(['b'], groups.resized(self.members, 1, spare()))
        self.assertEqual([], groups.resized(self.members, 0, spare()))

    def test_growing_keeps_everybody_and_takes_new_names(self) -> None:
        self.assertEqual(
            ['c', 'a', 'b', 't0', 't1'], groups.resized(self.members, 5, spare())
        )


class NamesTest(base.TestCase):
    """Names of members."""

    def test_numbers_that_were_removed_are_passed_over(self) -> None:
        found = itertools.islice(groups.index_names(['1', '3', 'x']), 4)
        self.assertEqual(['0', '2', '4', '5'], list(found))

    def test_fresh_names_are_the_same_for_a_seed_and_never_taken(self) -> None:
        first = list(itertools.islice(groups.fresh_names('s'), 3))
        again = list(itertools.islice(groups.fresh_names('s', [first[1]]), 2))
        other = next(groups.fresh_names('t'))
        self.assertEqual([first[0], first[2]], again)
        self.assertNotIn(other, first)
        self.assertEqual([12, 12, 12], [len(name) for name in first])

    def test_names_sort_as_people_count(self) -> None:
        self.assertEqual(
            ['2', '10', 'a'], sorted(['a', '10', '2'], key=groups.by_index)
        )

    def test_the_variable_is_replaced_in_everything(self) -> None:
        definition = {
            'type': 'My::%index%',
            'properties': {
                'name-%index%': ['n%index%', {'deep': '%index%%index%'}],
                'other': 5,
                'nothing': None,
            },
        }
        self.assertEqual(
            {
                'type': 'My::7',
                'properties': {
                    'name-7': ['n7', {'deep': '77'}],
                    'other': 5,
                    'nothing': None,
                },
            },
            groups.with_index(definition, '%index%', '7'),
        )


class RemovedTest(base.TestCase):
    """Removal policies."""

    def setUp(self) -> None:
        super().setUp()
        self.members = [member('0'), member('1'), member('2')]

    def removed(
        self, before: dict[str, str | None], *listed: object, mode: str = 'append'
    ) -> dict[str, str | None]:
        policies = [{'resource_list': list(listed)}]
        return groups.removed(before, self.members, policies, mode)

    def test_members_are_listed_by_name_number_or_reference(self) -> None:
        self.assertEqual(
            {'0': 'ref-0', '1': 'ref-1', '2': 'ref-2'},
            self.removed({}, '0', 1, 'ref-2'),
        )

    def test_unknown_names_are_ignored(self) -> None:
        self.assertEqual({}, self.removed({}, '9', 'ref-9'))

    def test_append_never_forgets(self) -> None:
        self.assertEqual(
            {'7': None, '1': 'ref-1'}, self.removed({'7': None}, '1', mode='append')
        )
        self.assertEqual({'7': None}, self.removed({'7': None}))

    def test_update_removes_unlisted_names(self) -> None:
        before = {'7': 'ref-7', '8': 'ref-8', '9': None}
        self.assertEqual(
            {'7': 'ref-7', '8': 'ref-8', '1': 'ref-1'},
            self.removed(before, '7', 'ref-8', '1', mode='update'),
        )

    def test_a_policy_without_a_list_lists_nothing(self) -> None:
        self.assertEqual({}, groups.removed({}, self.members, [{}]))


class RollingTest(base.TestCase):
    """The steps of a rolling update."""

    def roll(
        self, target: str, there: str, pace: Pace, down: str = '', done: str = ''
    ) -> list[tuple[str, str, str]]:
        members = [
            Standing(name, name not in down.split(), name in done.split())
            for name in there.split()
        ]
        return story(groups.rolling(target.split(), members, pace, spare()))

    def test_one_after_the_other(self) -> None:
        self.assertEqual(
            [('a b c', 'a', 'a'), ('a b c', 'a b', 'b'), ('a b c', 'a b c', 'c')],
            self.roll('a b c', 'a b c', Pace()),
        )

    def test_others_serve_meanwhile_when_all_have_to(self) -> None:
        self.assertEqual(
            [
                ('a b c t0 t1', 't0 t1', 't0 t1'),
                ('a b c t0 t1', 'a b t0 t1', 'a b'),
                ('a b c', 'a b c', 'c'),
            ],
            self.roll('a b c', 'a b c', Pace(min_in_service=3, max_batch=2)),
        )

    def test_one_other_serves_when_all_but_one_have_to(self) -> None:
        self.assertEqual(
            [('a b c t0', 'a t0', 'a t0'), ('a b c', 'a b c', 'b c')],
            self.roll('a b c', 'a b c', Pace(min_in_service=2, max_batch=2)),
        )

    def test_unhealthy_members_are_replaced_first_under_their_names(self) -> None:
        self.assertEqual(
            [('a b c', 'c', 'c'), ('a b c', 'a c', 'a'), ('a b c', 'a b c', 'b')],
            [
                (' '.join(sorted(there.split())), new, touched)
                for there, new, touched in self.roll('c a b', 'c a b', Pace(), down='c')
            ],
        )

    def test_unhealthy_members_are_absent_until_their_batch(self) -> None:
        self.assertEqual(
            [('c a', 'a', 'a'), ('c a b', 'a b', 'b'), ('a b c', 'a b c', 'c')],
            self.roll('a b c', 'a b c', Pace(), down='a b'),
        )

    def test_members_to_remove_go_first_unchanged(self) -> None:
        self.assertEqual(
            [('c d', 'c', 'c'), ('c d', 'c d', 'd')],
            self.roll('c d', 'a b c d', Pace()),
        )

    def test_members_to_remove_stay_while_needed(self) -> None:
        self.assertEqual(
            [('d e f c', 'd', 'd'), ('d e f c', 'd e', 'e'), ('d e f', 'd e f', 'f')],
            self.roll('d e f', 'a b c d e f', Pace(min_in_service=3)),
        )

    def test_growing_and_changing_at_once(self) -> None:
        self.assertEqual(
            [('a x y', 'x y', 'x y'), ('a x y', 'a x y', 'a')],
            self.roll('a x y', 'a', Pace(min_in_service=1, max_batch=2)),
        )

    def test_interrupted_update_continues(self) -> None:
        self.assertEqual(
            [('a b c', 'a b', 'b'), ('a b c', 'a b c', 'c')],
            self.roll('a b c', 'a b c', Pace(), done='a'),
        )

    def test_temporary_names_are_unique(self) -> None:
        self.assertEqual(
            [('a t0 t1', 't1', 't1'), ('a t0 t1', 'a t1', 'a'), ('a t0', 'a t0', 't0')],
            self.roll('a t0', 'a t0', Pace(min_in_service=2)),
        )

    def test_a_group_of_nobody_is_one_step(self) -> None:
        self.assertEqual([('', '', '')], self.roll('', 'a', Pace()))


@some.composite
def worlds(draw: Any) -> tuple[list[str], list[Standing], Pace]:
    """Return a target, the members there are, and a pace."""
    count = draw(some.integers(0, 8))
    members = [
        Standing(f'm{at}', draw(some.booleans()), draw(some.booleans()))
        for at in range(count)
    ]
    kept = draw(some.lists(some.sampled_from(members), unique=True)) if members else []
    new = [f'n{at}' for at in range(draw(some.integers(0, 5)))]
    target = draw(some.permutations([one.name for one in kept] + new))
    pace = Pace(draw(some.integers(0, 9)), draw(some.integers(1, 6)))
    return list(target), members, pace


class RollingPropertiesTest(base.TestCase):
    """The properties of every rolling update."""

    @given(worlds())
    def test_it_ends_with_the_target_all_of_it_new(self, world: Any) -> None:
        target, members, pace = world
        steps = groups.rolling(target, members, pace, spare())
        self.assertEqual(sorted(target), sorted(steps[-1].names))
        self.assertEqual(frozenset(target), steps[-1].converted)

    @given(worlds())
    def test_it_never_touches_more_than_a_batch(self, world: Any) -> None:
        target, members, pace = world
        for step in groups.rolling(target, members, pace, spare()):
            self.assertLessEqual(len(step.touched), pace.max_batch)

    @given(worlds())
    def test_every_member_is_touched_once_and_only_if_it_has_to(
        self, world: Any
    ) -> None:
        target, members, pace = world
        steps = groups.rolling(target, members, pace, spare())
        touched = [name for step in steps for name in step.touched]
        fine = {one.name for one in members if one.serving and one.fits}
        self.assertEqual(len(touched), len(set(touched)))
        self.assertEqual(
            set(target) - fine, {name for name in touched if name in set(target)}
        )

    @given(worlds())
    def test_never_fewer_serve_than_have_to(self, world: Any) -> None:
        target, members, pace = world
        serving = {one.name for one in members if one.serving}
        least = min(pace.min_in_service, len(target), len(serving))
        for step in groups.rolling(target, members, pace, spare()):
            # First all are made or changed, at once; then the others are dropped.
            self.assertGreaterEqual(len(serving - set(step.touched)), least)
            serving = (serving | set(step.touched)) & set(step.names)
            self.assertGreaterEqual(len(serving), least)
            self.assertEqual(set(step.names), serving)

    @given(worlds())
    def test_a_member_is_never_new_before_it_is_touched(self, world: Any) -> None:
        target, members, pace = world
        before = {one.name for one in members if one.serving and one.fits}
        for step in groups.rolling(target, members, pace, spare()):
            before |= set(step.touched)
            self.assertEqual(set(), step.converted - before)

    @given(worlds())
    def test_number_of_batches_is_minimal(self, world: Any) -> None:
        target, members, pace = world
        steps = groups.rolling(target, members, pace, spare())
        # Each step but those that only make others for the time being does a piece.
        self.assertLessEqual(len(steps), 2 * len(target) + 1)


class GrowingTest(base.TestCase):
    """Making a group batch by batch."""

    def test_each_step_adds_a_batch(self) -> None:
        self.assertEqual(
            [
                ('a b', 'a b', 'a b'),
                ('a b c d', 'a b c d', 'c d'),
                ('a b c d e', 'a b c d e', 'e'),
            ],
            story(groups.growing(['a', 'b', 'c', 'd', 'e'], 2)),
        )

    def test_a_group_of_nobody_is_one_step(self) -> None:
        self.assertEqual([('', '', '')], story(groups.growing([], 3)))


class AdjustedTest(base.TestCase):
    """Scaling policies."""

    def test_the_three_types_of_adjustment(self) -> None:
        for kind, adjustment, step, wanted in [
            ('change_in_capacity', 2, None, 12),
            ('change_in_capacity', -3, None, 7),
            ('exact_capacity', 4, None, 4),
            ('percent_change_in_capacity', 25, None, 12),
            ('percent_change_in_capacity', -25, None, 8),
            ('percent_change_in_capacity', 1, None, 11),
            ('percent_change_in_capacity', -1, None, 9),
            ('percent_change_in_capacity', 0, None, 10),
            ('percent_change_in_capacity', 10, 3, 13),
            ('percent_change_in_capacity', -10, 3, 7),
            ('percent_change_in_capacity', 50, 3, 15),
            ('percent_change_in_capacity', 0, 3, 10),
        ]:
            with self.subTest(kind=kind, adjustment=adjustment, step=step):
                self.assertEqual(wanted, groups.adjusted(10, kind, adjustment, step))

    def test_an_unknown_type_is_refused_and_the_known_ones_are_named(self) -> None:
        error = self.assertRaises(
            exceptions.Invalid, groups.adjusted, 1, 'double', 1, None
        )
        self.assertIn(
            'double is unknown; it is one of change_in_capacity, exact_capacity, '
            'percent_change_in_capacity',
            str(error),
        )

    @given(some.integers(0, 1000), some.floats(-500, 500), some.integers(0, 50))
    def test_percentage_of_members(self, size: int, percent: float, step: int) -> None:
        moved = groups.adjusted(size, groups.PERCENT, percent, step) - size
        exact = abs(size * percent / 100)
        if percent == 0:
            self.assertEqual(0, moved)
        else:
            self.assertEqual(0, min(0, math.copysign(1, percent) * moved))
            self.assertGreaterEqual(abs(moved), step)
            if exact >= max(step, 1):
                self.assertLessEqual(abs(moved), exact)

    def test_bounds_hold(self) -> None:
        self.assertEqual([2, 3, 5], [groups.bounded(size, 2, 5) for size in (-1, 3, 9)])


class RestingTest(base.TestCase):
    """The cooldown."""

    def test_it_rests_until_the_cooldown_is_over(self) -> None:
        minute = datetime.timedelta(seconds=60)
        self.assertEqual(
            [BEGIN + minute, None],
            [
                groups.rests_until(BEGIN, 60, BEGIN + minute - minute / 60),
                groups.rests_until(BEGIN, 60, BEGIN + minute),
            ],
        )

    def test_without_a_cooldown_or_a_time_it_does_not(self) -> None:
        self.assertEqual(
            [None, None, None],
            [
                groups.rests_until(BEGIN, None, BEGIN),
                groups.rests_until(BEGIN, 0, BEGIN),
                groups.rests_until(None, 60, BEGIN),
            ],
        )
