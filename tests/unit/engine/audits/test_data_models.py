"""Data models are kept for a while, and datasources found by their metrics."""

import datetime

from tests import base
from watcherlite import exceptions
from watcherlite.domain.creators import LOCAL, Creator
from watcherlite.domain.service_notifications import ServiceNotification
from watcherlite.engine.audits import data_models
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


class Followed(contract.DataModel):
    """A snapshot is the list of what was collected and applied."""

    event_types = ('instance.*.end',)
    collected = 0
    #: Called during a collection.
    during = staticmethod(lambda: None)

    def collect(self):
        Followed.collected += 1
        Followed.during()
        return [f'collected {Followed.collected}']

    def apply(self, snapshot, notifications):
        if any(one.payload.get('unknown') for one in notifications):
            return None
        return snapshot + [one.payload['name'] for one in notifications]

    def restrict(self, snapshot, scope):
        return snapshot


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


class TestNotifications(base.TestCase):
    def setUp(self):
        super().setUp()
        Followed.collected = 0
        Followed.during = staticmethod(lambda: None)
        self.clock = ManualClock()
        self.models = DataModels(
            Plugins.of(data_models={'compute': Followed, 'other': Counted}),
            self.clock,
            lambda: 60.0,
            lambda: 600.0,
        )

    def notify(self, name, event_type='instance.power_on.end', age=0, **payload):
        self.models.on_notification(
            ServiceNotification(
                event_type,
                'nova-compute:host',
                {'name': name, **payload},
                self.clock.now() - datetime.timedelta(seconds=age),
            )
        )

    def snapshot(self):
        return self.models.model('compute', ())

    def test_notifications_are_applied_before_the_next_use(self):
        before = self.snapshot()
        self.notify('a')
        self.notify('b')
        self.notify('c', 'instance.power_on.start')

        self.assertEqual(['collected 1', 'a', 'b'], self.snapshot())
        self.assertEqual(['collected 1'], before)

    def test_with_notifications_a_model_is_kept_for_longer(self):
        self.snapshot()
        self.notify('a')
        self.clock.advance(599)

        self.assertEqual(['collected 1', 'a'], self.snapshot())
        self.clock.advance(1)
        self.assertEqual(['collected 2'], self.snapshot())

    def test_without_a_connection_the_maximum_age_is_the_usual_one(self):
        self.snapshot()
        self.notify('a')
        self.clock.advance(61)
        self.models.on_notifications_lost()

        self.assertEqual(['collected 2'], self.snapshot())

    def test_missed_notifications_mean_that_a_model_is_collected_again(self):
        self.snapshot()
        self.models.on_notifications_missed()
        self.notify('a')

        self.assertEqual(['collected 2'], self.snapshot())
        self.notify('b')
        self.assertEqual(['collected 2', 'b'], self.snapshot())

    def test_an_unknown_object_means_that_a_model_is_collected_again(self):
        self.snapshot()
        self.notify('a', unknown=True)

        self.assertEqual(['collected 2'], self.snapshot())

    def test_a_malformed_payload_means_that_a_model_is_collected_again(self):
        self.snapshot()
        self.models.on_notification(
            ServiceNotification('instance.x.end', 'nova', {}, self.clock.now())
        )

        self.assertEqual(['collected 2'], self.snapshot())
        self.assertIn('The data model compute cannot apply', self.log.output)

    def test_a_notification_that_is_older_than_the_model_is_ignored(self):
        self.snapshot()
        self.notify('old', age=6)
        self.notify('clocks differ', age=4)

        self.assertEqual(['collected 1', 'clocks differ'], self.snapshot())

    def test_notifications_during_a_collection_are_applied_to_its_result(self):
        self.notify('before')
        Followed.during = staticmethod(lambda: self.notify('during'))

        self.assertEqual(['collected 1', 'during'], self.snapshot())

    def test_many_notifications_are_applied_at_once(self):
        self.snapshot()
        for number in range(data_models.BATCH):
            self.notify(number)

        pending = self.models._find('compute').pending
        self.assertEqual((), pending.take())
        self.assertEqual(data_models.BATCH + 1, len(self.snapshot()))

    def test_a_collection_with_too_many_notifications_is_repeated(self):
        def flood():
            for number in range(data_models.MOST_PENDING + 1):
                self.notify(number)

        Followed.during = staticmethod(flood)

        self.assertEqual(['collected 1'], self.snapshot())
        Followed.during = staticmethod(lambda: None)
        self.assertEqual(['collected 2'], self.snapshot())

    def test_a_failed_collection_is_repeated(self):
        def fail():
            raise exceptions.ServiceUnavailable('nova is down')

        self.snapshot()
        self.models.on_notifications_missed()
        Followed.during = staticmethod(fail)
        with self.assertRaises(exceptions.ServiceUnavailable):
            self.snapshot()
        Followed.during = staticmethod(lambda: None)

        self.assertEqual(['collected 3'], self.snapshot())


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
