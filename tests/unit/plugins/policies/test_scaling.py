"""The number of nodes by which clusters grow and shrink."""

from typing import Any

from tests.unit.plugins.policies.case import PolicyCase, at, nodes
from watcherlite import exceptions
from watcherlite.plugins.policies.scaling import Scaling
from watcherlite.testing.policies import ACTION, fitted, make_cluster

IN, OUT = 'CLUSTER_SCALE_IN', 'CLUSTER_SCALE_OUT'


class ScalingTest(PolicyCase):
    """Counts and cooldowns."""

    def decide(
        self,
        event: str,
        adjustment: dict[str, Any] | None = None,
        count: int = 4,
        data: dict[str, Any] | None = None,
        **values: Any,
    ) -> dict[str, Any]:
        found = dict(data or {})
        properties = {'event': event, 'adjustment': adjustment or {}}
        context = self.context(
            Scaling(), event, properties, nodes=nodes(count), **values
        )
        Scaling().pre_op(context, found)
        return found

    def refusal(self, *args: Any, **values: Any) -> str:
        error = self.assertRaises(
            exceptions.WatcherliteError, self.decide, *args, **values
        )
        return str(error)

    def test_each_adjustment_is_a_number_of_nodes(self) -> None:
        for event, adjustment, count in (
            (OUT, {}, 1),
            (IN, {}, 1),
            (IN, {'number': 2}, 2),
            (IN, {'type': 'EXACT_CAPACITY', 'number': 1}, 3),
            (OUT, {'type': 'EXACT_CAPACITY', 'number': 9}, 5),
            (OUT, {'type': 'EXACT_CAPACITY', 'number': 3}, 0),
            (OUT, {'type': 'CHANGE_IN_PERCENTAGE', 'number': 60}, 2),
            (OUT, {'type': 'CHANGE_IN_PERCENTAGE', 'number': 10}, 1),
            (OUT, {'type': 'CHANGE_IN_PERCENTAGE', 'number': 10, 'min_step': 3}, 3),
        ):
            key = 'deletion' if event == IN else 'creation'
            self.assertEqual({key: {'count': count}}, self.decide(event, adjustment))
        # The count of a request takes precedence.
        found = self.decide(OUT, inputs={'count': 3})
        self.assertEqual({'creation': {'count': 3}}, found)

    def test_a_policy_ignores_other_events(self) -> None:
        data: dict[str, Any] = {}
        context = self.context(Scaling(), OUT, {'event': IN}, nodes=nodes(4))

        Scaling().pre_op(context, data)

        self.assertEqual({}, data)

    def test_a_size_beyond_the_limits_is_rejected_or_best_effort(self) -> None:
        small: dict[str, Any] = {'cluster': make_cluster(min_size=3, max_size=5)}
        best = {'number': 3, 'best_effort': True}

        self.assertEqual(
            "The target capacity (2) is less than the cluster's min_size (3).",
            self.refusal(IN, {'number': 2}, **small),
        )
        self.assertEqual(
            "The target capacity (6) is greater than the cluster's max_size (5).",
            self.refusal(OUT, {'number': 2}, **small),
        )
        for event, count, decision in (
            (IN, 4, {'deletion': {'count': 1}}),
            (OUT, 4, {'creation': {'count': 1}}),
            (IN, 2, {'deletion': {'count': 0}}),
        ):
            self.assertEqual(decision, self.decide(event, best, count, **small))

    def test_scaling_is_rejected_during_the_cooldown_of_another_action(self) -> None:
        properties, one = {'cooldown': 60}, {'creation': {'count': 1}}
        own: dict[str, Any] = {'binding_data': {'heeded': ACTION}}
        self.clock.advance(59)

        self.assertEqual(
            'Policy 00000000-0000-4000-8000-00000000000f cooldown is still in '
            'progress.',
            self.refusal(OUT, properties, last_op=at(0)),
        )
        self.assertEqual(one, self.decide(OUT, properties, last_op=at(0), **own))
        self.clock.advance(1)
        self.assertEqual(one, self.decide(OUT, properties, last_op=at(0)))

    def test_the_cooldown_starts_at_the_end_of_the_action(self) -> None:
        context = self.context(Scaling(), OUT, {'event': IN}, binding_data={'x': 1})
        self.clock.advance(7)

        Scaling().post_op(context, {})

        self.assertEqual(
            ({'x': 1, 'heeded': ACTION}, at(7)), (context.binding_data, context.last_op)
        )

    def test_an_earlier_decision_is_kept(self) -> None:
        decided = {'creation': {'count': 5, 'regions': {'r': 5}}}

        self.assertEqual(decided, self.decide(OUT, data=decided))

    def test_only_a_percentage_may_be_fractional(self) -> None:
        for kind in ('EXACT_CAPACITY', 'CHANGE_IN_CAPACITY'):
            error = self.assertRaises(
                exceptions.InvalidSpec,
                fitted,
                Scaling(),
                event=IN,
                adjustment={'type': kind, 'number': 1.5},
            )
            self.assertEqual(
                'properties.adjustment.number: 1.5 is not a whole number, as '
                f'{kind} needs it',
                str(error),
            )
        half = {'type': 'CHANGE_IN_PERCENTAGE', 'number': 12.5}
        self.assertEqual(
            {**half, 'min_step': 1, 'best_effort': False, 'cooldown': 0},
            fitted(Scaling(), event=IN, adjustment=half)['adjustment'],
        )

    def test_the_event_is_required(self) -> None:
        error = self.assertRaises(exceptions.InvalidSpec, fitted, Scaling())

        self.assertEqual('properties.event: is required', str(error))
