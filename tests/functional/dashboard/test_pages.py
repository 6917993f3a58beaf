"""The pages of plans and actions."""

import re
from typing import Any
from urllib import parse

from falcon import testing

from tests import base
from tests.factories import at, make_action, make_plan, store_plan
from tests.functional.api.fixtures import ApiFixture, PlansFixture
from tests.functional.api.plans import LOGGED, uuid
from tests.functional.dashboard.visitor import Shown, Visitor
from watcherlite.api.policy import AccessPolicy
from watcherlite.dashboard.api_client import ApiClient
from watcherlite.db.action_logs import LogEntry
from watcherlite.db.api import ActionChange
from watcherlite.domain.creators import CREATOR, Creator

PLAN, ACTION = uuid('a', 1), uuid('b', 1)
#: Names and reasons that would be scripts without escaping.
HOSTILE = (
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '</title><svg/onload=alert(1)>',
    '{{ 7 * 7 }}',
    'javascript:alert(1)',
)


class PageCase(base.TestCase):
    """A visitor of plans and actions in every state, without authentication."""

    def setUp(self) -> None:
        super().setUp()
        self.site = PlansFixture.of(self)
        self.visitor = Visitor(self.site.application)
        self.store = self.site.runtime.store

    def failed_plan(self, **fields: Any) -> str:
        """Store a plan whose second action failed; return the uuid of the action."""
        _, (_, action) = store_plan(
            self.store,
            make_action(name='drain', status='SUCCEEDED'),
            make_action(
                name='copy',
                inputs={'message': 'copying'},
                status='FAILED',
                status_message='no disk',
            ),
            uuid=uuid('f', 1),
            **{'state': 'FAILED', **fields},
        )
        return action.uuid

    def has_alert(self, page: Shown) -> bool:
        """Return whether a page shows a refusal."""
        return any(given.get('role') == 'alert' for _, given in page.tags)

    def end(self, action: str) -> None:
        """Store the end of an action and of its plan."""
        before = self.store.get_action(action)
        after = before.evolve(status='SUCCEEDED', end_time=at(9))
        with self.store.transaction() as tx:
            (owner,) = tx.lock_plans([before.plan_id]).values()
            tx.change_actions([ActionChange(before, after)])
            tx.save_plans([owner.evolve(state='SUCCEEDED')])


class TestPages(PageCase):
    def test_the_overview_shows_objects_that_need_a_decision(self) -> None:
        page = self.visitor.get('/dashboard')

        self.assertEqual(200, page.status)
        for title in ('Waiting for a decision', 'Failed', 'Running'):
            self.assertIn(title, page.text)
        self.assertIn(f'/dashboard/action_plans/{PLAN}', page.links)
        self.assertNotIn(f'/dashboard/action_plans/{uuid("a", 4)}', page.links)

    def test_the_actions_of_a_plan_are_filtered_by_state_and_text(self) -> None:
        for query, expected in (
            ('state=FAILED', ['no disk']),
            ('text=NO+DISK', ['no disk']),
            ('state=SKIPPED&text=the+host', ['the host is gone']),
            ('state=PENDING&text=no+disk', []),
        ):
            page = self.visitor.get(f'/dashboard/action_plans/{uuid("a", 9)}?{query}')
            rows = [given for tag, given in page.tags if tag == 'tr' and given]
            self.assertEqual(len(expected), len(rows), query)
            self.assertIn(f'{len(expected)} of 9 actions match.', page.text)
            nodes = [
                given for tag, given in page.tags if 'node' in given.get('class', '')
            ]
            self.assertEqual(9, len(nodes))

    def test_an_empty_overview_names_the_first_steps(self) -> None:
        page = Visitor(ApiFixture.of(self).application).get('/dashboard')
        self.assertIn('watcherlite plan create FILE', page.text)

    def test_plans_are_listed_with_progress_age_and_audit(self) -> None:
        self.failed_plan(unfinished=0, failed=1)
        page = self.visitor.get('/dashboard/action_plans?state=FAILED')
        self.assertIn('Plan State Progress Age Strategy Audit', page.text)
        self.assertIn('2 of 2, 1 failed', page.text)
        self.assertTrue(any('/dashboard/audits/' in link for link in page.links))

    def test_plans_are_filtered_by_state(self) -> None:
        page = self.visitor.get('/dashboard/action_plans?state=FAILED')

        plans = [link for link in page.links if '/action_plans/' in link]
        self.assertEqual([f'/dashboard/action_plans/{uuid("a", 5)}'], plans)

    def test_plans_and_audits_are_searched_by_text_time_and_user(self) -> None:
        plan = f'/dashboard/action_plans/{uuid("a", 9)}'
        for query, expected in (
            ('text=NIGHT', [plan]),
            ('text=night&since=2026-03-29', [plan]),
            ('text=night&until=2026-03-28', []),
            ('text=night&user=alice', []),
        ):
            page = self.visitor.get(f'/dashboard/action_plans?{query}')
            found = [link for link in page.links if '/action_plans/' in link]
            self.assertEqual(expected, found, query)
        page = self.visitor.get('/dashboard/audits?text=AUDIT-2')
        self.assertIn(f'/dashboard/audits/{uuid("d", 2)}', page.links)
        self.assertNotIn(f'/dashboard/audits/{uuid("d", 1)}', page.links)

    def test_actions_are_searched_by_text_time_and_creator_of_the_plan(self) -> None:
        creator = Creator('alice', 'acme')
        context = {'request_id': 'r', CREATOR: creator.as_mapping()}
        _, (action,) = store_plan(
            self.store, make_action(name='copy', context=context), creator=creator
        )
        shown = f'/dashboard/actions/{action.uuid}'
        for query, expected in (
            ('user=alice', [shown]),
            ('user=alice&text=COPY&since=2026-03-29&until=2026-03-30', [shown]),
            ('text=host-7', [f'/dashboard/actions/{uuid("c", 9)}']),
            ('user=bob', []),
            ('state=PENDING&since=2026-03-31', []),
        ):
            page = self.visitor.get(f'/dashboard/actions?{query}')
            found = [link for link in page.links if '/actions/' in link]
            self.assertEqual(expected, found, query)
        self.assertIn('No action matches. Clear the filters, or create', page.text)

    def test_the_next_page_of_a_search_has_its_filters(self) -> None:
        with self.store.transaction() as tx:
            plan = tx.insert_plan(make_plan())
            tx.insert_actions(
                [make_action(plan_id=plan.id, name=f'copy {n}') for n in range(51)], []
            )
        asked = 'text=Copy&since=2026-03-29'
        page = self.visitor.get(f'/dashboard/actions?state=PENDING&{asked}')
        (following,) = (a for a, text in page.links.items() if text == 'Next page')
        self.assertIn(f'?state=PENDING&{asked}&marker=', following)
        last = self.visitor.get(following)
        self.assertEqual(
            (50, 1),
            tuple(
                sum(text.startswith('copy') for text in shown.links.values())
                for shown in (page, last)
            ),
        )

    def test_an_error_page_needs_no_policies(self) -> None:
        def fail(*args: Any) -> bool:
            raise RuntimeError('The server of the policies does not respond.')

        self.patch(AccessPolicy, 'allows', fail)
        page = self.visitor.get('/dashboard/action_plans')
        self.assertEqual(500, page.status)
        self.assertIn('Back to the overview', page.text)

    def test_an_invalid_filter_is_refused_in_the_words_of_the_api(self) -> None:
        page = self.visitor.get('/dashboard/action_plans?state=GONE')
        self.assertEqual(400, page.status)
        self.assertIn('GONE', page.text)

    def test_a_plan_shows_its_graph_its_actions_and_its_message(self) -> None:
        page = self.visitor.get(f'/dashboard/action_plans/{uuid("a", 9)}')

        nodes = [
            given['aria-label']
            for tag, given in page.tags
            if 'data-action' in given and tag == 'a'
        ]
        self.assertEqual(9, len(nodes))
        self.assertEqual(
            {
                'SKIPPED': 2,
                'ONGOING': 1,
                'SUSPENDED': 1,
                'SUCCEEDED': 1,
                'FAILED': 1,
                'CANCELLED': 1,
                'PENDING': 2,
            },
            {
                state: sum(label.endswith(f', {state}') for label in nodes)
                for state in {label.rpartition(', ')[2] for label in nodes}
            },
        )
        self.assertIn('Action skipped by user. Reason: not now', page.text)
        self.assertIn('Action failed in execute: no disk', page.text)

    def test_an_action_shows_its_reason_and_masks_secrets(self) -> None:
        skipped = self.visitor.get(f'/dashboard/actions/{uuid("c", 1)}')
        rest = self.visitor.get(f'/dashboard/actions/{uuid("c", 9)}')

        self.assertIn(
            'Skip reason Action skipped by user. Reason: not now', skipped.text
        )
        self.assertIn('host-7', rest.text)
        self.assertNotIn('s3cret', rest.response.text)

    def test_an_action_shows_its_outputs_without_credentials(self) -> None:
        page = self.visitor.get(f'/dashboard/actions/{uuid("c", 5)}')
        self.assertIn('exit_code 0 stdout password=*** done <b>', page.text)
        self.assertNotIn('s3cret', page.response.text)

    def test_a_missing_object_is_an_error_page_with_the_text_of_the_api(self) -> None:
        missing = uuid('f', 1)
        for path, text in (
            (f'action_plans/{missing}', f'ActionPlan {missing} could not be found'),
            (f'actions/{missing}', f'Action {missing} could not be found'),
            ('nothing', 'There is nothing at this address.'),
        ):
            with self.subTest(path):
                page = self.visitor.get(f'/dashboard/{path}')
                self.assertEqual(404, page.status)
                self.assertIn(text, page.text)

    def test_every_response_forbids_foreign_scripts_frames_and_caches(self) -> None:
        for path, status in (
            ('', 200),
            ('/action_plans', 200),
            ('/nothing', 404),
            ('/static/dashboard.css', 200),
            ('/static/nothing.js', 404),
        ):
            with self.subTest(path):
                response = self.visitor.request('GET', f'/dashboard{path}')
                headers = response.headers
                self.assertEqual(status, response.status_code)
                policy = headers['Content-Security-Policy']
                self.assertNotIn('unsafe', policy)
                self.assertIn("default-src 'none'", policy)
                self.assertIn("frame-ancestors 'none'", policy)
                self.assertEqual('nosniff', headers['X-Content-Type-Options'])
                kept = path == '/static/dashboard.css'
                self.assertEqual(
                    'no-cache' if kept else 'no-store', headers['Cache-Control']
                )

    def test_a_file_is_sent_again_only_when_it_has_changed(self) -> None:
        path = '/dashboard/static/events.js'
        first = self.visitor.request('GET', path)
        etag = first.headers['ETag']
        again = self.visitor.request('GET', path, If_None_Match=etag)
        other = self.visitor.request('GET', path, If_None_Match='"other"')
        self.assertEqual(
            [(200, True), (304, False), (200, True)],
            [(r.status_code, bool(r.content)) for r in (first, again, other)],
        )
        self.assertIn('javascript', first.headers['Content-Type'])

    def test_a_slash_at_the_end_of_an_address_does_not_matter(self) -> None:
        for path in ('', '/action_plans', f'/actions/{ACTION}'):
            page = self.visitor.get(f'/dashboard{path}/')
            self.assertEqual(200, page.status, path)

    def test_a_stream_that_a_browser_leaves_frees_its_place(self) -> None:
        environ = testing.create_environ(
            f'/dashboard/action_plans/{uuid("a", 9)}/events',
            headers={'Accept': 'text/event-stream'},
            host='localhost',
        )
        started: list[str] = []
        parts = self.site.application(
            environ, lambda status, headers, error=None: started.append(status)
        )
        self.assertEqual(b': events follow\n\n', next(iter(parts)))
        streams = self.site.services.streams
        self.assertEqual((['200 OK'], 1), (started, streams.open))

        parts.close()

        self.assertEqual(0, streams.open)

    def test_no_change_is_missed_between_a_page_and_its_events(self) -> None:
        plans, store = self.site.runtime.plans, self.store
        list_events = store.list_events
        for path, action in (
            (f'/dashboard/actions/{ACTION}', ACTION),
            (f'/dashboard/action_plans/{uuid("a", 2)}', uuid('b', 2)),
        ):
            with self.subTest(path):

                def list_then_skip(action: str = action, **query: Any) -> Any:
                    found = list_events(**query)
                    self.patch(store, 'list_events', list_events)
                    plans.skip_action(action, 'meanwhile')
                    return found

                self.patch(store, 'list_events', list_then_skip)
                # The stream starts before the skip, or the page already contains it.
                self.assertIn('meanwhile', self.visitor.get(path).text)

    def test_a_page_whose_plan_has_ended_shows_the_final_state_of_an_action(
        self,
    ) -> None:
        # The page waits for no events of this plan.
        action = {
            'name': 'a',
            'action_type': 'nop',
            'input_parameters': {'message': ''},
        }
        get = ApiClient.get
        counts = []
        for page in ('actions', 'action_plans'):
            for last in range(1, 8):
                plan = self.site.runtime.plans.create_from(
                    {'actions': [action]}, {}, Creator(None, None, True)
                )
                actions = self.store.list_actions(plan_id=plan.id)
                subject = plan.uuid if page == 'action_plans' else actions[0].uuid
                requests: list[str] = []

                def get_then_cancel(
                    client: ApiClient,
                    path: str,
                    plan: str = plan.uuid,
                    last: int = last,
                    requests: list[str] = requests,
                    **query: Any,
                ) -> Any:
                    body = get(client, path, **query)
                    requests.append(path)
                    if len(requests) == last:
                        self.site.runtime.plans.cancel(plan)
                    return body

                self.patch(ApiClient, 'get', get_then_cancel)
                shown = self.visitor.get(f'/dashboard/{page}/{subject}')
                self.patch(ApiClient, 'get', get)

                counts.append(len(requests))
                [summary] = [
                    given for _, given in shown.tags if given.get('id') == 'summary'
                ]
                if summary['data-plan'] == 'CANCELLED':
                    classes = ' '.join(
                        given.get('class') or '' for _, given in shown.tags
                    )
                    self.assertNotIn('state-pending', classes, requests[:last])
        self.assertTrue(min(counts) > 2, counts)

    def test_events_are_polled_as_json(self) -> None:
        path = f'/dashboard/action_plans/{PLAN}/events?after=0'
        response = self.visitor.request('GET', path, Accept='application/json')
        self.assertEqual({'events': []}, response.json)

    def test_the_history_has_all_events_in_pages_the_latest_first(self) -> None:
        plan = self.site.runtime.plans.create_from(
            {
                'actions': [
                    {
                        'name': f'a{number}',
                        'action_type': 'nop',
                        'input_parameters': {'message': ''},
                    }
                    for number in range(300)
                ]
            },
            {},
            Creator(None, None, True),
        )
        seen: list[str] = []
        path = f'/dashboard/action_plans/{plan.uuid}/history'
        while path:
            page = self.visitor.get(path)
            seen += [
                name
                for link, name in page.links.items()
                if link.startswith('/dashboard/actions/')
            ]
            path = next(
                (a for a, text in page.links.items() if text == 'Next page'), ''
            )
        self.assertEqual([f'a{number}' for number in reversed(range(300))], seen)


class TestEventsOfActions(PageCase):
    def test_an_action_shows_its_changes_with_their_users(self) -> None:
        page = self.visitor.get(f'/dashboard/actions/{ACTION}')
        self.visitor.submit(page, '/skip', reason='no traffic')

        page = self.visitor.get(f'/dashboard/actions/{ACTION}')

        self.assertRegex(page.text, r'PENDING → SKIPPED .*no traffic noauth')


class TestLogs(PageCase):
    def test_an_action_shows_its_latest_log(self) -> None:
        page = self.visitor.get(f'/dashboard/actions/{LOGGED}')
        spans = [given['class'] for tag, given in page.tags if tag == 'span']
        self.assertEqual(['stdout', 'stderr', 'log'], spans[-3:])
        self.assertIn('copying <b>', page.text)
        self.assertNotIn('Earlier lines', page.text)

    def test_pages_of_a_long_log_lead_to_its_beginning(self) -> None:
        action = self.store.get_action(LOGGED)
        self.store.insert_log_entries(
            [
                LogEntry(action.id, 2, 'stdout', f'line {n:03}\n', at(10 + n))
                for n in range(400)
            ]
        )
        shown: list[list[str]] = []
        address = f'/dashboard/actions/{LOGGED}'
        while True:
            page = self.visitor.get(address)
            shown.append(re.findall(r'line \d+|copying', page.text))
            earlier = [link for link in page.links if 'before=' in link]
            if not earlier:
                break
            address = earlier[0]

        self.assertEqual(['line 200', 'line 399'], [shown[0][0], shown[0][-1]])
        self.assertEqual(['line 000', 'line 199'], [shown[1][0], shown[1][-1]])
        self.assertEqual(['copying'], shown[2])

    def test_each_further_attempt_is_marked(self) -> None:
        action = self.store.get_action(LOGGED)
        self.store.insert_log_entries(
            [LogEntry(action.id, 2, 'stdout', 'again', at(10))]
        )
        page = self.visitor.get(f'/dashboard/actions/{LOGGED}')
        self.assertRegex(page.text, r'status 200 after 0.010 s\s+Attempt 2\s+again')

    def test_the_log_is_polled_from_a_number(self) -> None:
        path = f'/dashboard/actions/{LOGGED}/logs'
        response = self.visitor.request('GET', f'{path}?after=1')
        streams = [entry['stream'] for entry in response.json['logs']]
        self.assertEqual(['stderr', 'log'], streams)


class TestForms(PageCase):
    def test_a_plan_is_started_on_request(self) -> None:
        page = self.visitor.get(f'/dashboard/action_plans/{PLAN}')

        page = self.visitor.submit(page, '/start')

        self.assertIn('The action plan was started.', page.text)
        self.assertIn('State ○ PENDING', page.text)
        self.assertEqual('PENDING', self.store.get_plan(PLAN).state)
        self.assertNotIn('start', page.actions())

    def test_actions_are_skipped_with_one_reason_which_can_be_changed(self) -> None:
        page = self.visitor.get(f'/dashboard/action_plans/{PLAN}')
        page = self.visitor.submit(page, '/skip', uuid=[ACTION], reason='no traffic')
        self.assertIn('Action skipped by user. Reason: no traffic', page.text)

        page = self.visitor.get(f'/dashboard/actions/{ACTION}')
        page = self.visitor.submit(page, '/reason', reason='a holiday')

        self.assertIn('Action skipped by user. Reason: a holiday', page.text)
        self.assertEqual('SKIPPED', self.store.get_action(ACTION).status)

    def test_several_actions_are_skipped_together_or_none_of_them(self) -> None:
        plan = self.site.runtime.plans.create_from(
            {
                'actions': [
                    {
                        'name': name,
                        'action_type': 'nop',
                        'input_parameters': {'message': ''},
                    }
                    for name in 'abcd'
                ]
            },
            {},
            Creator(None, None, True),
        )
        a, b, c, d = (
            action.uuid for action in self.store.list_actions(plan_id=plan.id)
        )
        page = self.visitor.get(f'/dashboard/action_plans/{plan.uuid}')

        done = self.visitor.submit(page, '/skip', uuid=[a, b], reason='later')
        refused = [
            self.visitor.submit(page, '/skip', uuid=chosen, reason='now')
            for chosen in ([c, uuid('f', 9)], [d, a], [])
        ]

        self.assertIn('The chosen actions were skipped.', done.text)
        self.assertEqual(
            [(404, True), (409, True), (400, True)],
            [(shown.status, self.has_alert(shown)) for shown in refused],
        )
        self.assertIn('Action a is SKIPPED; only PENDING actions', refused[1].text)
        for shown in refused:
            self.assertIn('↷ SKIPPED 2 ○ PENDING 2', shown.text)
        reason = 'Action skipped by user. Reason: later'
        self.assertEqual(
            [reason, reason, None, None],
            [x.status_message for x in self.store.list_actions(plan_id=plan.id)],
        )

    def test_every_form_asks_first(self) -> None:
        for path, others in (
            # The button of this form is in a part that the user opens.
            (f'action_plans/{PLAN}', ['skip']),
            (f'action_plans/{uuid("a", 5)}', []),
            *((f'actions/{uuid("c", number)}', []) for number in (1, 3, 4, 6)),
            (f'actions/{ACTION}', []),
        ):
            with self.subTest(path):
                self.assertEqual(
                    others, self.visitor.get(f'/dashboard/{path}').unasked()
                )

    def test_a_plan_is_cancelled_in_each_state_that_offers_it(self) -> None:
        for number, state in ((1, 'CANCELLED'), (2, 'CANCELLED'), (9, 'CANCELLING')):
            plan = uuid('a', number)
            page = self.visitor.get(f'/dashboard/action_plans/{plan}')

            page = self.visitor.submit(page, '/cancel')

            self.assertIn('The cancellation was requested.', page.text)
            self.assertEqual(state, self.store.get_plan(plan).state)
            self.assertNotIn('cancel', page.actions())

    def test_every_refusal_is_shown_in_the_page_with_the_present_state(self) -> None:
        running, suspended, nightly = uuid('c', 3), uuid('c', 4), uuid('a', 9)
        pages = [
            (self.visitor.get(f'/dashboard/{path}'), form)
            for path, form in (
                (f'action_plans/{PLAN}', 'start'),
                (f'action_plans/{PLAN}', 'cancel'),
                (f'action_plans/{nightly}', 'cancel'),
                (f'actions/{running}', 'suspend'),
                (f'actions/{running}', 'cancel'),
                (f'actions/{suspended}', 'resume'),
            )
        ]
        self.end(ACTION)
        self.end(running)
        self.end(suspended)

        for page, form in pages:
            with self.subTest(form):
                shown = self.visitor.submit(page, f'/{form}')
                self.assertTrue(400 <= shown.status < 500, shown.status)
                self.assertTrue(self.has_alert(shown))
                self.assertIn('State ✓ SUCCEEDED', shown.text)
                self.assertNotIn(form, shown.actions())

    def test_a_refused_reason_leaves_the_present_one(self) -> None:
        path = f'/dashboard/actions/{uuid("c", 1)}'
        page = self.visitor.submit(self.visitor.get(path), '/reason', reason='x' * 300)

        self.assertEqual((400, True), (page.status, self.has_alert(page)))
        self.assertIn('Action skipped by user. Reason: not now', page.text)

    def test_a_refusal_of_the_api_is_shown_in_the_page(self) -> None:
        page = self.visitor.get(f'/dashboard/actions/{ACTION}')
        self.site.runtime.plans.start(PLAN)
        self.site.runtime.plans.cancel(PLAN)

        page = self.visitor.submit(page, '/skip', reason='')

        self.assertEqual(409, page.status)
        alert = next(given for _, given in page.tags if given.get('role') == 'alert')
        self.assertIn('error', alert['class'] or '')
        self.assertIn('State ⊘ CANCELLED', page.text)

    def test_a_failed_plan_is_retried_as_a_new_one(self) -> None:
        action = self.failed_plan()
        for path in (f'action_plans/{uuid("f", 1)}', f'actions/{action}'):
            page = self.visitor.get(f'/dashboard/{path}')
            self.assertIn('no disk', page.text)

            page = self.visitor.submit(page, '/retry')

            self.assertIn('has the actions that did not succeed', page.text)
            self.assertIn('State ◇ RECOMMENDED', page.text)
            self.assertIn(f'/dashboard/action_plans/{uuid("f", 1)}', page.links)
            nodes = [
                given['aria-label']
                for tag, given in page.tags
                if 'data-action' in given and tag == 'a'
            ]
            self.assertEqual(['copy, nop, PENDING'], nodes)

    def test_a_retry_that_became_impossible_is_refused_in_the_page(self) -> None:
        self.failed_plan()
        page = self.visitor.get(f'/dashboard/action_plans/{uuid("f", 1)}')
        self.site.runtime.plans.delete(uuid('f', 1))

        page = self.visitor.submit(page, '/retry')

        self.assertEqual(404, page.status)
        self.assertIn('could not be found', page.text)

    def test_a_failed_action_of_a_running_plan_is_retried_later(self) -> None:
        action = self.failed_plan(state='ONGOING')
        plan = self.visitor.get(f'/dashboard/action_plans/{uuid("f", 1)}')
        form = plan.form('/cancel')
        for path in (f'action_plans/{uuid("f", 1)}', f'actions/{action}'):
            page = self.visitor.get(f'/dashboard/{path}')
            self.assertNotIn('retry', page.actions())
            self.assertIn('can be retried when', page.text)

            form.action = f'/dashboard/{path}/retry'
            page = self.visitor.submit_form(form)

            self.assertEqual(409, page.status)
            self.assertIn(
                "Couldn't retry when the state of the action plan is 'ONGOING'. Wait "
                'until it has ended, or cancel it.',
                page.text,
            )

    def test_a_plan_that_was_rolled_back_is_not_retried(self) -> None:
        self.failed_plan(stage='reverting')
        page = self.visitor.get(f'/dashboard/action_plans/{uuid("f", 1)}')
        self.assertNotIn('retry', page.actions())
        self.assertIn('Rolled back', page.text)

    def test_buttons_are_those_that_the_state_allows(self) -> None:
        for path, expected in (
            (f'action_plans/{uuid("a", 5)}', ['retry']),
            (f'action_plans/{uuid("a", 7)}', ['retry']),
            (f'action_plans/{uuid("a", 1)}', ['start', 'cancel', 'skip']),
            (f'action_plans/{uuid("a", 2)}', ['cancel', 'skip']),
            (f'action_plans/{uuid("a", 3)}', ['cancel']),
            (f'action_plans/{uuid("a", 4)}', []),
            (f'actions/{uuid("b", 1)}', ['skip']),
            (f'actions/{uuid("c", 1)}', ['reason']),
        ):
            with self.subTest(path):
                page = self.visitor.get(f'/dashboard/{path}')
                offered = [name for name in page.actions() if name]
                self.assertEqual(expected, [n for n in offered if n != 'logout'])

    def test_a_form_without_the_token_of_the_browser_changes_nothing(self) -> None:
        page = self.visitor.get(f'/dashboard/action_plans/{PLAN}')
        address, other = page.form('/start').action, Visitor(self.site.application)
        token = (
            other.get('/dashboard/action_plans').tags
            and other.get(f'/dashboard/action_plans/{PLAN}')
            .form('/start')
            .hidden['form_token']
        )
        for body in ('', 'form_token=', f'form_token={token}', 'form_token=%FF'):
            with self.subTest(body):
                response = self.visitor.request('POST', address, body)
                self.assertEqual(403, response.status_code)
        # A browser without the cookie, as with the form of another site.
        body = parse.urlencode(page.form('/start').hidden)
        response = Visitor(self.site.application).request('POST', address, body)
        self.assertEqual(403, response.status_code)
        self.assertEqual('RECOMMENDED', self.store.get_plan(PLAN).state)

    def test_a_form_of_another_site_changes_nothing(self) -> None:
        form = self.visitor.get(f'/dashboard/action_plans/{PLAN}').form('/start')
        body = parse.urlencode(form.hidden)
        for origin in ('http://localhost:1', 'http://[::1]'):
            response = self.visitor.request('POST', form.action, body, Origin=origin)
            self.assertEqual(403, response.status_code)
            self.assertIn('another site', response.text)
        self.assertEqual('RECOMMENDED', self.store.get_plan(PLAN).state)
        response = self.visitor.request(
            'POST', form.action, body, Origin='http://localhost'
        )
        self.assertEqual(303, response.status_code)

    def test_names_and_reasons_are_text_wherever_they_are_shown(self) -> None:
        plan = self.site.runtime.plans.create_from(
            {
                'name': HOSTILE[0],
                'actions': [
                    {
                        'name': name,
                        'action_type': 'nop',
                        'input_parameters': {'message': name},
                        'target': name,
                    }
                    for name in HOSTILE
                ],
            },
            {},
            Creator(None, None, True),
        )
        for action in self.store.list_actions(plan_id=plan.id):
            self.site.runtime.plans.skip_action(action.uuid, action.name)
        uuids = [action.uuid for action in self.store.list_actions(plan_id=plan.id)]
        for path in (
            '',
            '/action_plans',
            '/actions',
            f'/action_plans/{plan.uuid}',
            f'/action_plans/{plan.uuid}/history',
            *(f'/actions/{one}' for one in uuids),
            '/nothing?' + parse.urlencode({'state': HOSTILE[0]}),
            '/actions?' + parse.urlencode({'action_type': HOSTILE[1]}),
            '/action_plans?' + parse.urlencode({'state': HOSTILE[0]}),
        ):
            with self.subTest(path):
                page = self.visitor.get(f'/dashboard{path}')
                scripts = [g for tag, g in page.tags if tag == 'script']
                self.assertEqual(
                    [{'type': 'module', 'src': '/dashboard/static/dashboard.js'}],
                    scripts,
                )
                for tag, given in page.tags:
                    self.assertNotIn(tag, ('img', 'iframe', 'object', 'style'))
                    self.assertEqual(
                        [], [n for n in given if n.startswith('on') or n == 'style']
                    )
                    self.assertFalse(
                        (given.get('href') or '').lower().startswith('javascript')
                    )
