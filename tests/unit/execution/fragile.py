"""A store with injected failures."""

import contextlib


class FragileStore:
    """A store with injected failures.

    :ivar before: errors of the next transactions, instead of a commit
    :ivar after: errors of the next transactions, after the commit
    :ivar asking: errors of the next calls of `event_exists`
    :ivar refuses: returns whether a changed action cannot be stored
    :ivar locked: ids of plans that another transaction has locked
    :ivar sizes: the number of changes of each transaction, including failed ones
    :ivar asked: the results of `event_exists`
    :ivar steps: the result of each chain step: True, False or its error
    """

    has_chain_commit = True

    def __init__(self, store):
        self._store = store
        self.before = []
        self.after = []
        self.asking = []
        self.refuses = lambda action: False
        self.locked = set()
        self.sizes = []
        self.asked = []
        self.steps = []

    def commit_chain_step(self, step):
        written = not self.before and self._store.commit_chain_step(step)
        error = next(iter(self.before or self.after), None)
        self.steps.append(error or written)
        if error is not None:
            (self.before or self.after).pop(0)
            raise error
        return written

    def relations_of_plans(self, plan_ids):
        return self._store.relations_of_plans(plan_ids)

    def event_exists(self, uuid):
        if self.asking:
            raise self.asking.pop(0)
        found = self._store.event_exists(uuid)
        self.asked.append(found)
        return found

    def log_entry_exists(self, entry):
        return self._store.log_entry_exists(entry)

    def insert_log_entries(self, entries):
        if self.before:
            raise self.before.pop(0)
        self._store.insert_log_entries(entries)
        if self.after:
            raise self.after.pop(0)

    @contextlib.contextmanager
    def transaction(self):
        with self._store.transaction() as tx:
            yield FragileTransaction(tx, self)
            if self.before:
                raise self.before.pop(0)
        if self.after:
            raise self.after.pop(0)


class FragileTransaction:
    def __init__(self, tx, store):
        self._tx = tx
        self._fragile = store

    def __getattr__(self, name):
        return getattr(self._tx, name)

    def lock_plans(self, plan_ids, *, wait=True):
        if wait and self._fragile.locked & set(plan_ids):
            raise AssertionError('waits for the lock of another transaction')
        free = [i for i in plan_ids if i not in self._fragile.locked]
        return self._tx.lock_plans(free, wait=wait)

    def change_actions(self, changes):
        self._fragile.sizes.append(len(changes))
        if any(self._fragile.refuses(change.after) for change in changes):
            raise ValueError('a number out of range')
        return self._tx.change_actions(changes)
