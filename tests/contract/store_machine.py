"""Contract of the store: random sequences of calls agree with a model."""

import functools
from typing import Any

import hypothesis
from hypothesis import stateful
from hypothesis import strategies as st

from tests.contract.store_case import StoreCase
from tests.factories import NOW, at, make_action, new_uuid, store_plan
from watcherlite.db.api import Released, Store, Transaction
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.states import action as states

ACTIONS = 6
PAIRS = [(p, c) for c in range(ACTIONS) for p in range(c)]
WORKERS = [new_uuid() for _ in range(2)]
#: Few examples, because real databases are slow.
SETTINGS = hypothesis.settings(
    max_examples=20,
    stateful_step_count=20,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)

one_action = st.integers(0, ACTIONS - 1)
one_worker = st.sampled_from(WORKERS)
ends = st.sampled_from([states.SUCCEEDED, states.FAILED])


class RollbackError(Exception):
    """Raised to roll back a transaction."""


class PlanMachine(stateful.RuleBasedStateMachine):
    """A plan in a store, and a model of its actions."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store
        self.plan_id = 0
        self.model: list[Action] = []
        self.children: dict[int, list[int]] = {}

    @stateful.initialize(edges=st.sets(st.sampled_from(PAIRS), max_size=9))
    def begin(self, edges: set[tuple[int, int]]) -> None:
        uuids = [new_uuid() for _ in range(ACTIONS)]
        plan, self.model = store_plan(
            self.store,
            *(
                make_action(
                    uuid=uuids[n],
                    parents=tuple(uuids[p] for p, c in sorted(edges) if c == n),
                )
                for n in range(ACTIONS)
            ),
        )
        self.plan_id = plan.id
        self.children = {
            n: [c for p, c in sorted(edges) if p == n] for n in range(ACTIONS)
        }

    @stateful.rule(worker=one_worker, limit=st.integers(1, 3), undone=st.booleans())
    def claim(self, worker: str, limit: int, undone: bool) -> None:
        expected = [
            action.evolve(
                status=states.READY,
                owner=worker,
                attempt=action.attempt + 1,
                updated_at=NOW,
            )
            for action in self.model
            if action.status in (states.INIT, states.READY)
            and action.pending == 0
            and action.owner is None
        ][:limit]

        def block(tx: Transaction) -> list[Action]:
            found = tx.claim(worker=worker, limit=limit, now=NOW, plan_id=self.plan_id)
            assert found == expected
            if undone:
                raise RollbackError
            return found

        try:
            with self.store.transaction() as tx:
                self.update_model(*block(tx))
        except RollbackError:
            assert undone

    @stateful.rule(which=one_action, worker=one_worker, attempt=st.integers(0, 3))
    def change_as_any_worker(self, which: int, worker: str, attempt: int) -> None:
        """Start an action with an owner and attempt that may be wrong."""
        action = self.model[which]
        before = action.evolve(status=states.READY, owner=worker, attempt=attempt)
        after = before.evolve(status=states.RUNNING, start_time=at(1))
        expected = {action.id} if before == action else set()
        with self.store.transaction() as tx:
            assert tx.change_actions([ActionChange(before, after)]) == expected
        if expected:
            self.update_model(after)

    @stateful.precondition(lambda self: self.in_status(states.READY, owned=True))
    @stateful.rule(data=st.data(), give_back=st.booleans())
    def start_or_release(self, data: st.DataObject, give_back: bool) -> None:
        before = data.draw(st.sampled_from(self.in_status(states.READY, owned=True)))
        values: dict[str, Any] = {'status': states.RUNNING, 'start_time': at(1)}
        after = before.evolve(**({'owner': None} if give_back else values))
        with self.store.transaction() as tx:
            assert tx.change_actions([ActionChange(before, after)]) == {before.id}
        self.update_model(after)

    @stateful.precondition(lambda self: self.in_status(states.RUNNING))
    @stateful.rule(data=st.data(), status=ends, hand_over=st.booleans())
    def end(self, data: st.DataObject, status: str, hand_over: bool) -> None:
        running = self.in_status(states.RUNNING)
        before = data.draw(st.sampled_from(running))
        after = before.evolve(
            status=status, owner=None, end_time=at(2), outputs={'n': before.id}
        )
        self.write_and_release(before, after, hand_over)

    @stateful.precondition(lambda self: self.in_status(states.INIT))
    @stateful.rule(data=st.data())
    def skip(self, data: st.DataObject) -> None:
        before = data.draw(st.sampled_from(self.in_status(states.INIT)))
        self.write_and_release(before, before.evolve(status=states.SKIPPED), False)

    @stateful.rule(limit=st.integers(1, 2))
    def end_not_started(self, limit: int) -> None:
        expected = [a for a in self.model if a.status in states.NOT_STARTED][:limit]
        with self.store.transaction() as tx:
            ended = tx.end_not_started(
                self.plan_id, states.CANCELLED, 'no', limit, at(3)
            )
            assert ended == expected
            stored = tx.lock_actions([a.id for a in ended])
        for before in ended:
            now = stored[before.id]
            assert now == before.evolve(
                status=states.CANCELLED,
                status_message='no',
                end_time=at(3),
                updated_at=at(3),
                owner=None,
            )
            self.update_model(now)

    @stateful.invariant()
    def check_store_against_model(self) -> None:
        if not self.model:
            return
        assert self.store.list_actions(plan_id=self.plan_id) == self.model
        counts: dict[str, int] = {}
        for action in self.model:
            counts[action.status] = counts.get(action.status, 0) + 1
        assert self.store.count_actions(self.plan_id) == counts

    # The model

    def in_status(self, status: str, owned: bool = False) -> list[Action]:
        """Return the actions in a status, or those of them that have an owner."""
        return [
            a
            for a in self.model
            if a.status == status and (a.owner is not None or not owned)
        ]

    def update_model(self, *actions: Action) -> None:
        """Record the expected states of actions."""
        for action in actions:
            (which,) = (n for n, a in enumerate(self.model) if a.id == action.id)
            self.model[which] = action

    def write_and_release(self, before: Action, after: Action, hand_over: bool) -> None:
        """End an action and release its dependents, in the model and the store."""
        self.update_model(after)
        expected, handovers = [], {}
        for which in self.children[self.model.index(after)]:
            child = self.model[which]
            child = child.evolve(pending=child.pending - 1)
            if child.pending == 0 and child.status in states.NOT_STARTED:
                handed_over = hand_over and child.status == states.INIT
                if handed_over:
                    child = child.evolve(
                        status=states.RUNNING, owner=WORKERS[0], attempt=9
                    )
                    handovers[child.id] = child
                elif child.status == states.INIT:
                    child = child.evolve(status=states.READY, updated_at=at(4))
                expected.append(
                    Released(child.id, self.plan_id, child.lane, handed_over)
                )
            elif child.pending == 0 and child.status in states.FINAL:
                expected.append(
                    Released(child.id, self.plan_id, child.lane, False, ended=True)
                )
            self.update_model(child)
        with self.store.transaction() as tx:
            assert tx.change_actions([ActionChange(before, after)]) == {before.id}
            released = tx.release_dependents(
                [before.id], started=True, handovers=handovers, now=at(4)
            )
            assert released == expected


class StoreMachineContract(StoreCase):
    """Random sequences of calls."""

    def test_any_sequence_of_calls_agrees_with_the_model(self) -> None:
        stateful.run_state_machine_as_test(
            functools.partial(PlanMachine, self.store),  # type: ignore[arg-type]
            settings=SETTINGS,
        )
