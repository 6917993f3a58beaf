"""Claims do not wait for rows that other transactions have locked."""

import contextlib
from typing import Any

from tests.contract.store_case import names
from tests.factories import NOW, at, make_action, new_uuid, store_actions, store_plan
from tests.functional.db import stores
from tests.functional.db.stores import MYSQL, POSTGRESQL, define_tests
from watcherlite.db.api import Transaction
from watcherlite.domain import actions as domain
from watcherlite.states import action as states

LANES = (domain.APPLIER, domain.ENGINE)
PLANS = ('first plan', 'second plan')
#: name of a due action -> its special fields
DUE: dict[str, dict[str, Any]] = {'a': {}, 'b': {}, 'put off': {'not_before': at(-1)}}


class RollbackError(Exception):
    """Raised to end a transaction whose changes are not needed."""


class ClaimingTests(stores.StoreTests):
    """Claims on databases with concurrent writers.

    :ivar sources: name -> the arguments of a claim from there
    """

    def setUp(self) -> None:
        super().setUp()
        self.sources: dict[str, dict[str, Any]] = {}
        names = {**DUE, 'not due': {'not_before': at(60)}}
        for lane in LANES:
            self.sources[lane] = {'lane': lane}
            for name, values in names.items():
                new = make_action(name=name, lane=lane, status=states.READY, **values)
                store_actions(self.store, new)
        for name in PLANS:
            plan, _ = store_plan(
                self.store,
                *(make_action(name=name, **values) for name, values in names.items()),
            )
            self.sources[name] = {'plan_id': plan.id}

    def claim(self, tx: Transaction, source: str, limit: int = 99) -> list[str | None]:
        """Claim from a plan or a lane; return the names of the claimed actions."""
        values = self.sources[source]
        taken = tx.claim(worker=new_uuid(), limit=limit, now=NOW, **values)
        return names(taken)

    def test_a_claim_locks_no_other_actions(self) -> None:
        """Other claims skip locked actions, and would find them only by a sweep."""
        for source in self.sources:
            with contextlib.suppress(RollbackError), self.store.transaction() as tx:
                self.assertEqual(list(DUE), self.claim(tx, source))
                with self.store.transaction() as other:
                    left = {name: self.claim(other, name) for name in self.sources}
                    raise RollbackError

            self.assertEqual(
                {name: [] if name == source else list(DUE) for name in self.sources},
                left,
                source,
            )

    def test_a_claim_continues_behind_locked_actions(self) -> None:
        many = [make_action(name=str(n)) for n in range(9)]
        plan, _ = store_plan(self.store, *many)
        self.sources['wide'] = {'plan_id': plan.id}

        with self.store.transaction() as first, self.store.transaction() as second:
            taken = [
                self.claim(tx, 'wide', limit)
                for tx, limit in ((first, 4), (second, 3), (second, 3))
            ]

        # Of the first three actions all are locked, of the next three one is.
        self.assertEqual([['0', '1', '2', '3'], ['4', '5', '6'], ['7', '8']], taken)


class WaitingTests(stores.StoreTests):
    """A transaction that locks some actions does not wait for locks on others."""

    def setUp(self) -> None:
        super().setUp()
        self.plans = [
            store_plan(
                self.store,
                # With this number, a full scan seems as good as an index.
                *(make_action(name=str(n)) for n in range(300)),
                make_action(name='runs', status=states.RUNNING),
            )
            for _ in range(2)
        ]
        blocked = make_action(
            name='blocked', status=states.WAITING, target='x', blocked_on='x'
        )
        (self.blocked,) = store_actions(self.store, blocked)

    def test_locked_actions_do_not_block_unrelated_statements(self) -> None:
        (_, held), (plan, actions) = self.plans
        plan_id, runs = plan.id, actions[-1].id
        limited = self.open_again(busy_timeout=1)
        self.addCleanup(limited.close)
        done: dict[str, list[str | None]] = {}

        with self.store.transaction() as tx:
            tx.lock_actions([action.id for action in held])
            done['unblocked'] = [str(limited.unblock_stale())]
            with limited.transaction() as other:
                signalled = other.set_control(states.SUSPEND, NOW, plan_id=plan_id)
                done['signalled'] = names(signalled)
                signalled = other.set_control(states.CANCEL, NOW, action_ids=[runs])
                done['signalled again'] = names(signalled)
                ended = other.end_not_started(plan_id, states.CANCELLED, None, 2, NOW)
                done['ended'] = names(ended)
                taken = other.claim(
                    worker=new_uuid(), limit=2, now=NOW, plan_id=plan_id
                )
                done['taken'] = names(taken)

        self.assertEqual(
            {
                'unblocked': ['1'],
                'signalled': ['runs'],
                'signalled again': ['runs'],
                'ended': ['0', '1'],
                'taken': ['2', '3'],
            },
            done,
        )


define_tests(__name__, ClaimingTests, on=(POSTGRESQL, MYSQL))
define_tests(__name__, WaitingTests, on=(POSTGRESQL, MYSQL))
