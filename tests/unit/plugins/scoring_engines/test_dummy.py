"""The scoring engines for trials."""

import json
from collections.abc import Sequence

from tests import base
from watcherlite import exceptions
from watcherlite.plugins import loader
from watcherlite.plugins.base import SCORING_ENGINES, ScoringEngine
from watcherlite.plugins.scoring_engines.dummy import MEBIBYTE, DummyScorer


class DummyScoringEnginesTest(base.TestCase):
    """The scores of the installed engines."""

    def setUp(self) -> None:
        super().setUp()
        self.plugins = loader.load([SCORING_ENGINES])

    def score(self, name: str, features: object) -> list[float]:
        engine = self.plugins.make_scoring_engine(name)
        found: list[float] = json.loads(engine.calculate_score(json.dumps(features)))
        return found

    def test_the_engines_of_watcher_exist(self) -> None:
        self.assertEqual(
            {
                'dummy_avg_scorer',
                'dummy_max_scorer',
                'dummy_min_scorer',
                'dummy_scorer',
            },
            self.plugins.loadable(SCORING_ENGINES).keys(),
        )

    def test_aggregates_return_one_number(self) -> None:
        for name, result in (
            ('dummy_avg_scorer', 2.5),
            ('dummy_max_scorer', 5),
            ('dummy_min_scorer', 0.5),
        ):
            self.assertEqual([result], self.score(name, [0.5, 2, 5]))

    def test_the_classifier_returns_the_workload_and_probabilities(self) -> None:
        def classify(
            processor: float = 0,
            pages: Sequence[float] = (0, 0),
            disk: Sequence[float] = (0, 0),
        ) -> list[float]:
            scores = [processor, 4096, 2048, *pages, *disk, 0, 0]
            return self.score('dummy_scorer', scores)

        for found, expected in (
            (classify(79.9), [0, 100.0, 50.0, 0.0, 0.0]),
            (classify(39.9, (499, 500)), [0, 100.0, 0.0, 50.0, 0.0]),
            (classify(80, (1000, 1000)), [1, 0.0, 100.0, 0.0, 0.0]),
            (classify(50, (1000, 1000)), [2, 0.0, 0.0, 100.0, 0.0]),
            (classify(50, (999, 1000)), [0, 100.0, 50.0, 50.0, 0.0]),
            (classify(0, (0, 0), [50 * MEBIBYTE] * 2), [3, 0.0, 0.0, 0.0, 100.0]),
            (classify(), [0, 100.0, 0.0, 0.0, 0.0]),
        ):
            self.assertEqual(expected, found)
        metainfo = json.loads(DummyScorer.metainfo)
        self.assertEqual(
            (9, 5, 4),
            tuple(
                len(metainfo[name])
                for name in ('feature_columns', 'result_columns', 'workloads')
            ),
        )

    def test_features_that_do_not_fit_are_refused(self) -> None:
        for name, features, message in (
            ('dummy_scorer', '[1]', 'needs 9 features, not 1'),
            ('dummy_avg_scorer', '[]', 'at least 1 is needed'),
            ('dummy_min_scorer', '{}', 'not a JSON list'),
            ('dummy_max_scorer', '[', 'not JSON'),
            ('dummy_avg_scorer', '[1, true]', 'feature True is not a number'),
            ('dummy_avg_scorer', '["1"]', "feature '1' is not a number"),
        ):
            engine = self.plugins.make_scoring_engine(name)
            error = self.assertRaises(
                exceptions.Invalid, engine.calculate_score, features
            )
            self.assertIn(message, str(error))

    def test_an_engine_whose_texts_cannot_be_stored_is_not_loaded(self) -> None:
        broken = type('Broken', (ScoringEngine,), {'metainfo': {}})
        plugins = loader.Plugins.of(scoring_engines={'broken': broken})
        with self.assertRaisesRegex(
            exceptions.PluginError,
            'scoring engine broken .*: its metainfo is not a str',
        ):
            plugins.make_scoring_engine('broken')
