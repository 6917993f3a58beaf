"""Workers are killed and stopped at random; no action is lost or executed twice.

The faults are seeded. Each hits a worker during an action: before its effect, or
between the effect and the report of it.
"""

import os
import random
import signal
import threading

from tests import services
from tests.acceptance.checking import History, problems
from tests.acceptance.daemons import APPLIER, DaemonTestCase
from tests.acceptance.listening import NotificationQueue
from tests.bounded import TIMEOUT

FAULTS = 20
LEASE = 1
#: The share of stops among the faults, and their durations in leases.
SLEEPY, SLEEP = 0.3, (0.5, 2.2)
#: The share of calls that still reach the target after their worker was killed.
LATE = 0.5
#: The minimum and maximum number of calls between two faults.
SPACING = (3, 12)
#: The number of workers that are never hit, so that work progresses.
SPARED = 2
LEAST_PLANS = 3
#: More than twice the number that the faults need; more means that nothing calls.
MOST_PLANS = 40
ACTIONS = 60


class Chaos:
    """Kills workers, or stops them temporarily, when they call the target.

    :param workers: returns the pids of the current workers
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
        """Inject a fault if it is due; return whether the call continues."""
        with self._lock:
            self._calls += 1
            if self._calls < self._next or len(self.faults) == FAULTS:
                return True
            # A killed worker may have calls in transit, and its pid may still be
            # listed.
            awake = self._workers() - set(self._asleep) - self._killed
            if pid not in awake or len(awake) <= SPARED:
                return True
            self._next = self._calls + self._spacing()
            if self._random.random() < SLEEPY:
                self._pause(pid)
                self.faults.append((what, 'asleep'))
                return True
            self.faults.append((what, 'killed'))
            self._killed.add(pid)
            os.kill(pid, signal.SIGKILL)
            return self._random.random() < LATE

    def resume_all(self):
        """Stop injecting faults, and wait until all workers run."""
        with self._lock:
            self._next = float('inf')
            timers = list(self._asleep.values())
        for timer in timers:
            timer.join(TIMEOUT)

    def _spacing(self):
        return self._random.randint(*SPACING)

    def _pause(self, pid):
        os.kill(pid, signal.SIGSTOP)
        seconds = self._random.uniform(*SLEEP) * LEASE
        self._asleep[pid] = threading.Timer(seconds, self._resume, [pid])
        self._asleep[pid].daemon = True
        self._asleep[pid].start()

    def _resume(self, pid):
        with self._lock:
            del self._asleep[pid]
        os.kill(pid, signal.SIGCONT)


class Surviving:
    """The random faults on one kind of database; a mixin."""

    seed = 0

    def test_no_action_is_lost_or_executed_twice(self):
        ini = self.ini(
            applier={
                'lease': LEASE,
                'sweep_interval': 0.2,
                'workers': 3,
                'max_parallel': 4,
                # Random kills must not count as an action that kills its workers.
                'max_attempts': FAULTS + 1,
            },
            database={'max_pool_size': 4},
        )
        operator = self.operator(ini)
        queue = (
            self.useFixture(NotificationQueue(self.vhost.url)) if self.broker else None
        )
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
            # Start further plans one by one until all faults have occurred.
            if len(plans) >= LEAST_PLANS:
                operator.wait_until_ended(*plans, timeout=TIMEOUT)
        chaos.resume_all()

        found = []
        for plan in plans:
            found += problems(
                History(
                    operator.plan(plan),
                    list(operator.actions(plan).values()),
                    operator.events(plan),
                    self.target.calls(),
                    queue.wait_for_all(operator.store, plan) if queue else None,
                )
            )
        self.assertEqual([], found)
        struck = [fault for _, fault in chaos.faults].count('killed')
        taken_over = sum(
            action.attempt - 1 + ('worker' in (action.status_message or ''))
            for plan in plans
            for action in operator.actions(plan).values()
        )
        # Each killed worker owned an action that another worker recovered.
        self.assertGreaterEqual(taken_over, struck)


class PostgresqlChaosTest(Surviving, DaemonTestCase):
    database = services.POSTGRESQL
    seed = 1001


class SqliteChaosTest(Surviving, DaemonTestCase):
    database = None
    broker = False
    seed = 1002


def random_actions(rng):
    """Return the actions of a plan; parents are random preceding actions."""
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
