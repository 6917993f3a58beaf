"""The store's contract: the step from one action to the next, all at once."""

import dataclasses

from tests.contract.store_case import StoreCase
from tests.factories import at, make_action, make_event, new_uuid, store_plan
from watcherlite.db.api import Link
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states


class StoreLinksContract(StoreCase):
    """Links: written whole, or not at all. For stores that write them."""

    def a_link(self) -> None:
        """Store a chain of three whose first action runs; plan its next step."""
        self.worker = new_uuid()
        first = make_action(name='first')
        second = make_action(name='second', parents=(first.uuid,))
        third = make_action(name='third', parents=(second.uuid,))
        self.plan, (first, second, self.third) = store_plan(
            self.store, first, second, third, active=1
        )
        (first,) = self.claim(self.worker, plan_id=self.plan.id)
        running = self.started(first)
        self.commit(lambda tx: tx.change_actions([ActionChange(first, running)]))
        ended = running.evolve(
            status=states.SUCCEEDED,
            owner=None,
            end_time=at(3),
            outputs={'said': 'é \' " \\ %s :x'},
            updated_at=at(3),
        )
        taken = second.evolve(owner=self.worker, attempt=1, pending=0)
        self.child = second
        after = self.plan.evolve(unfinished=2, updated_at=at(3))
        self.link = Link(
            (self.plan, after),
            ActionChange(running, ended),
            ActionChange(second, self.started(taken)),
            [
                make_event(ended, old_status=states.RUNNING, occurred_at=at(3)),
                make_event(self.started(taken), occurred_at=at(3)),
            ],
        )

    def started(self, action: Action) -> Action:
        return action.evolve(
            status=states.RUNNING, start_time=at(2), data={'k': 1}, updated_at=at(2)
        )

    def what_is_stored(self) -> object:
        """Return all that a link can change."""
        return (
            self.store.get_plan(self.plan.uuid),
            self.store.list_actions(),
            [stored.event for stored in self.store.list_events()],
        )

    def assert_refused(self, link: Link) -> None:
        before = self.what_is_stored()
        self.assertFalse(self.store.write_link(link))
        self.assertEqual(before, self.what_is_stored())

    def test_all_of_it_is_stored(self) -> None:
        self.a_link()
        self.assertTrue(self.store.write_link(self.link))

        self.assertEqual(
            (
                self.link.plan[1],
                [self.link.ended.after, self.link.started.after, self.third],
                list(self.link.events),
            ),
            self.what_is_stored(),
        )
        self.assertEqual(
            list(self.link.events),
            [stored.event for stored in self.store.pending_events(10)],
        )

    def test_what_it_stores_can_be_gone_on_with(self) -> None:
        self.a_link()
        self.assertTrue(self.store.write_link(self.link))
        running = self.link.started.after
        ended = running.evolve(status=states.SUCCEEDED, owner=None)
        self.assertIsNotNone(self.change(running, status=states.SUCCEEDED, owner=None))
        self.commit(
            lambda tx: tx.release_dependents([ended.id], started=True, now=at(4))
        )
        (claimed,) = self.claim(self.worker, plan_id=self.plan.id)
        self.assertEqual('third', claimed.name)

    def test_it_is_not_written_twice(self) -> None:
        self.a_link()
        self.assertTrue(self.store.write_link(self.link))
        again = [make_event(self.link.ended.after), make_event(self.child)]
        self.assert_refused(dataclasses.replace(self.link, events=again))

    def test_nothing_is_stored_when_the_plan_has_changed(self) -> None:
        self.a_link()
        for change in (
            {'state': plan_states.CANCELLING},
            {'stage': 'stopping'},
            {'status_message': 'edited'},
            {'unfinished': 7},
            {'active': 7},
            {'failed': 7},
            {'skipped': 7},
            {'total': 7},
            {'updated_at': at(99)},
            {'deleted_at': at(99)},
        ):
            before, after = self.link.plan
            link = dataclasses.replace(self.link, plan=(before.evolve(**change), after))
            self.assert_refused(link)

    def test_nothing_is_stored_when_the_ended_action_was_lost(self) -> None:
        self.a_link()
        ended = self.link.ended
        changes = (
            {'status': states.SUSPENDED},
            {'owner': new_uuid()},
            {'owner': None},
            {'attempt': 2},
        )
        others = [ended.before.evolve(**change) for change in changes]
        for before in (*others, ended.before.stored(0)):
            link = dataclasses.replace(
                self.link, ended=ActionChange(before, ended.after)
            )
            self.assert_refused(link)

    def test_nothing_is_stored_when_the_dependent_is_not_as_it_was(self) -> None:
        self.a_link()
        for change in (
            {'status': states.SKIPPED},
            {'owner': new_uuid()},
            {'attempt': 3},
        ):
            child = self.store.get_action(self.child.uuid)
            changed = self.changed(child, **change)
            self.assert_refused(self.link)
            self.changed(
                changed, status=child.status, owner=child.owner, attempt=child.attempt
            )
        self.assertTrue(self.store.write_link(self.link))

    def test_nothing_is_stored_when_it_waits_for_another_one_too(self) -> None:
        self.a_link()
        self.commit(lambda tx: tx.add_pending(self.child.id, 1))
        self.assert_refused(self.link)

    def test_of_two_at_once_one_is_written(self) -> None:
        self.a_link()
        other = dataclasses.replace(
            self.link, events=[make_event(self.child), make_event(self.child)]
        )
        self.assertEqual(
            [False, True],
            sorted(
                self.together(
                    lambda: self.store.write_link(self.link),
                    lambda: self.store.write_link(other),
                )
            ),
        )
        self.assertEqual(2, len(self.store.list_events()))
