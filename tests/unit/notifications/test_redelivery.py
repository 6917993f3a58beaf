"""The redelivery of the messages of a lost queue."""

from tests.unit.notifications import expectations
from tests.unit.notifications.relay_case import (
    AWAY,
    END,
    TAKE,
    RelayTestCase,
    published,
    started,
)

INFO = 'versioned_notifications.info'
ERROR = 'versioned_notifications.error'
HOUR = 3600.0


class TestRedelivery(RelayTestCase):
    def setUp(self):
        super().setUp()
        self.relay = self.new_relay(redelivery_window=HOUR)
        self.publisher.empty = {INFO, ERROR}

    def lose_queues(self, *keys):
        def happens():
            self.publisher.lost = set(keys)

        return happens

    def retain_messages(self):
        """Let the queues keep messages that are published from now on."""
        self.publisher.empty = set()

    def run_after(self, *script):
        """Return the calls after the first inspection and batch."""
        self.store.add(started(1))
        first = ['inspect', *published(1)]
        done = [line for line in self.run_script(*script) if line != TAKE]
        self.assertEqual(first, done[: len(first)])
        return done[len(first) : -len(END)]

    def test_messages_since_the_queue_was_empty_are_republished(self):
        done = self.run_after(
            (None, self.retain_messages),
            (None, self.stored(started(2), started(3))),
            (None, self.lose_queues(INFO)),
        )

        self.assertEqual(
            [
                *('inspect', 'read []', 'keep alive'),
                'inspect',
                *published(2, 3),
                *('inspect', 'read again [1, 2, 3]', 'publish 6 within 30 s'),
                *('restored', 'read []', 'keep alive'),
            ],
            done,
        )
        ids = self.ids()
        self.assertEqual(ids[:6], ids[6:])

    def test_all_messages_of_the_first_batch_are_republished(self):
        self.store.add(started(1), started(2))

        done = self.run_script(
            (None, self.retain_messages), (None, self.lose_queues(INFO))
        )

        self.assertIn('read again [1, 2]', done)

    def test_consumed_messages_are_not_republished(self):
        done = self.run_after((None, None), (None, self.lose_queues(INFO, ERROR)))

        self.assertEqual(
            [
                *('inspect', 'read []', 'keep alive'),
                *('inspect', 'restored', 'read []', 'keep alive'),
            ],
            done,
        )

    def test_only_messages_of_the_lost_queue_are_republished(self):
        done = self.run_after(
            (None, self.retain_messages), (None, self.lose_queues(ERROR))
        )

        self.assertEqual(['inspect', 'restored', 'read []', 'keep alive'], done[-4:])

    def test_only_messages_of_a_batch_in_the_lost_queue_are_republished(self):
        failed = expectations.action_event(2, 'RUNNING', 'FAILED')

        self.run_after(
            (None, self.retain_messages),
            (None, self.stored(failed)),
            (None, self.lose_queues(ERROR)),
        )

        self.assertEqual(
            [INFO, INFO, INFO, ERROR, ERROR],
            [routing_key for routing_key, _ in self.publisher.arrived],
        )

    def test_new_relay_republishes_the_whole_window(self):
        self.clock.seconds = 2 * HOUR
        self.store.add(started(1), started(2))
        self.store.mark_published([1], self.clock.now())
        self.clock.seconds += HOUR + 1
        self.store.mark_published([2], self.clock.now())
        self.calls.clear()
        self.retain_messages()
        self.lose_queues(INFO, ERROR)()

        done = self.run_script()

        self.assertEqual(
            [TAKE, 'inspect', 'read again [2]', 'publish 2 within 30 s', 'restored'],
            done[:5],
        )

    def test_redelivery_runs_in_batches_and_restarts_after_an_outage(self):
        self.relay = self.new_relay(redelivery_window=HOUR, batch_size=2)
        self.retain_messages()
        self.lose_queues(INFO)()
        self.store.add(*(started(n) for n in range(1, 5)))
        self.store.mark_published([1, 2, 3, 4], self.clock.now())
        self.calls.clear()
        self.calls.fail('publish', None, AWAY)

        done = self.run_script((None, None))

        again = ['read again [1, 2]', 'publish 4 within 30 s', 'read again [3, 4]']
        self.assertEqual(
            [
                *(TAKE, 'inspect', *again),
                'publish 4 within 30 s: BrokerUnavailable',
                'drop relay',
                *(TAKE, 'inspect', *again, 'publish 4 within 30 s'),
                *('read again []', 'restored', 'read []', 'keep alive'),
            ],
            done[: -len(END)],
        )

    def test_another_relay_resets_the_known_queues(self):
        def lose_role():
            self.store.relay = 'worker-2'

        def acquire_again():
            self.store.relay = None
            self.store.published = [started(7)]
            self.store.marked[7] = self.clock.now()
            self.lose_queues(INFO)()

        done = self.run_script((45.0, lose_role), (45.0, acquire_again))

        self.assertIn('read again [7]', done)

    def test_redelivery_is_off_without_a_window_or_notifications(self):
        for options in ({'redelivery_window': 0}, {'level': ''}):
            self.relay = self.new_relay(**{'redelivery_window': HOUR, **options})
            self.lose_queues(INFO)()

            self.assertNotIn('inspect', self.run_script())
