"""A scripted clock, store and broker that record their calls."""

import collections

from tests import factories
from tests.unit.notifications import expectations


class Clock:
    """A clock that advances only while a thread waits.

    `script` contains the steps of the next waits: a number of seconds, and a function
    that is called after them. If it is empty, `end` is called.

    :ivar waited: the timeouts of all waits
    """

    def __init__(self):
        self.seconds = 0.0
        self.waited = []
        self.script = collections.deque()
        self.end = None

    def now(self):
        return factories.at(self.seconds)

    def monotonic(self):
        return self.seconds

    def wait(self, condition, timeout):
        self.waited.append(round(timeout, 3))
        if not self.script:
            self.end()
            return True
        after, happens = self.script.popleft()
        self.seconds += timeout if after is None else after
        if happens is not None:
            happens()
        return happens is not None


class CallLog(list):
    """The calls of the store and the broker, in order."""

    def __init__(self):
        super().__init__()
        self._planned = collections.defaultdict(collections.deque)

    def fail(self, what, *errors):
        """Let the next calls of `what` raise these errors; None means success."""
        self._planned[what].extend(errors)

    def add(self, what, detail=''):
        self.append(f'{what} {detail}'.strip())
        planned = self._planned[what]
        error = planned.popleft() if planned else None
        if error is not None:
            self[-1] += f': {type(error).__name__}'
            raise error


class Store:
    """The outbox: events until they are marked, and the role."""

    def __init__(self, calls):
        self.calls = calls
        self.pending = []
        self.published = []
        self.marked = {}
        self.relay = None
        self.plans = {4: expectations.PLAN_RELATIONS}
        self.audits = {6: expectations.AUDIT_RELATIONS}
        self.stacks = {8: expectations.STACK_ANCESTRY}

    def add(self, *stored):
        self.pending.extend(stored)

    def acquire_role(self, role, worker, lease):
        self.calls.add('take', f'{role} for {lease:g} s')
        if self.relay in (None, worker):
            self.relay = worker
        return self.relay == worker

    def release_role(self, role, worker):
        self.calls.add('drop', role)
        if self.relay == worker:
            self.relay = None

    def pending_events(self, limit):
        found = self.pending[:limit]
        self.calls.add('read', str([stored.sequence for stored in found]))
        return found

    def mark_published(self, sequences, now):
        self.calls.add('mark', str(sequences))
        self.marked.update(dict.fromkeys(sequences, now))
        self.published += [s for s in self.pending if s.sequence in sequences]
        self.pending = [s for s in self.pending if s.sequence not in sequences]

    def published_events(self, after, since, limit):
        found = [
            stored
            for stored in self.published
            if stored.sequence > after and self.marked[stored.sequence] >= since
        ][:limit]
        self.calls.add('read again', str([stored.sequence for stored in found]))
        return found

    def relations_of_plans(self, plan_ids):
        return {key: self.plans[key] for key in plan_ids if key in self.plans}

    def relations_of_audits(self, audit_ids):
        return {key: self.audits[key] for key in audit_ids if key in self.audits}

    def ancestry_of_stacks(self, stack_ids):
        return {key: self.stacks[key] for key in stack_ids if key in self.stacks}

    def objects_by_id(self, kind, ids):
        return expectations.objects_by_id(kind, ids)


class Publisher:
    """A broker that confirms, or raises a scripted error.

    :ivar arrived: all messages in order, including those of failed batches
    """

    def __init__(self, calls):
        self.calls = calls
        self.arrived = []
        self.lost = set()
        self.empty = set()
        self.subscribed = True

    def publish(self, messages, timeout):
        self.arrived.extend(messages)
        self.calls.add('publish', f'{len(messages)} within {timeout:g} s')

    def inspect_queues(self, timeout):
        self.calls.add('inspect')
        return frozenset(self.lost), frozenset(self.empty)

    def confirm_restored(self, timeout):
        self.calls.add('restored')
        self.lost = set()

    def has_subscribers(self):
        return self.subscribed

    def keep_alive(self):
        self.calls.add('keep alive')

    def close(self):
        self.calls.add('close')
