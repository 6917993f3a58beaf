"""The committer: results of attempts are written in groups, once or not at all."""

import threading
import time

from tests import base, factories
from tests.unit.execution.attempts import Commit, make_attempt
from tests.unit.execution.fragile import FragileStore
from watcherlite import exceptions
from watcherlite.applier.progress import PlanProgress
from watcherlite.domain import outcomes
from watcherlite.execution import results
from watcherlite.execution.committer import CommitQueue, Committer
from watcherlite.execution.events import EventListeners
from watcherlite.execution.group_commit import ClaimRequest
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.states import action as states
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore

PATIENCE = 10
DONE = outcomes.Done()
AWAY = exceptions.StoreUnavailable('The database is away.')
CONFLICT = exceptions.StoreConflict('A deadlock.')
REFUSED = (
    'Action failed in execute: its result cannot be stored; see the log',
    {
        'exception': 'StoreRefused',
        'message': 'its result cannot be stored',
        'module': 'watcherlite.execution.committer',
        'function': '_drop',
    },
)


class Dispatcher:
    """Takes the place of the dispatcher: wishes once, and hears what was written."""

    def __init__(self):
        self._claim_requests = []
        self._condition = threading.Condition()
        self.batches = []

    def request(self, *claim_requests):
        self._claim_requests = list(claim_requests)

    def claim_requests(self):
        wanted, self._claim_requests = self._claim_requests, []
        return wanted

    def retry_plans(self, plan_ids):
        """Do nothing."""

    def prefetch_roots(self, started):
        return [], 0

    def on_committed(self, batch):
        with self._condition:
            self.batches.append(batch)
            self._condition.notify_all()

    def until_written(self, times=1):
        with self._condition:
            if not self._condition.wait_for(
                lambda: len(self.batches) >= times, PATIENCE
            ):
                raise AssertionError(f'{len(self.batches)} batches, not {times}')


class Lease:
    """Lasts as long as the test says."""

    def __init__(self, case):
        self._case = case

    def left(self):
        return self._case.left

    def report_loss(self):
        self._case.lost()


class CommitterCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = ManualClock(factories.NOW)
        self.store = self.make_store()
        self.addCleanup(self.store.close)
        self.fragile = FragileStore(self.store)
        self.left = 1000.0
        self.losses = []
        self.condition = threading.Condition()
        self.told = []
        self.heard = []
        services = CoreServices(
            self.fragile, self.clock, ExecutionSettings(claim_batch=8), 'me'
        )
        self.queue = CommitQueue(services)
        self.dispatcher = Dispatcher()
        self.listeners = EventListeners()
        self.committer = Committer(
            services,
            self.queue,
            PlanProgress(lambda name: False),
            self.dispatcher,
            Lease(self),
            self.listeners,
        )
        self.listeners.add(self.heard.append)
        self.addCleanup(self.end)

    def make_store(self):
        """Return an empty store."""
        return MemoryStore(self.clock)

    def end(self):
        """Stop the thread, whatever it waits for."""
        self.left = 0
        self.committer.stop(0)
        self.clock.advance(100)
        self.committer.stop(PATIENCE)

    def lost(self):
        with self.condition:
            self.losses.append(self.clock.monotonic())
            self.condition.notify_all()

    def tell(self, item, applied):
        with self.condition:
            self.told.append((item.attempt.action.name, applied))
            self.condition.notify_all()

    def until(self, wanted):
        with self.condition:
            if not self.condition.wait_for(wanted, PATIENCE):
                raise AssertionError(f'told {self.told}, lost {self.losses}')

    def until_told(self, count):
        """Wait until so many items were answered."""
        self.until(lambda: len(self.told) >= count)

    def turn_until_told(self, count, step):
        """Turn the clock until so many items were answered."""
        until = time.monotonic() + PATIENCE
        while not self.answered(count, 0.01):
            if time.monotonic() > until:
                raise AssertionError(f'told {self.told}')
            self.clock.advance(step)

    def answered(self, count, seconds):
        with self.condition:
            return self.condition.wait_for(lambda: len(self.told) >= count, seconds)

    def running(self, *names, **values):
        """Store actions that this worker executes."""
        return factories.store_actions(
            self.store,
            *(
                factories.make_action(
                    **{
                        'name': name,
                        'status': states.RUNNING,
                        'owner': 'me',
                        'attempt': 1,
                        'start_time': factories.NOW,
                        **values,
                    }
                )
                for name in names
            ),
        )

    def submit(self, *actions, outcome=DONE, done=None):
        """Queue what these actions came to."""
        items = [
            Commit(
                make_attempt(action),
                results.conclude(action, outcome, results.EXECUTE, self.clock.now()),
                done or self.tell,
            )
            for action in actions
        ]
        for item in items:
            self.queue.submit(item)
        return items

    def statuses(self):
        return {a.name: a.status for a in self.store.list_actions(limit=100)}

    def changes(self):
        """Return the changes of state that were stored, in order."""
        names = {a.id: a.name for a in self.store.list_actions(limit=100)}
        return [
            (names[stored.event.action_id], stored.event.new_status)
            for stored in self.store.pending_events(100)
        ]


class TestWriting(CommitterCase):
    def test_what_is_queued_is_written_in_one_transaction(self):
        actions = self.running('a', 'b', 'c')
        items = self.submit(*actions)
        self.committer.start()
        self.until_told(3)

        self.assertEqual([3], self.fragile.sizes)
        self.assertEqual([('a', True), ('b', True), ('c', True)], self.told)
        self.assertEqual(
            [('a', 'SUCCEEDED'), ('b', 'SUCCEEDED'), ('c', 'SUCCEEDED')], self.changes()
        )
        self.assertEqual(
            [self.store.get_action(action.uuid) for action in actions],
            [item.attempt.action for item in items],
        )

    def test_what_was_said_first_of_one_action_counts(self):
        (action,) = self.running('a')
        self.submit(action, outcome=outcomes.Failed('no'))
        self.submit(action)
        self.committer.start()
        self.until_told(2)

        self.assertEqual([('a', True), ('a', False)], self.told)
        self.assertEqual([('a', 'FAILED')], self.changes())

    def test_who_lost_an_action_changes_nothing(self):
        (action,) = self.running('a')
        self.submit(action.evolve(attempt=0))
        self.committer.start()
        self.until_told(1)

        self.assertEqual([('a', False)], self.told)
        self.assertEqual(([], {'a': 'RUNNING'}), (self.changes(), self.statuses()))

    def test_one_transaction_is_not_larger_than_two_claims(self):
        self.submit(*self.running(*(str(number) for number in range(20))))
        self.committer.start()
        self.until_told(20)

        self.assertEqual([16, 4], self.fragile.sizes)

    def test_stopping_writes_what_is_queued(self):
        self.committer.start()
        self.clock.until_waiting()
        self.queue.expect_more()
        self.submit(*self.running('a'))

        self.assertTrue(self.committer.stop(PATIENCE))
        self.assertEqual([('a', True)], self.told)

    def test_stopping_before_the_start_waits_for_nothing(self):
        self.assertTrue(self.committer.stop(PATIENCE))

    def test_a_poke_lets_it_claim_though_nothing_is_queued(self):
        factories.store_actions(
            self.store, factories.make_action(name='a', status='READY')
        )
        dispatcher = self.dispatcher
        dispatcher.request(ClaimRequest(None, 'applier', 5))
        self.committer.start()
        self.queue.wake()
        dispatcher.until_written()

        (claimed,) = dispatcher.batches[0].claims
        self.assertEqual(
            ([('a', 'me', 1)], False),
            (
                [(a.name, a.owner, a.attempt) for a in claimed.actions],
                claimed.more,
            ),
        )

    def test_a_poke_with_nothing_to_claim_begins_no_transaction(self):
        dispatcher = self.dispatcher
        dispatcher.request()
        self.queue.wake()
        self.submit(*self.running('a'))
        self.committer.start()
        dispatcher.until_written()
        self.queue.wake()
        self.assertTrue(self.committer.stop(PATIENCE))

        self.assertEqual(1, len(dispatcher.batches))


class TestLingering(CommitterCase):
    def setUp(self):
        super().setUp()
        self.queue.expect_more()
        self.committer.start()
        self.clock.until_waiting()
        self.actions = self.running('a', 'b', 'c', 'd', 'e')

    def test_changes_gather_while_threads_produce_them(self):
        self.submit(*self.actions[:3])
        self.clock.until_waiting()
        self.assertEqual([], self.fragile.sizes)
        self.turn_until_told(3, 0.02)

        self.assertEqual([3], self.fragile.sizes)

    def test_they_are_written_at_once_when_the_threads_are_through(self):
        self.submit(*self.actions[:2])
        self.queue.flush()
        self.until_told(2)

        self.assertEqual(0.0, self.clock.monotonic())

    def test_they_are_written_at_once_when_many_have_gathered(self):
        self.submit(*self.actions[:4])
        self.until_told(4)

        self.assertEqual(0.0, self.clock.monotonic())


class TestListeners(CommitterCase):
    def test_they_are_told_of_what_is_durable(self):
        def listen(stored):
            seen.append(all(self.store.event_exists(one.uuid) for one in stored))

        seen = []
        self.listeners.add(listen)
        (action,) = self.running('a')
        self.submit(action)
        self.committer.start()
        self.committer.stop(PATIENCE)

        self.assertEqual(
            ([True], [[stored.event for stored in self.store.pending_events(10)]]),
            (seen, self.heard),
        )

    def test_one_that_raises_does_not_keep_it_from_others(self):
        heard = []
        self.listeners.add(lambda stored: stored['x'])
        self.listeners.add(heard.append)
        self.submit(*self.running('a'))
        self.committer.start()
        self.committer.stop(PATIENCE)

        self.assertEqual((1, self.heard), (len(heard), heard))
        self.assertIn('A listener failed; the events are stored', self.log.output)

    def test_nothing_changed_is_nothing_told(self):
        (action,) = self.running('a')
        self.submit(action.evolve(attempt=0))
        self.committer.start()
        self.committer.stop(PATIENCE)

        self.assertEqual([], self.heard)

    def test_one_that_cannot_be_told_does_not_keep_it_from_others(self):
        def fail(item, applied):
            raise ValueError

        first, second = self.running('a', 'b')
        self.submit(first, done=fail)
        self.submit(second)
        self.committer.start()
        self.until_told(1)

        self.assertEqual([('b', True)], self.told)
        self.assertIn(f'Action {first.uuid} could not be gone on with', self.log.output)


class TestFailures(CommitterCase):
    def run_to_the_end(self, count):
        self.committer.start()
        self.turn_until_told(count, 4)

    def test_a_conflict_is_tried_again_as_a_whole(self):
        self.fragile.before = [CONFLICT, CONFLICT]
        self.submit(*self.running('a', 'b'))
        self.run_to_the_end(2)

        self.assertEqual([('a', True), ('b', True)], self.told)
        self.assertEqual([2, 2, 2], self.fragile.sizes)
        self.assertEqual([('a', 'SUCCEEDED'), ('b', 'SUCCEEDED')], self.changes())

    def test_who_lost_once_does_not_wait_to_try_again(self):
        self.fragile.before = [CONFLICT]
        self.submit(*self.running('a'))
        self.committer.start()
        self.until_told(1)

        self.assertEqual(
            ([('a', True)], 0.0, [1, 1]),
            (self.told, self.clock.monotonic(), self.fragile.sizes),
        )

    def test_a_database_that_was_away_is_written_to_when_it_is_back(self):
        self.fragile.before = [AWAY, AWAY]
        self.submit(*self.running('a'))
        self.run_to_the_end(1)

        self.assertEqual([('a', True)], self.told)
        self.assertEqual([('a', 'SUCCEEDED')], self.changes())
        self.assertEqual([False, False], self.fragile.asked)

    def test_a_lost_answer_does_not_look_like_a_lost_action(self):
        self.fragile.after = [AWAY]
        (item,) = self.submit(*self.running('a'))
        self.run_to_the_end(1)

        self.assertEqual([('a', True)], self.told)
        self.assertEqual(([1], [True]), (self.fragile.sizes, self.fragile.asked))
        self.assertEqual([('a', 'SUCCEEDED')], self.changes())
        self.assertEqual(
            [[stored.event for stored in self.store.pending_events(10)]], self.heard
        )
        self.assertEqual('SUCCEEDED', item.attempt.action.status)

    def test_the_question_is_asked_until_it_is_answered(self):
        self.fragile.after = [AWAY]
        self.fragile.asking = [AWAY, CONFLICT, AWAY]
        self.submit(*self.running('a'))
        self.run_to_the_end(1)

        self.assertEqual([('a', True)], self.told)
        self.assertEqual(([1], [True]), (self.fragile.sizes, self.fragile.asked))

    def test_a_transaction_that_did_not_take_effect_is_written_again(self):
        self.fragile.before = [AWAY]
        self.fragile.asking = [AWAY]
        self.submit(*self.running('a'))
        self.run_to_the_end(1)

        self.assertEqual([('a', True)], self.told)
        self.assertEqual(([1, 1], [False]), (self.fragile.sizes, self.fragile.asked))

    def test_each_try_is_asked_for_by_its_own_events(self):
        self.submit(*self.running('a'))
        self.fragile.before = [AWAY]
        self.fragile.after = [AWAY]
        self.run_to_the_end(1)

        self.assertEqual([('a', True)], self.told)
        self.assertEqual(
            ([1, 1], [False, True]), (self.fragile.sizes, self.fragile.asked)
        )

    def test_a_change_that_cannot_be_stored_takes_no_other_with_it(self):
        self.fragile.refuses = lambda action: action.name == 'c' and action.outputs
        actions = self.running('a', 'b', 'c', 'd', 'e')
        self.submit(*actions, outcome=outcomes.Done({'a': 1}))
        self.run_to_the_end(5)

        self.assertEqual({(name, True) for name in 'abcde'}, set(self.told))
        self.assertEqual(
            {name: 'FAILED' if name == 'c' else 'SUCCEEDED' for name in 'abcde'},
            self.statuses(),
        )

    def test_the_action_of_such_a_change_is_failed_and_says_why(self):
        self.fragile.refuses = lambda action: action.outputs
        (action,) = self.running('a', token={'job': 1}, interval=60)
        self.submit(action, outcome=outcomes.Done({'a': 1}))
        self.run_to_the_end(1)

        stored = self.store.get_action(action.uuid)
        self.assertEqual(
            action.evolve(
                status='FAILED',
                status_message=REFUSED[0],
                owner=None,
                token=None,
                end_time=stored.end_time,
                updated_at=stored.updated_at,
            ),
            stored,
        )
        (event,) = self.store.pending_events(10)
        self.assertEqual({'fault': REFUSED[1]}, event.event.detail)

    def test_one_that_cannot_even_be_failed_is_left_to_the_sweep(self):
        self.fragile.refuses = lambda action: action.name == 'b'
        self.submit(*self.running('a', 'b'))
        self.run_to_the_end(2)

        self.assertEqual({('a', True), ('b', False)}, set(self.told))
        self.assertEqual({'a': 'SUCCEEDED', 'b': 'RUNNING'}, self.statuses())

    def test_what_it_was_about_to_write_when_it_failed_is_left_to_the_sweep(self):
        def claim_requests():
            raise RuntimeError('a bug')

        dispatcher = self.dispatcher
        dispatcher.request()
        dispatcher.claim_requests = claim_requests
        self.submit(*self.running('a', 'b'))
        self.committer.start()
        self.until_told(2)

        self.assertEqual([('a', False), ('b', False)], self.told)
        self.assertIn('a transaction of 2 changes failed', self.log.output)

    def test_what_is_told_is_not_told_again_when_the_rest_fails(self):
        def written(batch):
            raise RuntimeError('a bug')

        dispatcher = self.dispatcher
        dispatcher.request()
        dispatcher.written = written
        self.submit(*self.running('a'))
        self.committer.start()
        self.assertTrue(self.committer.stop(PATIENCE))

        self.assertEqual([('a', True)], self.told)

    def test_the_committer_goes_on_after_it(self):
        self.fragile.refuses = lambda action: action.name == 'a'
        self.submit(*self.running('a'))
        self.run_to_the_end(1)
        self.submit(*self.running('b'))
        self.until_told(2)

        self.assertEqual([('a', False), ('b', True)], self.told)


class TestLease(CommitterCase):
    def test_nothing_is_written_when_it_is_over(self):
        self.left = 0
        self.submit(*self.running('a'))
        self.committer.start()
        self.until(lambda: self.losses)
        self.submit(*self.running('b'))

        self.assertTrue(self.committer.stop(PATIENCE))
        self.assertEqual(
            ([0.0], [], [], {'a': 'RUNNING', 'b': 'RUNNING'}),
            (self.losses, self.told, self.fragile.sizes, self.statuses()),
        )
        self.assertIn(
            'Worker me could not write before its lease ended', self.log.output
        )

    def test_it_is_looked_at_again_before_each_try(self):
        self.fragile.before = [AWAY] * 100
        self.submit(*self.running('a'))
        self.committer.start()
        self.clock.until_waiting()
        self.left = 0
        self.clock.advance(4)
        self.until(lambda: self.losses)

        self.assertTrue(self.committer.stop(PATIENCE))
        self.assertEqual(
            ([4.0], [], 1), (self.losses, self.told, len(self.fragile.sizes))
        )


class TestLockedPlans(CommitterCase):
    def in_plan(self, name):
        """Store a plan with an action that this worker executes."""
        return factories.store_plan(
            self.store,
            factories.make_action(
                name=name, status=states.RUNNING, owner='me', attempt=1
            ),
            state='ONGOING',
        )

    def items(self, *actions):
        return [self.item(action) for action in actions]

    def item(self, action):
        done = results.conclude(action, DONE, results.EXECUTE, factories.NOW)
        return Commit(make_attempt(action), done, self.tell)

    def test_what_concerns_a_locked_plan_is_left_out_and_written_later(self):
        (held, (a,)), (_, (b,)) = self.in_plan('a'), self.in_plan('b')
        self.fragile.locked = {held.id}
        for item in self.items(a, b):
            self.queue.submit(item)
        self.committer.start()

        self.until_told(1)
        self.assertEqual([('b', True)], self.told)
        for _ in range(3):
            self.clock.until_waiting()
            self.clock.advance(1)
        self.assertEqual([('b', True)], self.told)
        self.fragile.locked = set()
        self.turn_until_told(2, 0.1)

        self.assertEqual([('b', True), ('a', True)], self.told)
        self.assertEqual(
            [states.SUCCEEDED] * 2,
            [self.store.get_action(one.uuid).status for one in (a, b)],
        )

    def test_what_is_held_is_written_before_it_stops(self):
        held, (a,) = self.in_plan('a')
        self.fragile.locked = {held.id}
        self.queue.submit(self.item(a))
        self.committer.start()
        self.clock.until_waiting()
        self.fragile.locked = set()
        stopped = threading.Thread(target=self.committer.stop, args=(PATIENCE,))
        stopped.start()
        self.turn_until_told(1, 0.1)
        stopped.join(PATIENCE)

        self.assertEqual([('a', True)], self.told)

    def test_a_plan_that_is_gone_is_nobody_s_to_lock(self):
        _, (a,) = self.in_plan('a')
        self.fragile.locked = {a.plan_id}
        self.fragile.surroundings_of_plans = lambda ids: {}
        self.queue.submit(self.item(a))
        self.committer.start()
        self.turn_until_told(1, 1)

        self.assertEqual([('a', True)], self.told)

    def test_a_wish_for_a_locked_plan_is_repeated(self):
        plan, _ = factories.store_plan(
            self.store, factories.make_action(name='a'), state='PENDING'
        )
        self.fragile.locked = {plan.id}
        dispatcher = self.dispatcher
        dispatcher.request(ClaimRequest(plan.id, None, 5))
        asked = threading.Event()

        def retry_plans(plan_ids):
            self.assertEqual({plan.id}, plan_ids)
            self.fragile.locked = set()
            dispatcher._claim_requests = [ClaimRequest(plan.id, None, 5)]
            asked.set()

        dispatcher.retry_plans = retry_plans
        self.queue.wake()
        self.committer.start()
        self.clock.until_waiting()
        self.clock.advance(1)
        dispatcher.until_written(2)

        self.assertTrue(asked.is_set())
        self.assertEqual(
            [[], ['a']],
            [
                [action.name for action in batch.claims[0].actions]
                for batch in dispatcher.batches
            ],
        )
