"""The scoring engines for trials."""

import json
from collections.abc import Sequence
from typing import Any

from tests import base
from watcherlite import exceptions
from watcherlite.plugins import loader
from watcherlite.plugins.base import (
    SCORING_ENGINE_CONTAINERS,
    SCORING_ENGINES,
    ScoringEngine,
    ScoringEngineContainer,
)
from watcherlite.plugins.scoring_engines.dummy import MEBIBYTE, DummyScorer


class DummyScoringEnginesTest(base.TestCase):
    """The scores of the installed engines."""

    def setUp(self) -> None:
        super().setUp()
        self.plugins = loader.load([SCORING_ENGINES, SCORING_ENGINE_CONTAINERS])

    def score(self, name: str, features: object) -> list[float]:
        engine = self.plugins.make_scoring_engine(name)
        found: list[float] = json.loads(engine.calculate_score(json.dumps(features)))
        return found

    def test_the_engines_of_watcher_exist(self) -> None:
        self.assertEqual(
            [
                'dummy_avg_scorer',
                'dummy_max_scorer',
                'dummy_min_scorer',
                'dummy_scorer',
            ],
            list(self.plugins.scoring_engines()),
        )
        self.assertEqual(
            (('dummy_scorer',), ('dummy_scoring_container',)),
            (
                self.plugins.names(SCORING_ENGINES),
                self.plugins.names(SCORING_ENGINE_CONTAINERS),
            ),
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


def engine(description: str, answer: str = '[]', **texts: Any) -> ScoringEngine:
    """Return a scoring engine with its texts in the instance."""

    class Engine(ScoringEngine):
        def calculate_score(self, features: str) -> str:
            return answer

    made = Engine()
    for name, text in {'description': description, **texts}.items():
        setattr(made, name, text)
    return made


def container(engines: Any) -> type[ScoringEngineContainer]:
    """Return a container with these scoring engines, or one that raises an error."""

    class Container(ScoringEngineContainer):
        def scoring_engines(self) -> Any:
            if isinstance(engines, Exception):
                raise engines
            return engines

    return Container


class ScoringEngineContainersTest(base.TestCase):
    """The engines of containers beside those with entry points."""

    def load(self, **containers: Any) -> loader.Plugins:
        return loader.Plugins.of(
            scoring_engines={'dummy_scorer': DummyScorer},
            scoring_engine_containers={
                name: container(engines) for name, engines in containers.items()
            },
        )

    def test_engines_of_containers_are_used_by_their_names(self) -> None:
        plugins = self.load(
            models={'b': engine('second', metainfo='{}'), 'a': engine('first', '[1]')}
        )

        self.assertEqual(
            [('a', 'first', ''), ('b', 'second', '{}')],
            [
                (name, found.description, found.metainfo)
                for name, found in plugins.scoring_engines().items()
                if name != 'dummy_scorer'
            ],
        )
        self.assertEqual('[1]', plugins.make_scoring_engine('a').calculate_score('[]'))

    def test_an_entry_point_has_its_name_and_then_the_first_container(self) -> None:
        plugins = self.load(
            second={'x': engine('later'), 'dummy_scorer': engine('copy')},
            first={'x': engine('earlier')},
        )

        self.assertEqual(
            ['Dummy workload classifier', 'earlier'],
            [found.description for found in plugins.scoring_engines().values()],
        )
        self.assertEqual('earlier', plugins.make_scoring_engine('x').description)
        self.assertIsInstance(plugins.make_scoring_engine('dummy_scorer'), DummyScorer)

    def test_an_unusable_engine_is_logged_and_affects_nothing_else(self) -> None:
        plugins = self.load(
            broken=OSError('the directory is gone'),
            nothing=None,
            odd={
                1: engine('a'),
                'n' * 256: engine('b'),
                'kind': ScoringEngine,
                'text': engine('c', metainfo={}),
                'good': engine('d'),
            },
        )

        self.assertEqual(['dummy_scorer', 'good'], list(plugins.scoring_engines()))
        for text in (
            'The scoring engine container broken cannot be used',
            'The scoring engine container nothing cannot be used',
            'engine 1 of the container odd cannot be used: its name is not a str of 1',
            "nnn' of the container odd cannot be used: its name is not a str of 1 to",
            "'kind' of the container odd cannot be used: it is no instance of",
            "'text' of the container odd cannot be used: its metainfo is not a str",
        ):
            self.assertIn(text, self.log.output)

    def test_an_unknown_engine_is_refused_with_the_names_of_all(self) -> None:
        plugins = self.load(models={'trained': engine('a')})

        with self.assertRaisesRegex(
            exceptions.PluginNotFound,
            r'^There is no scoring engine trainee\. Did you mean trained\? Installed: '
            r'dummy_scorer, trained\.$',
        ):
            plugins.make_scoring_engine('trainee')
