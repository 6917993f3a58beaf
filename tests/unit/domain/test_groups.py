"""Groups: their members, and the steps of their changes."""

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
    """Return a member that was created `age` hours after the others."""
    values: dict[str, Any] = {
        'type': 'OS::Heat::None',
        'physical_id': f'id-{name}',
        'reference': f'ref-{name}',
        'attributes': {},
        'created_at': BEGIN + datetime.timedelta(hours=age),
    }
    return Member(name=name, status=status, **{**values, **more})


def spare() -> Iterator[str]:
    return (f't{at}' for at in itertools.count())


def summaries(steps: list[GroupStep]) -> list[tuple[str, str, str]]:
    """Return for each step: all names, the converted ones, the touched ones."""
    return [
        (' '.join(step.names), ' '.join(sorted(step.converted)), ' '.join(step.touched))
        for step in steps
    ]


class OrderTest(base.TestCase):
    """The order of deletions."""

    def test_failed_and_outdated_members_come_first_then_the_oldest_then_by_name(
        self,
    ) -> None:
        old, other = ({'definition': {'v': number}} for number in (1, 2))
        versions = [
            member('old', age=1, **old),
            member('other', age=3, **other),
            member('broken', age=4, status='FAILED', **old),
        ]
        ages = [
            member('young', age=3),
            member('b', age=1),
            member('a', age=1),
            member('broken', age=2, status='FAILED'),
            member('never', age=4, physical_id=None),
        ]
        for expected, members, definition in (
            ('broken never a b young', ages, None),
            ('broken other old', versions, {'v': 1}),
            ('broken old other', versions, None),
            ('b a', [member('a'), member('b', created_at=None)], None),
        ):
            found = groups.order(members, definition)
            self.assertEqual(expected.split(), [one.name for one in found])


class ResizedTest(base.TestCase):
    """Members without numbers."""

    def test_a_failed_member_is_removed_first_then_the_oldest(self) -> None:
        members = [
            member('a', age=0),
            member('b', age=1),
            member('c', age=2, status='FAILED'),
        ]
        self.assertEqual(
            ['', 'b', 'a b', 'c a b', 'c a b t0 t1'],
            [
                ' '.join(groups.resized(members, size, spare()))
                for size in (0, 1, 2, 3, 5)
            ],
        )


class NamesTest(base.TestCase):
    """Names of members."""

    def test_removed_numbers_are_skipped(self) -> None:
        found = itertools.islice(groups.index_names(['1', '3', 'x']), 4)
        self.assertEqual(['0', '2', '4', '5'], list(found))

    def test_fresh_names_are_the_same_for_a_seed_and_never_taken(self) -> None:
        first = list(itertools.islice(groups.unused_names('s'), 3))
        again = list(itertools.islice(groups.unused_names('s', [first[1]]), 2))
        other = next(groups.unused_names('t'))
        self.assertEqual([first[0], first[2]], again)
        self.assertNotIn(other, first)
        self.assertEqual([12, 12, 12], [len(name) for name in first])

    def test_names_are_in_natural_order(self) -> None:
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

    def test_members_are_listed_by_name_number_or_reference(self) -> None:
        members = [member('0'), member('1'), member('2')]
        before = {'7': 'ref-7', '8': 'ref-8', '9': None}
        every = {'0': 'ref-0', '1': 'ref-1', '2': 'ref-2'}
        left = {'7': 'ref-7', '8': 'ref-8', '1': 'ref-1'}
        for known, policy, mode, expected in (
            ({}, {'resource_list': ['0', 1, 'ref-2']}, 'append', every),
            ({}, {'resource_list': ['9', 'ref-9']}, 'append', {}),
            (before, {'resource_list': ['1']}, 'append', {**before, '1': 'ref-1'}),
            (before, {'resource_list': []}, 'append', before),
            (before, {'resource_list': ['7', 'ref-8', '1']}, 'update', left),
            ({}, {}, 'append', {}),
        ):
            found = groups.removed(known, members, [policy], mode)
            self.assertEqual(expected, found, (policy, mode))
        self.assertEqual(
            {**before, '1': 'ref-1'},
            groups.removed(before, members, [{'resource_list': ['1']}]),
        )


class RollingTest(base.TestCase):
    """The steps of a rolling update."""

    def roll(
        self, target: str, there: str, pace: Pace, down: str = '', done: str = ''
    ) -> list[tuple[str, str, str]]:
        members = [
            Standing(name, name not in down.split(), name in done.split())
            for name in there.split()
        ]
        return summaries(
            groups.rolling_update_steps(target.split(), members, pace, spare())
        )

    def test_a_group_is_updated_in_batches_while_enough_members_serve(self) -> None:
        last = ('a b c', 'a b c', 'c')
        two, three = ({'min_in_service': least, 'max_batch': 2} for least in (2, 3))
        for name, target, there, pace, marks, expected in (
            (
                *('one after the other', 'a b c', 'a b c', {}, {}),
                [('a b c', 'a', 'a'), ('a b c', 'a b', 'b'), last],
            ),
            (
                *('others serve if all have to', 'a b c', 'a b c', three, {}),
                [
                    ('a b c t0 t1', 't0 t1', 't0 t1'),
                    ('a b c t0 t1', 'a b t0 t1', 'a b'),
                    last,
                ],
            ),
            (
                *('one other serves', 'a b c', 'a b c', two, {}),
                [('a b c t0', 'a t0', 'a t0'), ('a b c', 'a b c', 'b c')],
            ),
            (
                *('unhealthy ones are absent', 'a b c', 'a b c', {}, {'down': 'a b'}),
                [('c a', 'a', 'a'), ('c a b', 'a b', 'b'), last],
            ),
            (
                *('superfluous ones go first, unchanged', 'c d', 'a b c d', {}, {}),
                [('c d', 'c', 'c'), ('c d', 'c d', 'd')],
            ),
            (
                *('superfluous ones stay while needed', 'd e f', 'a b c d e f'),
                *({'min_in_service': 3}, {}),
                [
                    ('d e f c', 'd', 'd'),
                    ('d e f c', 'd e', 'e'),
                    ('d e f', 'd e f', 'f'),
                ],
            ),
            (
                *('growing and changing at once', 'a x y', 'a'),
                *({'min_in_service': 1, 'max_batch': 2}, {}),
                [('a x y', 'x y', 'x y'), ('a x y', 'a x y', 'a')],
            ),
            (
                *('an interrupted update', 'a b c', 'a b c', {}, {'done': 'a'}),
                [('a b c', 'a b', 'b'), last],
            ),
            (
                *('names are unique', 'a t0', 'a t0', {'min_in_service': 2}, {}),
                [
                    ('a t0 t1', 't1', 't1'),
                    ('a t0 t1', 'a t1', 'a'),
                    ('a t0', 'a t0', 't0'),
                ],
            ),
            ('a group of no members', '', 'a', {}, {}, [('', '', '')]),
        ):
            found = self.roll(target, there, Pace(**pace), **marks)
            self.assertEqual(expected, found, name)

    def test_unhealthy_members_are_replaced_first_under_their_names(self) -> None:
        self.assertEqual(
            [('a b c', 'c', 'c'), ('a b c', 'a c', 'a'), ('a b c', 'a b c', 'b')],
            [
                (' '.join(sorted(there.split())), new, touched)
                for there, new, touched in self.roll('c a b', 'c a b', Pace(), down='c')
            ],
        )


@some.composite
def worlds(draw: Any) -> tuple[list[str], list[Standing], Pace]:
    """Return a target, the existing members, and a pace."""
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
    def test_a_rolling_update_reaches_its_target_in_few_batches(
        self, world: Any
    ) -> None:
        target, members, pace = world
        steps = groups.rolling_update_steps(target, members, pace, spare())
        self.assertEqual(sorted(target), sorted(steps[-1].names))
        self.assertEqual(frozenset(target), steps[-1].converted)
        # Each step makes progress, except for those that only add temporary members.
        self.assertLessEqual(len(steps), 2 * len(target) + 1)
        touched = [name for step in steps for name in step.touched]
        fine = {one.name for one in members if one.serving and one.fits}
        self.assertEqual(len(touched), len(set(touched)))
        self.assertEqual(
            set(target) - fine, {name for name in touched if name in set(target)}
        )

    @given(worlds())
    def test_a_step_touches_a_batch_and_leaves_enough_that_serve(
        self, world: Any
    ) -> None:
        target, members, pace = world
        serving = {one.name for one in members if one.serving}
        new = {one.name for one in members if one.serving and one.fits}
        least = min(pace.min_in_service, len(target), len(serving))
        for step in groups.rolling_update_steps(target, members, pace, spare()):
            self.assertLessEqual(len(step.touched), pace.max_batch)
            new |= set(step.touched)
            self.assertEqual(set(), step.converted - new)
            # All are created or changed first, then the others are deleted.
            self.assertGreaterEqual(len(serving - set(step.touched)), least)
            serving = (serving | set(step.touched)) & set(step.names)
            self.assertGreaterEqual(len(serving), least)
            self.assertEqual(set(step.names), serving)


class GrowingTest(base.TestCase):
    """The growth of a group in batches."""

    def test_each_step_adds_a_batch_and_an_empty_group_is_one_step(self) -> None:
        self.assertEqual(
            [
                ('a b', 'a b', 'a b'),
                ('a b c d', 'a b c d', 'c d'),
                ('a b c d e', 'a b c d e', 'e'),
            ],
            summaries(groups.creation_steps(['a', 'b', 'c', 'd', 'e'], 2)),
        )
        self.assertEqual([('', '', '')], summaries(groups.creation_steps([], 3)))


class AdjustedTest(base.TestCase):
    """Scaling policies."""

    def test_the_three_types_of_adjustment(self) -> None:
        for kind, adjustment, step, desired in [
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
            found = groups.adjusted(10, kind, adjustment, step)
            self.assertEqual(desired, found, (kind, adjustment, step))

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
        self.assertEqual([2, 3, 5], [groups.clamp(size, 2, 5) for size in (-1, 3, 9)])


class CooldownTest(base.TestCase):
    """The cooldown."""

    def test_a_group_is_not_scaled_during_its_cooldown(self) -> None:
        end = BEGIN + datetime.timedelta(seconds=60)
        before = end - datetime.timedelta(seconds=1)
        for begun, cooldown, now, until in (
            (BEGIN, 60, before, end),
            (BEGIN, 60, end, None),
            (BEGIN, None, BEGIN, None),
            (BEGIN, 0, BEGIN, None),
            (None, 60, BEGIN, None),
        ):
            self.assertEqual(until, groups.cooldown_end(begun, cooldown, now))
