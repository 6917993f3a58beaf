"""The relay while the broker or the database is away, and who is the relay."""

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
    def test_nothing_is_lost_and_every_repeat_has_the_same_id(self):
        self.store.add(started(1))
        self.story.fail('publish', AWAY, AWAY)

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

    def test_it_is_logged_when_it_begins_and_when_it_is_over(self):
        self.relay = self.new_relay(batch_size=2)
        self.store.add(started(1), started(2), started(3))
        self.story.fail('publish', AWAY, AWAY, AWAY)

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
        self.story.fail('publish', AWAY, None, AWAY)

        self.run_script((None, None), (1, self.stored(started(2))), (None, None))

        self.assertEqual(2, self.log.output.count('none is lost'))
        self.assertEqual(2, self.log.output.count('published again'))
        self.assertEqual([1.0, 5.0, 1.0, 5.0], self.clock.waited)

    def test_tries_come_at_ever_longer_intervals_up_to_a_bound(self):
        self.store.add(started(1))
        self.story.fail('publish', *[AWAY] * 7)

        self.run_script(*[(None, None)] * 7)

        self.assertEqual([1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 5.0], self.clock.waited)

    def test_intervals_vary_so_that_not_all_relays_come_at_once(self):
        self.relay = self.new_relay(jitter=0.0)
        self.store.add(started(1))
        self.story.fail('publish', AWAY, AWAY)

        self.run_script((None, None), (None, None))

        self.assertEqual([0.5, 1.0, 5.0], self.clock.waited)

    def test_new_events_bring_a_try_forward_but_not_at_once(self):
        self.store.add(started(1))
        self.story.fail('publish', *[AWAY] * 3)

        self.run_script(
            (None, None),
            (None, None),
            # the third interval is 4 s
            (0.25, self.stored(started(2))),
            (0.25, self.stored(started(3))),
            (None, None),
        )

        self.assertEqual([1.0, 2.0, 4.0, 0.75, 0.5, 5.0], self.clock.waited)
        self.assertEqual([1, 2, 3], list(self.store.marked))

    def test_a_stop_does_not_wait_for_the_next_try(self):
        self.store.add(started(1))
        self.story.fail('publish', *[AWAY] * 2)

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
        self.story.fail('take', NO_DATABASE)
        self.story.fail('read', LOST)
        self.story.fail('mark', NO_DATABASE)

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

    def test_an_unexpected_error_is_logged_whole_and_stops_nothing(self):
        self.store.add(started(1))
        self.story.fail('publish', ZeroDivisionError('a bug'), ZeroDivisionError())

        self.run_script((None, None), (None, None))

        self.assertEqual({1}, set(self.store.marked))
        self.assertEqual(1, self.log.output.count('Traceback'))
        self.assertIn('ZeroDivisionError: a bug', self.log.output)


class TestRole(RelayTestCase):
    def test_only_its_holder_reads_and_publishes(self):
        self.store.relay = 'worker-2'
        self.store.add(started(1))

        done = self.run_script((None, None))

        self.assertEqual([TAKE, 'keep alive', TAKE, 'keep alive', 'close'], done)
        self.assertEqual([1], [stored.sequence for stored in self.store.pending])

    def test_waking_another_than_the_holder_costs_the_store_nothing(self):
        self.store.relay = 'worker-2'
        script = [(1, self.stored(started(n))) for n in range(1, 5)]

        done = self.run_script(*script)

        self.assertEqual([TAKE, 'keep alive', 'close'], done)
        self.assertEqual([5.0, 4.0, 3.0, 2.0, 1.0], self.clock.waited)

    def test_holder_is_notified_of_events_of_other_workers(self):
        self.store.relay = 'worker-2'
        self.relay = self.new_relay(on_stored=lambda: self.story.append('tell'))

        done = self.run_script((1, self.stored(started(1), started(2))), (1, None))

        self.assertEqual([TAKE, 'keep alive', 'keep alive', 'tell', 'close'], done)

    def test_other_workers_are_notified_once_by_the_holder(self):
        self.relay = self.new_relay(on_stored=lambda: self.story.append('tell'))

        done = self.run_script((1, self.stored(started(1))), (1, self.relay.on_hint))

        self.assertEqual([TAKE, *IDLE, *published(1), 'tell', *IDLE, *END], done)

    def test_holder_is_notified_of_events_before_a_stop(self):
        self.store.relay = 'worker-2'
        self.relay = self.new_relay(on_stored=lambda: self.story.append('tell'))

        def stop():
            self.stored(started(1))()
            self.relay.stop(10.0)

        done = self.run_script((1, stop))

        self.assertEqual([TAKE, 'keep alive', 'tell', 'close'], done)

    def test_role_is_renewed_after_a_long_read(self):
        self.store.add(started(1))
        self.read_for(15)

        done = self.run_script()

        self.assertEqual(
            [*(TAKE, 'read [1]', TAKE, 'publish 2 within 30 s', 'mark [1]'), *END], done
        )

    def test_role_lost_during_a_read_leaves_the_events(self):
        self.store.add(started(1))
        self.read_for(45, then=self.taken_by_another)

        done = self.run_script()

        self.assertEqual([TAKE, 'read [1]', TAKE, 'keep alive', 'close'], done)
        self.assertEqual([], self.publisher.arrived)

    def test_regained_role_reads_again(self):
        self.store.add(started(1))
        self.read_for(45)

        done = self.run_script()

        self.assertEqual([*(TAKE, 'read [1]', TAKE), *published(1), *END], done)

    def taken_by_another(self):
        self.store.relay = 'worker-2'

    def read_for(self, seconds, then=lambda: None):
        """Have the next look at the events take so long."""
        read = self.store.pending_events

        def slowly(limit):
            self.store.pending_events = read
            self.clock.seconds += seconds
            then()
            return read(limit)

        self.store.pending_events = slowly

    def test_notice_to_another_worker_is_not_forwarded(self):
        self.store.relay = 'worker-2'
        self.relay = self.new_relay(on_stored=lambda: self.story.append('tell'))

        done = self.run_script((1, self.relay.on_hint), (1, self.relay.on_hint))

        self.assertEqual([TAKE, 'keep alive', 'close'], done)

    def test_holder_publishes_announced_events(self):
        done = self.run_script(
            (1, lambda: (self.store.add(started(1)), self.relay.on_hint()))
        )

        self.assertEqual([TAKE, *IDLE, *published(1), *END], done)

    def test_it_is_taken_over_when_it_is_free(self):
        self.store.relay = 'worker-2'
        self.store.add(started(1))

        def leave():
            self.store.relay = None

        done = self.run_script((None, leave))

        self.assertEqual([*(TAKE, 'keep alive'), TAKE, *published(1), *END], done)

    def test_no_batch_begins_with_less_lease_than_it_may_take(self):
        script = [(None, None)] * 5

        self.assertEqual(
            [
                *(TAKE, *IDLE, *IDLE),
                # 10 s are over, and 30 of 40 are left
                *(TAKE, *IDLE, *IDLE),
                *(TAKE, *IDLE, *IDLE),
                *END,
            ],
            self.run_script(*script),
        )

    def test_a_slow_broker_does_not_let_a_relay_publish_beyond_its_lease(self):
        self.relay = self.new_relay(batch_size=1)
        self.store.add(started(1), started(2))
        publish = self.publisher.publish

        def slowly(messages, timeout):
            publish(messages, timeout)
            self.clock.seconds += 29
            self.store.relay = 'worker-2'

        self.publisher.publish = slowly

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
        self.story.fail('publish', AWAY)

        def take_over():
            self.store.relay = 'worker-2'

        done = self.run_script((None, take_over))

        self.assertEqual(
            [
                *(TAKE, 'read [1]', 'publish 2 within 30 s: BrokerUnavailable'),
                'drop relay',
                *(TAKE, 'keep alive'),
                'close',
            ],
            done,
        )

    def test_a_role_that_cannot_be_dropped_runs_out_by_itself(self):
        self.store.add(started(1))
        self.story.fail('publish', AWAY)
        self.story.fail('drop', NO_DATABASE)

        self.run_script((None, None))

        self.assertEqual([1], list(self.store.marked))
