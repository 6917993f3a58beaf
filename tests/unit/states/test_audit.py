"""The states of audits."""

from tests import base
from tests.unit.states.tables import TableCase
from watcherlite.states import audit as states


class AuditTableTest(TableCase, base.TestCase):
    """The table of states, as in Watcher."""

    machine = states.MACHINE
    expected = """
        PENDING -> ONGOING CANCELLED
        ONGOING -> SUCCEEDED FAILED CANCELLED SUSPENDED
        SUSPENDED -> ONGOING DELETED
        SUCCEEDED -> DELETED
        FAILED -> DELETED
        CANCELLED -> DELETED
    """

    def test_the_audit_of_a_document_starts_as_succeeded(self) -> None:
        self.assertEqual({'PENDING', 'SUCCEEDED'}, states.MACHINE.initial)
