"""Data models are kept for a while, and datasources found by their metrics."""

from tests import base
from watcherlite import exceptions
from watcherlite.domain.creators import LOCAL, Creator
from watcherlite.engine.audits.data_models import DataModels, Datasources
from watcherlite.plugins import base as contract
from watcherlite.plugins.loader import Plugins
from watcherlite.testing.clock import ManualClock


class Counted(contract.DataModel):
    """A snapshot is the number of its collection."""

    collected = 0

    def collect(self):
        Counted.collected += 1
        return Counted.collected

    def restrict(self, snapshot, scope):
        return snapshot, tuple(scope)

    def represent(self, model):
        return [{'number': model[0]}]


class Broken(contract.DataModel):
    def collect(self):
        raise exceptions.ServiceUnavailable('nova is down')


def source(*metrics, configured=True):
    """Return a class of datasources."""

    class Source(contract.DataSource):
        is_configured = configured

    Source.metrics = metrics
    return Source


class TestDataModels(base.TestCase):
    def setUp(self):
        super().setUp()
        Counted.collected = 0
        self.clock = ManualClock()
        self.max_age = 60.0
        self.models = DataModels(
            Plugins.of(data_models={'compute': Counted, 'broken': Broken}),
            self.clock,
            lambda: self.max_age,
        )

    def collections(self):
        return self.models.model('compute', ())[0]

    def test_a_snapshot_is_used_until_its_maximum_age(self):
        self.assertEqual(1, self.collections())
        self.clock.advance(59)
        self.assertEqual(1, self.collections())
        self.clock.advance(1)
        self.assertEqual(2, self.collections())

    def test_a_maximum_age_of_0_collects_every_time(self):
        self.max_age = 0.0

        self.assertEqual([1, 2], [self.collections(), self.collections()])

    def test_a_failure_is_not_kept(self):
        for _ in range(2):
            with self.assertRaisesRegex(exceptions.ServiceUnavailable, 'nova is down'):
                self.models.model('broken', ())

    def test_each_audit_gets_the_model_of_its_scope(self):
        make = self.models.factories()['compute']

        self.assertEqual((1, ('scope',)), make(['scope'], creator=LOCAL))
        self.assertEqual([{'number': 1}], self.models.rows('compute', ()))

    def test_creators_of_one_project_do_not_see_all_projects(self):
        make = self.models.factories()['compute']

        with self.assertRaisesRegex(exceptions.Forbidden, 'data model compute'):
            make([], creator=Creator(project_id='p'))
        self.assertEqual(0, Counted.collected)


class TestDatasources(base.TestCase):
    def find(self, desired, **sources):
        plugins = Plugins.of(datasources=sources)
        return Datasources(plugins, lambda: list(sources)).find_named(desired)[0]

    def test_the_first_one_with_all_metrics_is_found(self):
        self.assertEqual(
            'third',
            self.find(
                ['a', 'b'],
                first=source('a', 'b', configured=False),
                second=source('a'),
                third=source('a', 'b', 'c'),
                fourth=source('a', 'b'),
            ),
        )

    def test_the_message_names_the_missing_metrics_of_each_datasource(self):
        with self.assertRaisesRegex(
            exceptions.ConfigurationError,
            '^No datasource has a, b: first is not configured; second has no b$',
        ):
            self.find(
                ['b', 'a'], first=source('a', configured=False), second=source('a')
            )
