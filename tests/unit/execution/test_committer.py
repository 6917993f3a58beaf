"""The committer, whose batches the tests write one by one, without its thread."""

from tests import base, factories
from tests.clocks import ScriptedClock
from tests.unit.execution.attempts import Commit, make_attempt
from tests.unit.execution.fragile import FragileStore
from watcherlite import exceptions
from watcherlite.applier.progress import PlanProgress
from watcherlite.db.action_logs import LogEntry
from watcherlite.domain import outcomes
from watcherlite.execution import results
from watcherlite.execution.action_logs import INTERVAL, ActionLogs
from watcherlite.execution.committer import (
    DOUBTFUL,
    CommitQueue,
    Committer,
    EventListeners,
)
from watcherlite.execution.group_commit import ClaimRequest
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.states import action as states
from watcherlite.testing.memory_store import MemoryStore

#: The largest number of batches for the items of one test.
MAX_BATCHES = 100
DONE = outcomes.Done()
AWAY = exceptions.StoreUnavailable('The database is away.')
CONFLICT = exceptions.StoreConflict('A deadlock.')
REFUSED = (
    'Action failed in execute: its result cannot be stored; see the log',
    {
        'exception': 'StoreRefused',
        'message': 'its result cannot be stored',
        'module': 'watcherlite.execution.committer',
        'function': '_fail_refused',
    },
)


class Dispatcher:
    """A source of claims, which records the results of transactions."""

    def __init__(self):
        self._claim_requests = []
        self.batches = []

    def request(self, *claim_requests):
        self._claim_requests = list(claim_requests)

    def claim_requests(self):
        desired, self._claim_requests = self._claim_requests, []
        return desired

    def retry_plans(self, plan_ids):
        """Do nothing."""

    def prefetch_roots(self, started):
        return [], 0

    def on_committed(self, batch):
        self.batches.append(batch)


class Lease:
    """A lease that lasts until the test ends it."""

    def __init__(self, case):
        self._case = case

    def seconds_left(self):
        return self._case.left

    def report_loss(self):
        self._case.lost()


class CommitterCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.build()

    def build(self):
        """Create a committer with an empty store."""
        self.clock = self.make_clock()
        self.store = self.make_store()
        self.addCleanup(self.store.close)
        self.fragile = FragileStore(self.store)
        self.left = 1000.0
        self.losses = []
        self.settled = []
        self.notified = []
        services = CoreServices(
            self.fragile, self.clock, ExecutionSettings(claim_batch=8), 'me'
        )
        self.queue = CommitQueue(services)
        self.dispatcher = Dispatcher()
        self.listeners = EventListeners()
        self.logs = ActionLogs(services, self.queue.wake)
        self.committer = Committer(
            services,
            self.queue,
            PlanProgress(),
            self.dispatcher,
            Lease(self),
            self.listeners,
            self.logs,
        )
        self.listeners.add(self.notified.append)

    def make_clock(self):
        return ScriptedClock(factories.NOW)

    def make_store(self):
        """Return an empty store."""
        return MemoryStore(self.clock)

    def lost(self):
        self.losses.append(self.clock.monotonic())

    def on_settled(self, item, applied):
        self.settled.append((item.attempt.action.name, applied))

    def commit(self, count):
        """Write batches until this number of items is settled."""
        for _ in range(MAX_BATCHES):
            if len(self.settled) >= count:
                return
            self.committer.commit_next()
        raise AssertionError(f'settled {self.settled}, lost {self.losses}')

    def commit_all(self):
        """Stop the queue, and write what is left in it."""
        self.queue.stop()
        for _ in range(MAX_BATCHES):
            if not self.committer.commit_next():
                return
        raise AssertionError('the committer did not end')

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
        """Submit the conclusions of these actions."""
        items = [
            Commit(
                make_attempt(action),
                results.conclude(action, outcome, results.EXECUTE, self.clock.now()),
                done or self.on_settled,
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
    def test_queued_items_are_written_in_one_transaction(self):
        actions = self.running('a', 'b', 'c')
        items = self.submit(*actions)
        self.commit(3)

        self.assertEqual([3], self.fragile.sizes)
        self.assertEqual([('a', True), ('b', True), ('c', True)], self.settled)
        self.assertEqual(
            [('a', 'SUCCEEDED'), ('b', 'SUCCEEDED'), ('c', 'SUCCEEDED')], self.changes()
        )
        self.assertEqual(
            [self.store.get_action(action.uuid) for action in actions],
            [item.attempt.action for item in items],
        )

    def test_the_first_conclusion_of_an_action_that_is_not_lost_counts(self):
        (action,) = self.running('a')
        self.submit(action, outcome=outcomes.Failed('no'))
        self.submit(action)
        self.commit(2)

        self.assertEqual([('a', True), ('a', False)], self.settled)
        self.assertEqual([('a', 'FAILED')], self.changes())

        (lost,) = self.running('b')
        self.notified.clear()
        self.submit(lost.evolve(attempt=0))
        self.commit_all()

        self.assertEqual([('b', False)], self.settled[2:])
        self.assertEqual(
            ([('a', 'FAILED')], {'a': 'FAILED', 'b': 'RUNNING'}, []),
            (self.changes(), self.statuses(), self.notified),
        )

    def test_a_transaction_has_at_most_two_claim_batches(self):
        self.submit(*self.running(*(str(number) for number in range(20))))
        self.commit(20)

        self.assertEqual([16, 4], self.fragile.sizes)

    def test_the_stop_writes_queued_items(self):
        self.queue.allow_linger()
        self.submit(*self.running('a'))
        self.queue.stop()

        self.assertTrue(self.committer.commit_next())
        self.assertFalse(self.committer.commit_next())
        self.assertEqual(([('a', True)], []), (self.settled, self.clock.waits))
        # Its thread was not started.
        self.assertTrue(self.committer.stop(10))

    def test_a_wake_claims_without_queued_items(self):
        factories.store_actions(
            self.store, factories.make_action(name='a', status='READY')
        )
        self.dispatcher.request(ClaimRequest(None, 'applier', 5))
        self.queue.wake()
        self.committer.commit_next()

        (claimed,) = self.dispatcher.batches[0].claims
        self.assertEqual(
            ([('a', 'me', 1)], False),
            ([(a.name, a.owner, a.attempt) for a in claimed.actions], claimed.more),
        )

    def test_a_wake_without_claims_starts_no_transaction(self):
        self.queue.wake()
        self.submit(*self.running('a'))
        self.committer.commit_next()
        self.queue.wake()
        self.commit_all()

        self.assertEqual(1, len(self.dispatcher.batches))


class TestLingering(CommitterCase):
    def setUp(self):
        super().setUp()
        self.queue.allow_linger()
        self.actions = self.running('a', 'b', 'c', 'd', 'e')

    def test_changes_are_collected_while_threads_produce_them(self):
        self.clock.steps.append(lambda: self.submit(*self.actions[1:3]))
        self.submit(self.actions[0])
        self.committer.commit_next()

        self.assertEqual(([3], [0.02, 0.02]), (self.fragile.sizes, self.clock.waits))

    def test_a_flush_ends_the_linger(self):
        self.clock.steps.append(self.queue.flush)
        self.submit(*self.actions[:2])
        self.committer.commit_next()

        self.assertEqual(([2], 0.0), (self.fragile.sizes, self.clock.monotonic()))

    def test_half_a_claim_batch_ends_the_linger(self):
        self.submit(*self.actions[:4])
        self.committer.commit_next()

        self.assertEqual(([4], []), (self.fragile.sizes, self.clock.waits))


class TestListeners(CommitterCase):
    def test_listeners_receive_durable_events(self):
        def listen(stored):
            seen.append(all(self.store.event_exists(one.uuid) for one in stored))

        seen = []
        self.listeners.add(listen)
        (action,) = self.running('a')
        self.submit(action)
        self.commit_all()

        self.assertEqual(
            ([True], [[stored.event for stored in self.store.pending_events(10)]]),
            (seen, self.notified),
        )

    def test_an_exception_of_a_listener_does_not_affect_others(self):
        received = []
        self.listeners.add(lambda stored: stored['x'])
        self.listeners.add(received.append)
        self.submit(*self.running('a'))
        self.commit_all()

        self.assertEqual((1, self.notified), (len(received), received))
        self.assertIn('A listener failed; the events are stored', self.log.output)

    def test_an_exception_of_an_item_does_not_affect_others(self):
        def fail(item, applied):
            raise ValueError

        first, second = self.running('a', 'b')
        self.submit(first, done=fail)
        self.submit(second)
        self.commit(1)

        self.assertEqual([('b', True)], self.settled)
        self.assertIn(
            f'Action {first.uuid}: the follow-up of its commit failed', self.log.output
        )


class TestFailures(CommitterCase):
    def test_a_transaction_is_repeated_until_it_is_known_to_be_written(self):
        for before, after, asking, sizes, asked in (
            ([CONFLICT], [], [], [2, 2], []),
            ([CONFLICT, CONFLICT], [], [], [2, 2, 2], []),
            ([AWAY, AWAY], [], [], [2, 2, 2], [False, False]),
            # An unanswered commit is recognized by its events.
            ([], [AWAY], [], [2], [True]),
            ([], [AWAY], [AWAY, CONFLICT, AWAY], [2], [True]),
            ([AWAY], [], [AWAY], [2, 2], [False]),
            # Each attempt is looked up by its own events.
            ([AWAY], [AWAY], [], [2, 2], [False, True]),
        ):
            with self.subTest(before=before, after=after, asking=asking):
                self.build()
                self.fragile.before = list(before)
                self.fragile.after = list(after)
                self.fragile.asking = list(asking)
                items = self.submit(*self.running('a', 'b'))
                self.commit(2)

                self.assertEqual([('a', True), ('b', True)], self.settled)
                self.assertEqual(
                    (sizes, asked), (self.fragile.sizes, self.fragile.asked)
                )
                self.assertEqual(
                    [('a', 'SUCCEEDED'), ('b', 'SUCCEEDED')], self.changes()
                )
                self.assertEqual(
                    [[stored.event for stored in self.store.pending_events(10)]],
                    self.notified,
                )
                self.assertEqual('SUCCEEDED', items[0].attempt.action.status)
                # The first conflict is retried without a pause.
                self.assertEqual(before == [CONFLICT], not self.clock.waits)

    def test_the_action_of_a_refused_change_fails_and_the_others_of_its_batch_do_not(
        self,
    ):
        self.fragile.refuses = lambda action: action.name == 'c' and action.outputs
        actions = self.running('a', 'b', 'c', 'd', 'e', token={'job': 1}, interval=60)
        self.submit(*actions, outcome=outcomes.Done({'a': 1}))
        self.commit(5)

        self.assertEqual({(name, True) for name in 'abcde'}, set(self.settled))
        refused = actions[2]
        stored = self.store.get_action(refused.uuid)
        self.assertEqual(
            {name: 'FAILED' if name == 'c' else 'READY' for name in 'abcde'},
            self.statuses(),
        )
        self.assertEqual(
            refused.evolve(
                status='FAILED',
                status_message=REFUSED[0],
                owner=None,
                token=None,
                end_time=stored.end_time,
                updated_at=stored.updated_at,
            ),
            stored,
        )
        self.assertEqual(
            [{'fault': REFUSED[1]}],
            [
                one.event.detail
                for one in self.store.pending_events(10)
                if one.event.action_id == refused.id
            ],
        )

    def test_the_dependent_of_a_refused_change_is_not_handed_over(self):
        self.fragile.refuses = lambda action: action.outputs
        first = factories.make_action(
            name='a', status=states.RUNNING, owner='me', attempt=1
        )
        _, (parent, child) = factories.store_plan(
            self.store,
            first,
            factories.make_action(name='b', parents=(first.uuid,)),
            state='ONGOING',
            on_failure='continue',
        )
        started = child.evolve(status=states.RUNNING, owner='me', attempt=1)
        (item,) = self.submit(parent, outcome=outcomes.Done({'a': 1}))
        item.handover = make_attempt(child), results.Conclusion(started)
        self.commit(1)

        self.assertEqual({'a': 'FAILED', 'b': 'READY'}, self.statuses())

    def test_actions_whose_failure_is_refused_are_left_to_the_sweep(self):
        self.fragile.refuses = lambda action: action.name in 'ac'
        self.submit(*self.running('a'))
        self.commit(1)
        self.assertEqual([('a', False)], self.settled)
        self.submit(*self.running('b', 'c'))
        self.commit(3)

        self.assertEqual({('b', True), ('c', False)}, set(self.settled[1:]))
        self.assertEqual(
            {'a': 'RUNNING', 'b': 'SUCCEEDED', 'c': 'RUNNING'}, self.statuses()
        )

    def test_items_are_settled_once_if_their_batch_or_its_follow_up_fails(self):
        def fail(*arguments):
            raise RuntimeError('a bug')

        for method, applied in (('claim_requests', False), ('on_committed', True)):
            self.build()
            setattr(self.dispatcher, method, fail)
            self.submit(*self.running('a', 'b'))
            self.commit_all()

            self.assertEqual([('a', applied), ('b', applied)], self.settled)
            self.assertIn('a transaction of 2 changes failed', self.log.output)


class TestLogs(CommitterCase):
    """Log entries are stored before the conclusions of their actions."""

    def build(self):
        super().build()
        (self.action,) = self.running('a')
        self.entry = LogEntry(self.action.id, 1, 'log', 'text', factories.NOW)
        self.logs.append(self.entry)

    def stored(self):
        found = self.store.list_log_entries([self.action.id])
        return [stored.entry for stored in found]

    def test_the_log_of_an_ended_action_is_complete_unless_it_is_refused(self):
        for errors, stored in (([], 1), ([ValueError('a number out of range')], 0)):
            self.build()
            entries = [self.entry] * stored
            self.fragile.before = errors
            seen = []
            self.listeners.add(lambda events, seen=seen: seen.append(self.stored()))
            self.submit(self.action)
            self.commit(1)
            self.assertEqual(([entries], entries), (seen, self.stored()))

    def test_a_wake_stores_entries_that_are_due(self):
        for seconds, stored in ((0, []), (INTERVAL, [self.entry])):
            self.clock.advance(seconds)
            self.queue.wake()
            self.committer.commit_next()
            self.assertEqual(stored, self.stored())

    def test_a_stop_stores_all_entries_once_unless_the_lease_has_ended(self):
        for before, after, left, stored in (
            ([], [], 1000.0, 1),
            ([CONFLICT, AWAY], [AWAY], 1000.0, 1),
            ([], [], 0, 0),
        ):
            self.build()
            self.fragile.before, self.fragile.after = before, after
            self.left = left
            self.commit_all()
            self.assertEqual([self.entry] * stored, self.stored())


class TestLease(CommitterCase):
    def test_nothing_is_written_after_the_end_of_the_lease(self):
        self.left = 0
        self.submit(*self.running('a'))
        self.assertFalse(self.committer.commit_next())
        self.submit(*self.running('b'))

        self.assertEqual(
            ([0.0], [], [], {'a': 'RUNNING', 'b': 'RUNNING'}),
            (self.losses, self.settled, self.fragile.sizes, self.statuses()),
        )
        self.assertIn(
            'Worker me could not write before its lease ended', self.log.output
        )

    def test_the_lease_is_checked_before_each_try(self):
        self.fragile.before = [AWAY] * 100
        self.submit(*self.running('a'))

        def end_lease():
            self.clock.advance(4)
            self.left = 0

        self.clock.steps.append(end_lease)

        self.assertFalse(self.committer.commit_next())
        self.assertEqual(
            ([4.0], [], 1), (self.losses, self.settled, len(self.fragile.sizes))
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

    def test_the_items_of_a_locked_plan_are_written_later(self):
        (held, (a,)), (_, (b,)) = self.in_plan('a'), self.in_plan('b')
        self.fragile.locked = {held.id}
        self.submit(a, b)
        self.commit(1)
        self.assertEqual([('b', True)], self.settled)
        for _ in range(3):
            self.committer.commit_next()
        self.assertEqual([('b', True)], self.settled)
        self.fragile.locked = set()
        self.commit(2)

        self.assertEqual([('b', True), ('a', True)], self.settled)
        self.assertEqual(
            [states.SUCCEEDED] * 2,
            [self.store.get_action(one.uuid).status for one in (a, b)],
        )

    def test_held_items_are_written_before_the_stop(self):
        held, (a,) = self.in_plan('a')
        self.fragile.locked = {held.id}
        self.submit(a)
        self.committer.commit_next()
        self.assertEqual([], self.settled)
        self.fragile.locked = set()
        self.commit_all()

        self.assertEqual([('a', True)], self.settled)

    def test_the_items_of_a_purged_plan_are_written(self):
        _, (a,) = self.in_plan('a')
        self.fragile.locked = {a.plan_id}
        self.fragile.relations_of_plans = lambda ids: {}
        self.submit(a)
        self.commit(1)

        self.assertEqual([('a', True)], self.settled)

    def test_a_write_resets_the_number_of_tries_of_a_plan(self):
        def relations_of_plans(plan_ids):
            asked.append(plan_ids)
            return self.store.relations_of_plans(plan_ids)

        plan, actions = factories.store_plan(
            self.store,
            *(
                factories.make_action(
                    name=name, status=states.RUNNING, owner='me', attempt=1
                )
                for name in 'ab'
            ),
            state='ONGOING',
        )
        asked = []
        self.fragile.relations_of_plans = relations_of_plans
        for count, action in enumerate(actions, 1):
            self.fragile.locked = {plan.id}
            self.submit(action)
            for _ in range(DOUBTFUL):
                self.committer.commit_next()
            self.fragile.locked = set()
            self.commit(count)

        self.assertEqual([[plan.id]] * 2, asked)

    def test_a_claim_from_a_locked_plan_is_repeated(self):
        plan, _ = factories.store_plan(
            self.store, factories.make_action(name='a'), state='PENDING'
        )
        self.fragile.locked = {plan.id}
        dispatcher = self.dispatcher
        dispatcher.request(ClaimRequest(plan.id, None, 5))
        retried = []

        def retry_plans(plan_ids):
            self.assertEqual({plan.id}, plan_ids)
            self.fragile.locked = set()
            dispatcher._claim_requests = [ClaimRequest(plan.id, None, 5)]
            retried.append(plan_ids)

        dispatcher.retry_plans = retry_plans
        self.queue.wake()
        self.committer.commit_next()
        self.committer.commit_next()

        self.assertEqual([{plan.id}], retried)
        self.assertEqual(
            [[], ['a']],
            [
                [action.name for action in batch.claims[0].actions]
                for batch in dispatcher.batches
            ],
        )
