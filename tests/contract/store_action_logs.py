"""Contract of the store: the logs of actions."""

import datetime

from tests.contract.store_case import StoreCase
from tests.factories import at, make_action, store_plan
from watcherlite.db.action_logs import LogEntry


class StoreActionLogsContract(StoreCase):
    """Entries are listed by action, forwards and backwards, until they are purged."""

    def insert(
        self, *texts: str, action_id: int = 1, seconds: float = 0
    ) -> list[LogEntry]:
        """Store an entry for each text, a second apart; return them."""
        entries = [
            LogEntry(action_id, 1, 'stdout', text, at(seconds + number))
            for number, text in enumerate(texts)
        ]
        self.store.insert_log_entries(entries)
        return entries

    def listed(self, *action_ids: int, **bounds: int) -> list[str]:
        found = self.store.list_log_entries(action_ids, **bounds)
        return [stored.entry.text for stored in found]

    def test_entries_are_stored_as_they_were_logged(self) -> None:
        text = 'Ünïcode 𝄞 "quoted" \\ {} \t\n' * 2000
        entries = self.insert(text, 'second\n')
        self.insert('of another action', action_id=2)

        found = self.store.list_log_entries([1])

        self.assertEqual(entries, [stored.entry for stored in found])
        self.assertLess(found[0].sequence, found[1].sequence)

    def test_pages_follow_and_precede_a_number(self) -> None:
        self.insert('a', 'b', 'c', 'd')
        self.insert('x', action_id=2)
        b = self.store.list_log_entries([1])[1].sequence

        self.assertEqual(['a', 'b'], self.listed(1, limit=2))
        self.assertEqual(['c', 'd'], self.listed(1, after=b))
        self.assertEqual(['a'], self.listed(1, before=b))
        self.assertEqual(['d', 'c'], self.listed(1, before=2**53, limit=2))
        self.assertEqual(['d', 'x'], self.listed(1, 2, after=b + 1))
        self.assertEqual([], self.listed())

    def test_an_entry_exists_once_it_is_stored(self) -> None:
        entry = LogEntry(1, 2, 'log', 'text', at(1))
        later = LogEntry(
            1, 2, 'log', 'text', at(1) + datetime.timedelta(microseconds=1)
        )
        self.assertFalse(self.store.log_entry_exists(entry))

        self.store.insert_log_entries([entry])

        self.assertTrue(self.store.log_entry_exists(entry))
        self.assertFalse(self.store.log_entry_exists(later))

    def test_a_purge_deletes_the_entries_before_a_time(self) -> None:
        self.insert('a', 'b', 'c')

        self.assertEqual(2, self.store.purge_log_entries(at(2)))
        self.assertEqual(['c'], self.listed(1))
        self.assertEqual(0, self.store.purge_log_entries(at(2)))

    def test_the_purge_of_a_plan_deletes_the_logs_of_its_actions(self) -> None:
        _, (action,) = store_plan(
            self.store,
            make_action(status='SUCCEEDED'),
            state='SUCCEEDED',
            updated_at=at(0),
        )
        self.insert('gone', action_id=action.id)
        self.insert('kept', action_id=action.id + 1)

        self.store.purge(at(1), 10)

        self.assertEqual(['kept'], self.listed(action.id, action.id + 1))
