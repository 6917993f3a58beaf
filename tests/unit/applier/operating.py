"""The base case of the tests of operations on plans."""

import contextlib

from tests import base, factories
from watcherlite import exceptions
from watcherlite.applier.operations import PlanOperations
from watcherlite.applier.progress import PlanProgress
from watcherlite.domain import commands
from watcherlite.plugins import loader
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore

NOW = factories.NOW
EVENTS = (None, commands.EventsStored())
PREFIX = 'Action skipped by user. Reason: '
AUTOMATIC = 'Action was skipped automatically: '


class ReversibleType:
    """Action types, of which a rollback reverts only 'reversible'."""

    def may_revert(self, name: str) -> bool:
        return name == 'reversible'


class BusyStore:
    """A store whose next transactions conflict.

    :ivar conflicts: the number of conflicts
    """

    def __init__(self, store):
        self._store = store
        self.conflicts = 0

    def __getattr__(self, name):
        return getattr(self._store, name)

    @contextlib.contextmanager
    def transaction(self):
        with self._store.transaction() as tx:
            yield tx
            if self.conflicts:
                self.conflicts -= 1
                raise exceptions.StoreConflict('A deadlock.')


class OperationsCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = ManualClock(NOW)
        self.store = BusyStore(MemoryStore(self.clock))
        self.sent = []
        self.operations = PlanOperations(
            self.store,
            loader.Plugins.of(action_types={}),
            PlanProgress(),
            self.clock,
            self,
        )

    def send(self, lane, command):
        self.sent.append((lane, command))

    def broadcast(self, message):
        self.sent.append((None, message))

    def create_plan(self, *statuses, **values):
        """Store a plan with actions in these statuses, named a, b, c and so on."""
        return factories.store_plan(
            self.store,
            *(
                factories.make_action(name=name, status=status)
                for name, status in zip('abcdefgh', statuses, strict=False)
            ),
            **values,
        )

    def statuses(self, plan):
        return [
            (a.name, a.status, a.status_message)
            for a in self.store.list_actions(plan_id=plan.id, limit=100)
        ]

    def events(self):
        """Return the stored events: (kind, old, new, message, state of the plan)."""
        return [
            (
                stored.event.kind,
                stored.event.old_status,
                stored.event.new_status,
                stored.event.message,
                stored.event.plan_state,
            )
            for stored in self.store.pending_events(100)
        ]

    def assert_refused(self, kind, text, call, *arguments):
        """Assert that a call is rejected with a message, and changes nothing."""
        error = self.assertRaises(kind, call, *arguments)

        self.assertEqual(text, str(error))
        self.assertEqual(([], []), (self.events(), self.sent))
