"""The states of audits."""

from tests import base
from tests.unit.states.tables import TableCase
from watcherlite.states import audit as states


class AuditTableTest(TableCase, base.TestCase):
    """reference: Watcher's audits."""

    machine = states.MACHINE
    expected = """
        PENDING -> ONGOING CANCELLED
        ONGOING -> SUCCEEDED FAILED CANCELLED SUSPENDED
        SUSPENDED -> ONGOING DELETED
        SUCCEEDED -> DELETED
        FAILED -> DELETED
        CANCELLED -> DELETED
    """

    def test_one_of_a_document_begins_where_others_end(self) -> None:
        self.assertEqual({'PENDING', 'SUCCEEDED'}, states.MACHINE.initial)
