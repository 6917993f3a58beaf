"""Following a plan to its end."""

from tests import base, factories
from tests.factories import at
from tests.unit.cli.capturing import Recorder
from watcherlite import exceptions
from watcherlite.cli.local import plan_follower
from watcherlite.cli.local.plan_follower import Follower
from watcherlite.db.action_logs import LogEntry
from watcherlite.testing.memory_store import MemoryStore


class ScriptedWake:
    """A `Wake` that executes a step of a script at each wait of the follower.

    :ivar calls: how often another thread woke the follower
    """

    def __init__(self, *steps):
        self.steps = list(steps)
        self.waits = []
        self.calls = 0

    def wait(self, timeout):
        self.waits.append(timeout)
        self.steps.pop(0)()

    def now(self):
        self.calls += 1


class FailingStore(MemoryStore):
    """A store whose database can be unavailable."""

    unavailable = False

    def get_plan(self, uuid):
        if self.unavailable:
            raise exceptions.StoreUnavailable('The database at db1 is away.')
        return super().get_plan(uuid)


class FollowerTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.store = FailingStore()
        self.addCleanup(self.store.close)
        self.progress = Recorder()
        self.now = 0.0
        self.asked = 0

    def store_plan(self, count, **values):
        return factories.store_plan(
            self.store,
            *(factories.make_action(name=f'a{i}') for i in range(count)),
            **values,
        )

    def save_plan(self, plan, *events, **values):
        with self.store.transaction() as tx:
            tx.lock_plans([plan.id])
            tx.save_plans([plan.evolve(**values)])
            tx.add_events(events)

    def make_follower(self, plan, wake, **options):
        return Follower(
            self.store, plan, self.progress, wake, lambda: self.now, **options
        )

    def follow(self, follower):
        def count_call():
            self.asked += 1

        return follower.follow(count_call)

    def test_every_change_of_a_small_plan_is_shown_until_its_end(self):
        plan, (first, second) = self.store_plan(2)
        started = factories.make_event(first, old_status='READY', new_status='RUNNING')
        ended = factories.make_event(
            first, old_status='RUNNING', new_status='SUCCEEDED', message='well'
        )
        skipped = factories.make_event(second, old_status='INIT', new_status='SKIPPED')
        last = factories.make_event(plan, old_status='ONGOING', new_status='SUCCEEDED')
        wake = ScriptedWake(
            lambda: self.save_plan(plan, started),
            lambda: None,
            lambda: self.save_plan(plan, ended, skipped, last, state='SUCCEEDED'),
        )

        found = self.follow(self.make_follower(plan, wake))

        self.assertEqual('SUCCEEDED', found.state)
        self.assertEqual(
            [
                ('a0', 'PENDING', 'ONGOING', ''),
                ('a0', 'ONGOING', 'SUCCEEDED', 'well'),
                ('a1', 'PENDING', 'SKIPPED', ''),
                ('action plan', 'ONGOING', 'SUCCEEDED', ''),
            ],
            self.progress.shown,
        )
        self.assertEqual(4, self.asked)
        self.assertEqual([plan_follower.LOOK] * 3, wake.waits)

    def test_logs_are_shown_between_the_changes_of_their_actions(self):
        plan, (action, other) = self.store_plan(2)
        moments = [at(second) for second in range(5)]
        begin, *lines, end = moments
        started = factories.make_event(
            action, old_status='READY', new_status='RUNNING', occurred_at=begin
        )
        ended = factories.make_event(
            action, old_status='RUNNING', new_status='SUCCEEDED', occurred_at=end
        )
        entries = [
            LogEntry(action.id, 1, stream, text, when)
            for (stream, text), when in zip(
                (('stdout', 'one\ntwo\n'), ('stderr', 'three'), ('log', 'four\n')),
                lines,
                strict=True,
            )
        ]
        unrelated = LogEntry(other.id + 1, 1, 'log', 'of another plan', begin)

        def start_action():
            self.store.insert_log_entries([unrelated, entries[0]])
            self.save_plan(plan, started)

        def end_action():
            self.store.insert_log_entries(entries[1:])
            self.save_plan(plan, ended, state='SUCCEEDED')

        self.follow(
            self.make_follower(plan, ScriptedWake(start_action, end_action), logs=True)
        )

        shown = [
            text[len('00:00:00 ') :] if isinstance(text, str) else text[1:3]
            for text in self.progress.shown
        ]
        self.assertEqual(
            [
                ('PENDING', 'ONGOING'),
                *('a0 stdout: one', 'a0 stdout: two', 'a0 stderr: three'),
                *('a0 log: four', ('ONGOING', 'SUCCEEDED')),
            ],
            shown,
        )

    def test_events_of_several_pages_are_all_shown(self):
        plan, (action,) = self.store_plan(1)
        count = plan_follower.PAGE * 2 + 1
        changes = [
            factories.make_event(action, old_status='READY', new_status='RUNNING')
            for _ in range(count)
        ]
        self.save_plan(plan, *changes, state='FAILED')

        self.follow(self.make_follower(plan, ScriptedWake()))

        self.assertEqual(count, len(self.progress.shown))

    def test_earlier_changes_are_not_shown(self):
        plan, (action,) = self.store_plan(1)
        before = factories.make_event(action, old_status='READY', new_status='RUNNING')
        after = factories.make_event(
            action, old_status='RUNNING', new_status='SUCCEEDED'
        )
        self.save_plan(plan, before)
        follower = self.make_follower(
            plan, ScriptedWake(lambda: self.save_plan(plan, after, state='SUCCEEDED'))
        )

        follower.skip_earlier()
        self.follow(follower)

        self.assertEqual(
            [('known', 'a0', 'ONGOING'), ('a0', 'ONGOING', 'SUCCEEDED', '')],
            self.progress.shown,
        )

    def test_a_large_plan_shows_counts_and_its_last_changes(self):
        plan, actions = self.store_plan(plan_follower.MANY + 1)
        events = [factories.make_event(a, new_status='RUNNING') for a in actions]
        wake = ScriptedWake(
            lambda: follower.listen(events),
            lambda: self.save_plan(plan, unfinished=0, state='FAILED'),
        )
        follower = self.make_follower(plan, wake)

        self.follow(follower)

        recent = [a.name for a in actions[-plan_follower.RECENT :]]
        self.assertEqual(
            [('ONGOING', 51, []), ('ONGOING', 51, recent), ('FAILED', 0, recent)],
            self.progress.shown,
        )
        self.assertEqual([plan_follower.COUNT] * 2, wake.waits)

    def test_details_show_every_change_of_a_large_plan(self):
        plan, (first, *_) = self.store_plan(plan_follower.MANY + 1)
        event = factories.make_event(first, old_status='READY', new_status='RUNNING')
        self.save_plan(plan, event, state='CANCELLED')

        self.follow(self.make_follower(plan, ScriptedWake(), details=True))

        self.assertEqual([('a0', 'PENDING', 'ONGOING', '')], self.progress.shown)

    def test_only_relevant_events_wake_the_follower(self):
        plan, (action, *_) = self.store_plan(plan_follower.MANY + 1)
        of_action = factories.make_event(action, new_status='RUNNING')
        of_plan = factories.make_event(plan)
        for details, stored, calls in (
            (True, [of_action], 1),
            (True, [], 1),
            (False, [of_action], 0),
            (False, [of_action, of_plan], 1),
            (False, [], 1),
        ):
            wake = ScriptedWake()
            self.make_follower(plan, wake, details=details).listen(stored)
            self.assertEqual(calls, wake.calls, (details, stored))

    def test_a_short_outage_of_the_database_is_tolerated(self):
        plan, _ = self.store_plan(1)

        def stop_database():
            self.store.unavailable = True

        def advance(seconds):
            self.now += seconds

        def start_database():
            self.store.unavailable = False
            self.save_plan(plan, state='SUCCEEDED')

        wake = ScriptedWake(
            stop_database, lambda: advance(20), lambda: advance(10), start_database
        )
        found = self.follow(self.make_follower(plan, wake, outage_timeout=30))

        self.assertEqual('SUCCEEDED', found.state)
        self.assertEqual(
            [
                'waiting for the database: The database at db1 is away.',
                'the database is available again',
            ],
            self.progress.shown,
        )

    def test_a_long_outage_of_the_database_is_an_error(self):
        plan, _ = self.store_plan(1)
        self.store.unavailable = True

        def advance():
            self.now += 16

        wake = ScriptedWake(advance, advance)

        self.assertRaises(
            exceptions.StoreUnavailable,
            self.follow,
            self.make_follower(plan, wake, outage_timeout=30),
        )
