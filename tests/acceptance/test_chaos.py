"""Workers die and fall asleep at random; nothing is lost and nothing happens twice.

The faults are seeded, and strike where it counts: each hits a worker in the middle of
an action, before its effect, or between the effect and the news of it.
"""

import os
import random
import signal
import threading

from tests import services
from tests.acceptance.checking import History, problems
from tests.acceptance.daemons import APPLIER, PATIENCE, DaemonTestCase
from tests.acceptance.listening import Ear

FAULTS = 20
LEASE = 1
#: Of the faults, how many are sleeps; how long these are, in leases.
SLEEPY, SLEEP = 0.3, (0.5, 2.2)
#: Of the calls that a worker dies in, how many reach the target all the same.
LATE = 0.5
#: Calls from one fault to the next.
SPACING = (3, 12)
#: Workers that are left alone, so that there is progress between the faults.
SPARED = 2
LEAST_PLANS = 3
#: More than twice as many as the faults need: else nothing calls any more.
MOST_PLANS = 40
ACTIONS = 60
#: Seconds for a plan, whose workers start again and again on a machine that is busy.
PLAN_PATIENCE = 5 * PATIENCE


class Chaos:
    """Kills workers, or stops them for a while, as they call the target.

    :param workers: returns the pids of those that there are
    """

    def __init__(self, seed, workers):
        self._random = random.Random(seed)
        self._workers = workers
        self._lock = threading.Lock()
        self._calls = 0
        self._next = self._spacing()
        self._asleep = {}
        self._killed = set()
        self.faults = []

    def on_call(self, what, pid):
        """Strike, if it is time; return whether the call goes on."""
        with self._lock:
            self._calls += 1
            if self._calls < self._next or len(self.faults) == FAULTS:
                return True
            # Calls of a killed one may still be on their way, and its pid be there.
            awake = self._workers() - set(self._asleep) - self._killed
            if pid not in awake or len(awake) <= SPARED:
                return True
            self._next = self._calls + self._spacing()
            if self._random.random() < SLEEPY:
                self._put_to_sleep(pid)
                self.faults.append((what, 'asleep'))
                return True
            self.faults.append((what, 'killed'))
            self._killed.add(pid)
            os.kill(pid, signal.SIGKILL)
            return self._random.random() < LATE

    def wake_all(self):
        """Strike no more, and let everybody go on."""
        with self._lock:
            self._next = float('inf')
            timers = list(self._asleep.values())
        for timer in timers:
            timer.join(PATIENCE)

    def _spacing(self):
        return self._random.randint(*SPACING)

    def _put_to_sleep(self, pid):
        os.kill(pid, signal.SIGSTOP)
        seconds = self._random.uniform(*SLEEP) * LEASE
        self._asleep[pid] = threading.Timer(seconds, self._wake, [pid])
        self._asleep[pid].daemon = True
        self._asleep[pid].start()

    def _wake(self, pid):
        with self._lock:
            del self._asleep[pid]
        os.kill(pid, signal.SIGCONT)


class Surviving:
    """The random faults on one kind of database; mixed in."""

    seed = 0

    def test_nothing_is_lost_and_nothing_happens_twice(self):
        ini = self.ini(
            applier={
                'lease': LEASE,
                'sweep_interval': 0.2,
                'workers': 3,
                'max_parallel': 4,
                # Bad luck shall not look like an action that kills its workers.
                'max_attempts': FAULTS + 1,
            },
            database={'max_pool_size': 4},
        )
        operator = self.operator(ini)
        ear = self.useFixture(Ear(self.vhost.url)) if self.broker else None
        daemons = [self.start(APPLIER, ini), self.start(APPLIER, ini)]
        for daemon in daemons:
            self.wait_until_ready(daemon, times=3)
        chaos = Chaos(
            self.seed, lambda: set().union(*(daemon.workers() for daemon in daemons))
        )
        self.target.on_call = chaos.on_call

        plans = []
        while len(plans) < LEAST_PLANS or len(chaos.faults) < FAULTS:
            rng = random.Random(f'{self.seed} {len(plans)}')
            plans.append(operator.start(*random_actions(rng)))
            self.assertLess(len(plans), MOST_PLANS, chaos.faults)
            # A few at a time, until all the faults have struck.
            if len(plans) >= LEAST_PLANS:
                operator.wait_until_ended(*plans, patience=PLAN_PATIENCE)
        chaos.wake_all()

        found = []
        for plan in plans:
            found += problems(
                History(
                    operator.plan(plan),
                    list(operator.actions(plan).values()),
                    operator.events(plan),
                    self.target.calls(),
                    ear.hear_all(operator.store, plan) if ear else None,
                )
            )
        self.assertEqual([], found)
        struck = [fault for _, fault in chaos.faults].count('killed')
        taken_over = sum(
            action.attempt - 1 + ('worker' in (action.status_message or ''))
            for plan in plans
            for action in operator.actions(plan).values()
        )
        # Each of them had an action in hand that others had to see to.
        self.assertGreaterEqual(taken_over, struck)


class PostgresqlChaosTest(Surviving, DaemonTestCase):
    database = services.POSTGRESQL
    seed = 1001


class SqliteChaosTest(Surviving, DaemonTestCase):
    database = None
    broker = False
    seed = 1002


def random_actions(rng):
    """Return the actions of a plan: each may follow some of those before it."""
    actions = []
    for n in range(ACTIONS):
        kind = rng.choices(
            ['mark', 'mark_checked', 'mark_once', 'sleep'], [4, 3, 2, 1]
        )[0]
        inputs = {'duration': rng.choice([0.05, 0.5, 1.5])} if kind == 'sleep' else {}
        before = [name for name, *_ in actions[-12:]]
        parents = rng.sample(before, min(len(before), rng.randint(0, 2)))
        actions.append((f'{kind}-{n}', kind, inputs, *parents))
    return actions
