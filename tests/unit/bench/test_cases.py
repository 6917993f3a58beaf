"""Tests of tests.bench.cases."""

from tests import base
from tests.bench import cases
from tests.bench.cases import CHAIN, PARALLEL, POSTGRESQL, SQLITE, Case


class TestMatrix(base.TestCase):
    """The default cases."""

    def test_every_deployment_has_every_shape_up_to_its_largest_size(self) -> None:
        sizes: dict[tuple[str, str], list[int]] = {}
        for case in cases.matrix():
            sizes.setdefault((case.deployment, case.shape), []).append(case.size)

        # One action is measured once per deployment.
        chain = [10, 100, 1000]
        parallel = [1, *chain, 10_000, 100_000]
        self.assertEqual(
            {
                (POSTGRESQL, PARALLEL): parallel,
                (POSTGRESQL, CHAIN): chain,
                (SQLITE, PARALLEL): parallel,
                (SQLITE, CHAIN): chain,
            },
            sizes,
        )

    def test_quick_has_nothing_above_a_thousand(self) -> None:
        sizes = {case.size for case in cases.matrix(quick=True)}

        self.assertEqual({1, 10, 100, 1000}, sizes)

    def test_full_adds_only_the_long_chains(self) -> None:
        added = [case for case in cases.matrix(full=True) if case not in cases.matrix()]

        self.assertEqual(
            [Case(POSTGRESQL, CHAIN, 10_000), Case(SQLITE, CHAIN, 10_000)], added
        )

    def test_the_largest_plan_is_measured_in_one_round_only(self) -> None:
        rounds = [Case(SQLITE, PARALLEL, size).rounds(3) for size in (10_000, 100_000)]

        self.assertEqual([3, 1], rounds)


class TestChosen(base.TestCase):
    """The cases that `--only` selects."""

    def names(self, *patterns: str) -> list[str]:
        found = cases.chosen(cases.matrix(quick=True), patterns)
        return [case.name for case in found]

    def test_patterns_and_beginnings_of_names_add_up(self) -> None:
        chain = [f'sqlite/chain/{size}' for size in (10, 100, 1000)]
        for patterns, names in (
            (['sqlite/chain/10'], chain[:1]),
            (['sqlite/chain'], chain),
            (
                ['*/chain/1000', 'postgresql/parallel/1'],
                ['postgresql/parallel/1', 'postgresql/chain/1000', chain[2]],
            ),
            (['mysql'], []),
        ):
            self.assertEqual(names, self.names(*patterns), patterns)
        self.assertEqual(14, len(self.names()))
