"""The relay and its calls of the store and the broker."""

from tests import factories
from tests.unit.notifications import expectations
from tests.unit.notifications.relay_case import (
    AWAY,
    END,
    IDLE,
    TAKE,
    RelayTestCase,
    published,
    started,
)
from watcherlite.notifications.settings import NotificationSettings, RelaySettings


class TestPublishing(RelayTestCase):
    def test_events_are_marked_after_the_broker_has_confirmed(self):
        self.store.add(started(1), started(2))

        done = self.run_script()

        self.assertEqual([TAKE, *published(1, 2), *END], done)
        self.assertEqual({1: factories.NOW, 2: factories.NOW}, self.store.marked)
        self.assertEqual((4, 2, 0), self.counts())

    def test_without_a_subscriber_or_level_events_are_marked_and_not_built(self):
        unknown = expectations.action_event(2, 'READY', 'NO STATUS')
        for level, subscribed, second in (
            ('info', False, unknown),
            ('', True, started(2)),
        ):
            self.reset(level=level)
            self.publisher.subscribed = subscribed
            self.store.add(started(1), second)

            done = self.run_script()

            self.assertEqual([TAKE, 'read [1, 2]', 'mark [1, 2]', *END], done)
            self.assertEqual((0, 2, 0), self.counts())
            self.assertEqual([], self.publisher.arrived)

    def test_batches_are_read_at_every_wakeup_and_sweep(self):
        first, second = (self.stored(started(n)) for n in (1, 2))
        for name, number, script, done, waited in (
            (
                *('it sleeps until it is woken', 0, [(1.5, first)]),
                *([*IDLE, *published(1)], [5.0, 5.0]),
            ),
            (
                *('a sweep finds unannounced events', 0),
                [(None, lambda: self.store.add(started(1)))],
                *([*IDLE, *published(1)], [5.0, 5.0]),
            ),
            (
                *('full batches follow each other at once', 5, []),
                *([*published(1, 2), *published(3, 4), *published(5)], [5.0]),
            ),
            (
                'events in quick succession form one batch',
                *(0, [(0.001, first), (0.001, second), (None, None)]),
                *([*IDLE, *published(1, 2)], [5.0, 0.029, 0.028, 5.0]),
            ),
        ):
            self.reset(batch_size=2 if number else 500)
            self.store.add(*(started(n) for n in range(1, number + 1)))
            self.assertEqual([TAKE, *done, *END], self.run_script(*script), name)
            self.assertEqual(waited, self.clock.waited, name)

    def test_events_stored_during_publication_are_read_next(self):
        def store_event():
            if len(self.ids()) == 2:
                self.stored(started(2))()

        self.publish_slowly(0, store_event)
        self.store.add(started(1))

        done = self.run_script((None, None))

        self.assertEqual([TAKE, *published(1), *published(2), *END], done)
        self.assertEqual([0.03, 5.0], self.clock.waited)

    def test_other_settings_count_from_the_next_batch_on(self):
        self.store.add(started(1), started(2))

        def reconfigure():
            self.relay.reconfigure(
                NotificationSettings('host', level=''), RelaySettings(batch_size=1)
            )
            self.stored(started(3), started(4))()

        done = self.run_script((None, reconfigure))

        self.assertEqual(
            [
                TAKE,
                *published(1, 2),
                *('read [3]', 'mark [3]', 'read [4]', 'mark [4]'),
                *IDLE,
                *END,
            ],
            done,
        )

    def counts(self):
        return self.relay.published, self.relay.events, self.relay.build_failures


class TestBuildFailures(RelayTestCase):
    def test_a_build_failure_is_logged_marked_and_counted(self):
        audit = expectations.NOTIFIED_AUDIT
        gone = [
            started(1, plan_id=99),
            expectations.audit_event(
                2, 'PENDING', 'ONGOING', audit=audit.evolve(id=99)
            ),
        ]
        known = [started(3), expectations.audit_event(4, 'PENDING', 'ONGOING')]
        self.store.add(*gone, *known)

        done = self.run_script()

        every = '[1, 2, 3, 4]'
        self.assertEqual(
            [TAKE, f'read {every}', 'publish 3 within 30 s', f'mark {every}', *END],
            done,
        )
        self.assertEqual(2, self.relay.build_failures)
        for number, subject in (
            (0, f'action {expectations.ACTION.uuid}, sequence 1'),
            (1, 'audit with the id 99, sequence 2'),
        ):
            self.assertIn(
                f'Event {gone[number].event.uuid} (state_changed of {subject}) has no '
                'notification: its object is not in the database any more',
                self.log.output,
            )

    def test_a_build_failure_is_logged_once_per_batch(self):
        self.store.add(started(1, plan_id=99), started(2))
        self.calls.fail('publish', AWAY, AWAY)

        self.run_script((None, None), (None, None))

        self.assertEqual(1, self.log.output.count('has no notification'))
        self.assertEqual(1, self.relay.build_failures)


class TestStop(RelayTestCase):
    def stop_after(self, *numbers):
        """Return a function that stores these events and stops the relay."""

        def stop():
            self.store.add(*map(started, numbers))
            self.relay.stop(10.0)

        return stop

    def test_existing_events_are_published_first(self):
        self.relay = self.new_relay(batch_size=2)

        done = self.run_script((1, self.stop_after(1, 2, 3)))

        self.assertEqual(
            [TAKE, *IDLE, *published(1, 2, within=10), *published(3, within=10), *END],
            done,
        )

    def test_unpublished_events_stay_at_stop(self):
        self.relay = self.new_relay(batch_size=1)
        self.publish_slowly(6)

        done = self.run_script((1, self.stop_after(1, 2, 3)))

        self.assertEqual(
            [TAKE, *IDLE, *published(1, within=10), *published(2, within=4), *END], done
        )
        self.assertEqual([3], [stored.sequence for stored in self.store.pending])

    def test_events_of_another_relay_are_skipped(self):
        self.store.relay = 'worker-2'
        self.store.add(started(1))

        done = self.run_script((1, lambda: self.relay.stop(10.0)))

        self.assertEqual([TAKE, 'keep alive', 'close'], done)

    def test_an_idle_relay_ends(self):
        self.store.add(started(1))

        self.relay.stop(10.0)

        self.assertEqual([TAKE, *published(1, within=10), *END], self.run_script())

    def test_an_unexpected_error_does_not_keep_the_role(self):
        self.calls.fail('publish', ZeroDivisionError('a bug'))

        done = self.run_script((1, self.stop_after(1)))

        failed = 'publish 2 within 10 s: ZeroDivisionError'
        self.assertEqual([TAKE, *IDLE, 'read [1]', failed, *END], done)
        self.assertIn('ZeroDivisionError: a bug', self.log.output)
