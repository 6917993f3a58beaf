"""A store whose transactions go wrong as a test says."""

import contextlib


class FragileStore:
    """A store whose transactions go wrong as a test says.

    :ivar before: what the next transactions raise instead of committing
    :ivar after: what the next ones raise although they have committed
    :ivar asking: what the next questions for an event raise
    :ivar refuses: says of an action (as changed) that it cannot be stored
    :ivar locked: ids of plans that another transaction has locked
    :ivar sizes: how many changes each transaction that was tried had
    :ivar links: what became of each link: True, False or what it raised
    """

    writes_links = True

    def __init__(self, store):
        self._store = store
        self.before = []
        self.after = []
        self.asking = []
        self.refuses = lambda action: False
        self.locked = set()
        self.sizes = []
        self.asked = []
        self.links = []

    def write_link(self, link):
        written = not self.before and self._store.write_link(link)
        error = next(iter(self.before or self.after), None)
        self.links.append(error or written)
        if error is not None:
            (self.before or self.after).pop(0)
            raise error
        return written

    def event_exists(self, uuid):
        if self.asking:
            raise self.asking.pop(0)
        found = self._store.event_exists(uuid)
        self.asked.append(found)
        return found

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
            raise AssertionError('it would wait for another transaction')
        free = [i for i in plan_ids if i not in self._fragile.locked]
        return self._tx.lock_plans(free, wait=wait)

    def change_actions(self, changes):
        self._fragile.sizes.append(len(changes))
        if any(self._fragile.refuses(change.after) for change in changes):
            raise ValueError('a number out of range')
        return self._tx.change_actions(changes)
