"""Tests of tests.bench.measurements and tests.bench.targets."""

from tests import base
from tests.bench import measurements, query_counters, targets
from tests.bench.cases import CHAIN, PARALLEL, POSTGRESQL, SQLITE, Case
from tests.bench.ceiling import Ceiling, Variant
from tests.bench.documents import DICTIONARIES
from tests.bench.measurements import Measurement, Round, Row
from tests.bench.plans import Timing
from tests.bench.processes import Memory

THREAD = Variant(PARALLEL)


def measured(*seconds: float, cpu: float = 0.5) -> Measurement:
    """Return a process whose plans took so long, half of it until durable."""
    return Measurement(
        timings=[Timing(second / 10, second / 2, second) for second in seconds],
        daemon_cpu=cpu,
        database_cpu=0.2,
        broker_cpu=0.3,
        idle=Memory(70.0, 71.0, 60.0),
        peak=Memory(90.0, 91.0, 80.0),
        startup=0.7,
        messages=4.0,
    )


def ceiling(rate: float, variant: Variant = THREAD) -> Ceiling:
    return Ceiling(variant, 2000, rate, 0.1, 0.02, 0.2)


def row(case: Case, *rounds: Round) -> Row:
    return Row(case, list(rounds))


WIDE = Case(POSTGRESQL, PARALLEL, 1000)
LONG = Case(POSTGRESQL, CHAIN, 1000)


class TestRow(base.TestCase):
    """The figures derived from measurements."""

    def test_a_share_is_taken_within_each_round_and_not_of_the_medians(self) -> None:
        quiet = Round(measured(1.0), [ceiling(2000)])
        busy = Round(measured(4.0), [ceiling(250)])
        busier = Round(measured(10.0), [ceiling(125)])

        found = row(WIDE, quiet, busy, busier)

        self.assertEqual(
            (0.8, 250.0, 250.0),
            (found.share(THREAD), found.rate('confirmed'), found.ceiling(THREAD)),
        )

    def test_a_round_is_compared_with_the_ceiling_before_it_and_after_it(self) -> None:
        found = row(WIDE, Round(measured(1.0), [ceiling(2000), ceiling(1250)]))

        self.assertEqual(0.65, round(found.share(THREAD) or 0.0, 6))

    def test_there_is_no_share_of_a_variant_that_was_not_measured(self) -> None:
        found = row(Case(SQLITE, PARALLEL, 1000), Round(measured(1.0), [ceiling(10)]))

        self.assertIsNone(found.share(Variant(PARALLEL, made_from=DICTIONARIES)))
        self.assertIsNone(found.ceiling(Variant(CHAIN)))

    def test_a_moment_is_the_median_over_all_plans_of_all_rounds(self) -> None:
        case = Case(POSTGRESQL, PARALLEL, 10)
        found = row(
            case, Round(measured(1.0, 9.0), []), Round(measured(2.0, 3.0, 8.0), [])
        )

        self.assertEqual(
            (0.3, 1.5, 3.0), tuple(map(found.seconds, ('first', 'done', 'confirmed')))
        )

    def test_counts_are_per_action_and_zero_for_absent_names(self) -> None:
        found = row(LONG)

        before = found.per_action(query_counters.STATEMENTS)
        found.counts = {query_counters.STATEMENTS: 5000}

        self.assertEqual(
            (None, 5.0, 0.0),
            (
                before,
                found.per_action(query_counters.STATEMENTS),
                found.per_action(query_counters.COMMITS),
            ),
        )

    def test_growth_compares_the_larger_plan_with_the_smaller(self) -> None:
        small = row(WIDE, Round(measured(1.0, cpu=0.5), []))
        large = row(
            Case(POSTGRESQL, PARALLEL, 100_000), Round(measured(1.0, cpu=0.75), [])
        )

        grown = measurements.growth(
            small, large, lambda r: r.median(lambda m: m.daemon_cpu)
        )

        self.assertEqual(1.5, grown)


class TestTargets(base.TestCase):
    """The targets that were reached."""

    def verdicts(self, *rows: Row) -> dict[str, bool | None]:
        return {target.text: target.reached for target in targets.targets(rows)}

    def test_results_without_measurements_are_none(self) -> None:
        self.assertEqual({None}, set(self.verdicts().values()))

    def test_a_share_has_to_be_at_least_its_target_and_a_count_at_most(self) -> None:
        dictionaries = ceiling(1000, Variant(PARALLEL, made_from=DICTIONARIES))
        wide = row(WIDE, Round(measured(1.25), [ceiling(2000), dictionaries]))
        long = row(LONG, Round(measured(1.0), []))
        long.counts = {query_counters.STATEMENTS: 8001, query_counters.COMMITS: 2000}

        found = self.verdicts(wide, long)

        shares = [v for k, v in found.items() if k.startswith('parallel of 1000,')]
        self.assertEqual([True, False], shares)
        counts = [v for k, v in found.items() if 'included, chain of 1000' in k]
        self.assertEqual([False, True], counts)

    def test_one_process_is_not_held_to_the_targets_of_servers(self) -> None:
        alone = row(Case(SQLITE, PARALLEL, 1000), Round(measured(1.0), [ceiling(1)]))

        self.assertEqual({None}, set(self.verdicts(alone).values()))
