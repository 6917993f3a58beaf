"""Contract of the store: pages of lists."""

import datetime
import itertools
from collections.abc import Callable
from typing import Any

from tests.contract.listing_case import ListingCase
from tests.factories import at, make_action, new_uuid, store_plan
from watcherlite import exceptions
from watcherlite.db import query as queries
from watcherlite.db.query import Query
from watcherlite.domain.actions import Action, Edge

#: The lists whose filters are tested in every order.
FILTERED = {'audits', 'action_plans', 'actions'}
SECOND = datetime.timedelta(seconds=1)


def created(listed: Any) -> datetime.datetime:
    """Return the time of creation of a listed audit, plan or action."""
    names = ('audit', 'plan', 'action')
    (row,) = (getattr(listed, name) for name in names if hasattr(listed, name))
    time: datetime.datetime = row.created_at
    return time


class StoreListingContract(ListingCase):
    """Lists are complete, in order, in pages, and filtered."""

    # order and pages

    def test_pages_by_every_key_have_every_row_once(self) -> None:
        self.insert_rows()
        # A literal, a parameter, and no limit.
        limits = itertools.cycle((1, 3, None))
        for noun, keys in queries.SORT_KEYS.items():
            whole = [self.pages_of(noun)(Query(deleted=d)) for d in (False, True)]
            self.assertGreater(len(whole[0]), 2, noun)
            for n, key in enumerate(keys):
                # Filtered lists have the other direction of a key.
                both = (False, True) if noun not in FILTERED else (n % 2 == 0,)
                for descending in both:
                    deleted = descending == (n % 4 > 1)
                    sort = ((key, descending),)
                    query = Query(sort=sort, limit=next(limits), deleted=deleted)
                    self.assert_listed(noun, whole[deleted], query)

    def test_filtered_lists_have_pages_in_every_order(self) -> None:
        self.insert_rows()
        filters: dict[str, list[dict[str, Any]]] = {
            'audits': [{'goal': 'BETA'}, {'state': 'PENDING'}],
            'action_plans': [{'state': 'ONGOING'}, {'strategy': 's00'}],
            'actions': [
                {'action_plan_uuid': self.plans[1].uuid},
                {'audit_uuid': self.audits[1].uuid},
                {'state': 'PENDING'},
                {'state': 'SUCCEEDED', 'action_type': 'command'},
                {'action_type': 'nop'},
                {'target': 'node-1', 'state': 'ONGOING'},
            ],
        }
        self.assertEqual(FILTERED, filters.keys())
        for noun, choices in filters.items():
            lists = [self.pages_of(noun)(Query(chosen)) for chosen in choices]
            self.assertTrue(all(lists), noun)
            for n, key in enumerate(queries.SORT_KEYS[noun]):
                # Every second filter, the other ones with the next key.
                for turn in range(n % 2, len(choices), 2):
                    query = Query(choices[turn], ((key, n % 2 == 1),), limit=2)
                    self.assert_listed(noun, lists[turn], query)

    def test_a_page_continues_after_a_deleted_row_and_after_no_unknown_one(
        self,
    ) -> None:
        self.insert_rows()
        hidden = self.audits[5]
        self.assertEqual(
            [audit.id for audit in self.audits[6:]],
            self.ids('audits', after=hidden.uuid),
        )
        self.assertEqual([], self.ids('audits', after=self.audits[6].uuid))
        for noun, title in queries.TITLES.items():
            missing = new_uuid()
            with self.assertRaisesRegex(
                exceptions.NotFound, f'{title} {missing} could'
            ):
                self.page(noun, after=missing)

    def test_unknown_sort_keys_and_filters_are_refused(self) -> None:
        for values in (
            {'sort': (('links', False),)},
            {'filters': {'name': 'x'}},
            {'sort': (('uuid; DROP TABLE goals', False),)},
        ):
            with self.assertRaises(ValueError):
                self.page('goals', **values)

    def test_a_list_without_rows_is_empty(self) -> None:
        for noun, keys in queries.SORT_KEYS.items():
            for key in keys:
                self.assertEqual([], self.page(noun, sort=((key, False),)), (noun, key))

    # The referenced rows

    def test_rows_are_returned_with_the_rows_that_they_refer_to(self) -> None:
        self.insert_rows()
        goal, strategy = self.goals[1], self.strategies[0]
        self.assertEqual(
            [queries.ListedGoal(goal) for goal in self.goals],
            self.store.list_goals(Query()),
        )
        self.assertEqual(
            [
                queries.ListedStrategy(self.strategies[0], goal.uuid, goal.name),
                queries.ListedStrategy(self.strategies[2], None, None),
            ],
            self.store.list_strategies(Query())[0:3:2],
        )
        self.assertEqual(
            [queries.ListedScoringEngine(engine) for engine in self.engines],
            self.store.list_scoring_engines(Query()),
        )
        self.assertEqual(
            queries.ListedTemplate(
                self.templates[4],
                self.goals[0].uuid,
                'beta',
                strategy.uuid,
                strategy.name,
            ),
            self.store.list_audit_templates(Query())[-1],
        )
        self.assertEqual(
            queries.ListedAudit(
                self.audits[1], goal.uuid, 'Alpha', strategy.uuid, strategy.name
            ),
            self.store.list_audits(Query())[1],
        )
        self.assertEqual(
            [
                queries.ListedPlan(
                    self.plans[1], self.audits[1].uuid, strategy.uuid, strategy.name
                ),
                queries.ListedPlan(self.plans[3], None, None, None),
            ],
            self.store.list_action_plans(Query())[1:4:2],
        )
        self.assertEqual(
            queries.ListedAction(self.actions[2], self.plans[2].uuid),
            self.store.page_of_actions(Query())[2],
        )

    def test_deleted_rows_are_listed_only_on_request(self) -> None:
        self.insert_rows()
        for noun, rows in (
            ('audits', self.audits),
            ('audit_templates', self.templates),
            ('action_plans', self.plans),
        ):
            shown = [row.id for row in rows if row.deleted_at is None]
            self.assertLess(len(shown), len(rows))
            self.assertEqual(shown, self.ids(noun))
            self.assertEqual([row.id for row in rows], self.ids(noun, deleted=True))

    def test_an_action_is_deleted_with_its_plan(self) -> None:
        self.insert_rows()
        plan = self.plans[4]
        shown = [a.id for a in self.actions[:16] if not self.is_deleted(a)]
        self.assertEqual(shown, self.ids('actions'))
        self.assertEqual(
            [at(9)] * 2,
            [
                action.deleted_at
                for action in self.page(
                    'actions', filters={'action_plan_uuid': plan.uuid}, deleted=True
                )
            ],
        )
        action = next(a for a in self.actions if a.plan_id == plan.id)
        with self.assertRaises(exceptions.NotFound):
            self.store.find_action(action.uuid)
        found = self.store.find_action(action.uuid, deleted=True)
        self.assertEqual((at(9), plan.uuid), (found.action.deleted_at, found.plan_uuid))

    def test_actions_without_a_plan_are_neither_listed_nor_found(self) -> None:
        self.insert_rows()
        alone = [a for a in self.actions if a.plan_id is None]
        of_plans = [a.id for a in self.actions if a.plan_id is not None]
        self.assertEqual([16, 17], [self.actions.index(a) for a in alone])
        self.assertEqual(of_plans, self.ids('actions', deleted=True))
        for action in alone:
            with self.assertRaises(exceptions.NotFound):
                self.store.find_action(action.uuid, deleted=True)
            with self.assertRaises(exceptions.NotFound):
                self.ids('actions', after=action.uuid)
            for name in ('action_type', 'state'):
                filters = {name: getattr(action, name)}
                found = self.ids('actions', filters=filters, deleted=True)
                self.assertNotIn(action.id, found, name)

    # filters

    def test_each_filter_selects_matching_rows(self) -> None:
        self.insert_rows()
        goal, strategy, audit = self.goals[0], self.strategies[0], self.audits[1]
        pending = {'state': 'PENDING', 'goal': str(goal.id)}
        of_audit = [plan for plan in self.plans if plan.audit_id == audit.id]
        ongoing = [plan for plan in self.plans if plan.state == 'ONGOING']
        cases: list[tuple[str, dict[str, str], list[Any]]] = [
            ('strategies', {'goal': 'BETA'}, self.strategies[1::2]),
            ('strategies', {'goal': 'alpha'}, self.strategies[:1]),
            ('audits', pending, [self.audits[0], self.audits[6]]),
            ('action_plans', {'audit_uuid': audit.uuid}, of_audit),
            ('action_plans', {'state': 'ONGOING'}, ongoing),
            ('action_plans', {'strategy': strategy.uuid}, [self.plans[1]]),
        ]
        for noun, rows in (
            ('audit_templates', self.templates),
            ('audits', self.audits),
        ):
            shown = [row for row in rows if row.deleted_at is None]
            of_strategy = {'strategy': strategy.name.upper()}
            cases += [
                (noun, {'goal': goal.uuid}, [r for r in shown if r.goal_id == goal.id]),
                (noun, of_strategy, [r for r in shown if r.strategy_id == strategy.id]),
            ]
        for noun, filters, expected in cases:
            found = self.page(noun, filters=filters)
            self.assertEqual(expected, found, (noun, filters))
        gone = self.page('action_plans', filters={'state': 'DELETED'}, deleted=True)
        self.assertEqual([self.plans[4]], gone)

    def test_actions_are_filtered_by_all_that_is_given_and_by_api_state(self) -> None:
        self.insert_rows()
        shown = [a for a in self.actions[:16] if not self.is_deleted(a)]
        plan, audit = self.plans[1], self.audits[1]
        of_audit = {p.id for p in self.plans if p.audit_id == audit.id}
        cases: list[tuple[dict[str, str], Callable[[Action], bool]]] = [
            ({'action_plan_uuid': plan.uuid}, lambda a: a.plan_id == plan.id),
            ({'audit_uuid': audit.uuid}, lambda a: a.plan_id in of_audit),
            ({'action_type': 'sleep'}, lambda a: a.action_type == 'sleep'),
            ({'target': 'node-2'}, lambda a: a.target == 'node-2'),
            (
                {'target': 'node-2', 'state': 'SUCCEEDED', 'audit_uuid': audit.uuid},
                lambda a: (
                    (a.target, a.state) == ('node-2', 'SUCCEEDED')
                    and a.plan_id in of_audit
                ),
            ),
        ]
        found = {'PENDING', 'ONGOING', 'SUCCEEDED', 'SKIPPED', 'FAILED'}
        self.assertEqual(found, {action.state for action in shown})
        for state in (*found, 'CANCELLED', 'CANCELLING', 'invalid', 'DELETED'):
            cases.append(({'state': state}, lambda a, state=state: a.state == state))
        for filters, expected in cases:
            self.assertEqual(
                [a.id for a in shown if expected(a)],
                self.ids('actions', filters=filters),
                filters,
            )
        self.assertEqual(
            [a.id for a in self.actions if self.is_deleted(a)],
            self.ids('actions', filters={'state': 'DELETED'}, deleted=True),
        )

    def test_lists_are_limited_to_a_range_of_times_of_creation(self) -> None:
        self.insert_rows()
        for noun, rows in zip(
            queries.TIMED, (self.audits, self.plans, self.actions), strict=True
        ):
            times = sorted({row.created_at for row in rows})
            for since, until in (
                (times[1], None),
                (None, times[1]),
                (times[0], times[-1]),
                (times[-1] + SECOND, None),
            ):
                for descending in (False, True):
                    query = Query(
                        sort=(('created_at', descending),),
                        limit=2,
                        since=since,
                        until=until,
                    )
                    every = self.pages_of(noun)(Query(sort=query.sort))
                    whole = [
                        one
                        for one in every
                        if (since or times[0]) <= created(one) <= (until or times[-1])
                    ]
                    self.assert_listed(noun, whole, query)
        with self.assertRaisesRegex(ValueError, 'filtered by since'):
            self.page('goals', since=times[0])

    def test_a_filter_by_a_missing_object_matches_nothing(self) -> None:
        self.insert_rows()
        for noun, names in queries.FILTERS.items():
            for name in names:
                for value in (new_uuid(), 'no such', '987654321', '9' * 30):
                    self.assertEqual([], self.ids(noun, filters={name: value}), name)

    def test_an_action_is_listed_by_the_audit_of_its_plan(self) -> None:
        plan, (first,) = store_plan(self.store, make_action())
        store_plan(self.store, make_action())
        relations = self.store.plan_relations(plan.id)
        audit = relations.audit.uuid if relations else ''
        derived = make_action(plan_id=plan.id, derived_from=first.id)
        edges = [Edge(derived.uuid, first.uuid)]
        self.commit(lambda tx: tx.insert_actions([derived], edges))
        self.commit(
            lambda tx: tx.insert_actions(
                [make_action(plan_id=plan.id) for _ in range(3)]
                + [make_action(derived_from=first.id)],
                [],
            )
        )
        of_plan = self.store.list_actions(plan_id=plan.id)
        listed = self.store.page_of_actions(Query({'audit_uuid': audit}))
        self.assertEqual(
            [(a.id, plan.uuid) for a in of_plan],
            [(one.action.id, one.plan_uuid) for one in listed],
        )
        self.assertEqual(5, len(listed))
