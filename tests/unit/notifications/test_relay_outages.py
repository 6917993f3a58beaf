"""The relay while the broker or the database is unavailable, and its role."""

from tests.unit.notifications.relay_case import (
    AWAY,
    END,
    IDLE,
    LOST,
    NO_DATABASE,
    TAKE,
    RelayTestCase,
    published,
    started,
)


class TestOutages(RelayTestCase):
    def test_no_message_is_lost_and_every_repeat_has_the_same_id(self):
        self.store.add(started(1))
        self.calls.fail('publish', AWAY, AWAY)

        done = self.run_script((None, None), (None, None))

        self.assertEqual(
            [
                *(TAKE, 'read [1]', 'publish 2 within 30 s: BrokerUnavailable'),
                'drop relay',
                *(TAKE, 'read [1]', 'publish 2 within 30 s: BrokerUnavailable'),
                'drop relay',
                TAKE,
                *published(1),
                *END,
            ],
            done,
        )
        ids = self.ids()
        self.assertEqual((ids[:2] * 3, 2), (ids, len(set(ids))))
        self.assertEqual(2, self.relay.published)

    def test_the_start_and_the_end_of_an_outage_are_logged(self):
        self.relay = self.new_relay(batch_size=2)
        self.store.add(started(1), started(2), started(3))
        self.calls.fail('publish', AWAY, AWAY, AWAY)

        self.run_script((None, None), (None, None), (None, None))

        self.assertEqual(
            [
                'Worker worker-1 is the notification relay.',
                'Cannot publish notifications: The message broker cannot be reached. '
                'They stay in the database, none is lost. Worker worker-1 retries '
                'every 1 to 30 s.',
                'Notifications are published again after 7.0 s; 3 pending events were '
                'published.',
            ],
            self.log.output.splitlines(),
        )

    def test_second_outage_is_logged_and_starts_with_short_intervals(self):
        self.store.add(started(1))
        self.calls.fail('publish', AWAY, None, AWAY)

        self.run_script((None, None), (1, self.stored(started(2))), (None, None))

        self.assertEqual(2, self.log.output.count('none is lost'))
        self.assertEqual(2, self.log.output.count('published again'))
        self.assertEqual([1.0, 5.0, 1.0, 5.0], self.clock.waited)

    def test_tries_come_at_ever_longer_intervals_which_new_events_shorten(self):
        pause = (None, None)
        # The third interval is 4 s.
        early = [(0.25, self.stored(started(number))) for number in (2, 3)]
        for name, jitter, failures, script, waited in (
            (
                *('up to a bound', 1.0, 7, [pause] * 7),
                [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 5.0],
            ),
            ('other relays at other times', 0.0, 2, [pause] * 2, [0.5, 1.0, 5.0]),
            (
                *('early, but not at once', 1.0, 3, [pause, pause, *early, pause]),
                [1.0, 2.0, 4.0, 0.75, 0.5, 5.0],
            ),
        ):
            self.reset(jitter=jitter)
            self.store.add(started(1))
            self.calls.fail('publish', *[AWAY] * failures)
            self.run_script(*script)
            self.assertEqual(waited, self.clock.waited, name)
        self.assertEqual([1, 2, 3], list(self.store.marked))

    def test_a_stop_does_not_wait_for_the_next_try(self):
        self.store.add(started(1))
        self.calls.fail('publish', *[AWAY] * 2)

        done = self.run_script((0.1, lambda: self.relay.stop(2.0)))

        self.assertEqual(
            [
                *(TAKE, 'read [1]', 'publish 2 within 30 s: BrokerUnavailable'),
                'drop relay',
                *(TAKE, 'read [1]', 'publish 2 within 2 s: BrokerUnavailable'),
                *END,
            ],
            done,
        )
        self.assertIn(
            'Worker worker-1 stops before all notifications are published',
            self.log.output,
        )

    def test_outages_of_database_and_broker_are_handled_alike(self):
        self.store.add(started(1))
        self.calls.fail('take', NO_DATABASE)
        self.calls.fail('read', LOST)
        self.calls.fail('mark', NO_DATABASE)

        done = self.run_script((None, None), (None, None), (None, None))

        self.assertEqual(
            [
                f'{TAKE}: StoreUnavailable',
                *(TAKE, 'read [1]: StoreConflict'),
                'read [1]',
                'publish 2 within 30 s',
                'mark [1]: StoreUnavailable',
                *published(1),
                *END,
            ],
            done,
        )
        ids = self.ids()
        self.assertEqual(ids[:2] * 2, ids)

    def test_an_unexpected_error_is_logged_with_traceback_and_retried(self):
        self.store.add(started(1))
        self.calls.fail('publish', ZeroDivisionError('a bug'), ZeroDivisionError())

        self.run_script((None, None), (None, None))

        self.assertEqual({1}, set(self.store.marked))
        self.assertEqual(1, self.log.output.count('Traceback'))
        self.assertIn('ZeroDivisionError: a bug', self.log.output)


class TestRole(RelayTestCase):
    def take_over(self):
        self.store.relay = 'worker-2'

    def test_only_the_holder_reads_and_all_send_hints(self):
        def hint():
            self.relay.on_hint()

        def announce():
            self.store.add(started(1))
            hint()

        def stop():
            self.stored(started(1))()
            self.relay.stop(10.0)

        def leave():
            self.store.relay = None

        one, two = (self.stored(*map(started, range(1, n + 1))) for n in (1, 2))
        taken, lost = [TAKE, *IDLE, *published(1)], [TAKE, 'keep alive']
        for name, others, number, script, done, pending in (
            (
                *('only its holder reads', True, 1, [(None, None)]),
                *([*lost, *lost, 'close'], [1]),
            ),
            (
                'its holder is notified of events of others',
                *(True, 0, [(1, two), (1, None)]),
                *([*lost, 'keep alive', 'tell', 'close'], [1, 2]),
            ),
            (
                *('others are notified once by its holder', False, 0),
                *([(1, one), (1, hint)], [*taken, 'tell', *IDLE, *END], []),
            ),
            (
                *('it is notified of events before a stop', True, 0, [(1, stop)]),
                *([*lost, 'tell', 'close'], [1]),
            ),
            (
                *('a notice is not forwarded', True, 0, [(1, hint), (1, hint)]),
                *([*lost, 'close'], []),
            ),
            (
                *('its holder publishes announced events', False, 0, [(1, announce)]),
                *([*taken, *END], []),
            ),
            (
                *('it is taken over when it is free', True, 1, [(None, leave)]),
                *([*lost, TAKE, *published(1), *END], []),
            ),
        ):
            self.reset(on_stored=lambda: self.calls.append('tell'))
            self.store.relay = 'worker-2' if others else None
            self.store.add(*map(started, range(1, number + 1)))
            self.assertEqual(done, self.run_script(*script), name)
            left = [one.sequence for one in self.store.pending]
            self.assertEqual(pending, left, name)

    def test_a_wakeup_of_another_relay_reads_nothing(self):
        self.store.relay = 'worker-2'
        script = [(1, self.stored(started(n))) for n in range(1, 5)]

        done = self.run_script(*script)

        self.assertEqual([TAKE, 'keep alive', 'close'], done)
        self.assertEqual([5.0, 4.0, 3.0, 2.0, 1.0], self.clock.waited)

    def test_the_role_is_renewed_after_a_long_read_or_acquired_again(self):
        taken = [TAKE, 'read [1]', TAKE]
        renewed = ['publish 2 within 30 s', 'mark [1]', *END]
        for seconds, holder, done, messages in (
            (15, 'worker-1', [*taken, *renewed], 2),
            (45, 'worker-2', [*taken, 'keep alive', 'close'], 0),
            (45, 'worker-1', [*taken, *published(1), *END], 2),
        ):
            self.reset()
            self.store.add(started(1))
            self.read_for(seconds, holder)
            self.assertEqual(done, self.run_script(), (seconds, holder))
            self.assertEqual(messages, len(self.publisher.arrived))

    def read_for(self, seconds, holder):
        """Let the next read of events take this time and change the role holder."""
        read = self.store.pending_events

        def slowly(limit):
            self.store.pending_events = read
            self.clock.seconds += seconds
            self.store.relay = holder
            return read(limit)

        self.store.pending_events = slowly

    def test_the_lease_counts_from_its_request(self):
        def slowly(role, worker, lease):
            self.store.acquire_role = take
            self.clock.seconds += 15
            return take(role, worker, lease)

        take, self.store.acquire_role = self.store.acquire_role, slowly
        self.store.add(started(1))

        self.assertEqual(
            [TAKE, 'read [1]', TAKE, *published(1)[1:], *END], self.run_script()
        )

    def test_no_batch_starts_with_too_short_a_lease(self):
        script = [(None, None)] * 5

        self.assertEqual(
            [
                *(TAKE, *IDLE, *IDLE),
                # After 10 s, 30 of 40 are left.
                *(TAKE, *IDLE, *IDLE),
                *(TAKE, *IDLE, *IDLE),
                *END,
            ],
            self.run_script(*script),
        )

    def test_a_slow_broker_does_not_let_a_relay_publish_beyond_its_lease(self):
        self.relay = self.new_relay(batch_size=1)
        self.store.add(started(1), started(2))
        self.publish_slowly(29, self.take_over)

        done = self.run_script()

        self.assertEqual([TAKE, *published(1), *(TAKE, 'keep alive'), 'close'], done)
        self.assertEqual(
            [
                'Worker worker-1 is the notification relay.',
                'Worker worker-1 is not the notification relay; another worker is.',
            ],
            self.log.output.splitlines(),
        )

    def test_a_relay_that_cannot_reach_the_broker_lets_others_try(self):
        self.store.add(started(1))
        self.calls.fail('publish', AWAY)

        done = self.run_script((None, self.take_over))

        self.assertEqual(
            [
                *(TAKE, 'read [1]', 'publish 2 within 30 s: BrokerUnavailable'),
                'drop relay',
                *(TAKE, 'keep alive'),
                'close',
            ],
            done,
        )

    def test_a_role_that_cannot_be_released_expires(self):
        self.store.add(started(1))
        self.calls.fail('publish', AWAY)
        self.calls.fail('drop', NO_DATABASE)

        self.run_script((None, None))

        self.assertEqual([1], list(self.store.marked))
