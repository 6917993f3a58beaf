"""The pages of stacks."""

from typing import Any

from tests import base
from tests.functional.api import stacks
from tests.functional.api.fixtures import ApiFixture, ProjectFixture
from tests.functional.dashboard.test_pages import HOSTILE
from tests.functional.dashboard.visitor import Shown, Visitor


class StackCase(base.TestCase):
    """A visitor of stacks of project acme, without an engine."""

    fixture: type[ApiFixture] = ApiFixture

    def setUp(self) -> None:
        super().setUp()
        self.site = self.fixture.of(self)
        self.visitor = Visitor(self.site.application)
        self.number = 0

    def store(self, name: str, state: str, **values: Any) -> str:
        """Store a stack in a state; return the path of its page."""
        self.number += 1
        stack = stacks.store(self.site.runtime, self.number, name, state, **values)
        return f'/dashboard/stacks/{name}/{stack.uuid}?project=acme'

    def offered(self, page: Shown) -> list[str]:
        """Return the actions that a page offers for its stack."""
        return [
            form.hidden.get('action', 'logout' if 'logout' in form.action else 'mark')
            for form in page.forms
            if form.action
        ]


class TestStacks(StackCase):
    def test_the_list_is_that_of_a_project_and_is_filtered_by_name(self) -> None:
        one = self.store('one', 'CREATE_COMPLETE')
        self.store('two', 'UPDATE_FAILED')

        page = self.visitor.get('/dashboard/stacks?project=acme')

        self.assertEqual('one', page.links[one])
        self.assertIn('✗ UPDATE_FAILED', page.text)
        page = self.visitor.get('/dashboard/stacks?project=acme&name=two')
        self.assertNotIn(one, page.links)
        page = self.visitor.get('/dashboard/stacks')
        self.assertIn('Stacks of project default', page.text)
        self.assertIn('No stack matches.', page.text)

    def test_the_list_is_searched_by_state_text_time_and_user(self) -> None:
        self.store('one', 'CREATE_COMPLETE')
        two = self.store('two', 'UPDATE_FAILED')
        for query, expected in (
            ('text=TWO&since=2026-03-29&until=2100-01-01', [two]),
            ('action=UPDATE&status=FAILED', [two]),
            ('text=two&user=eve', []),
            ('until=2020-01-01', []),
        ):
            page = self.visitor.get(f'/dashboard/stacks?project=acme&{query}')
            found = [link for link in page.links if '/stacks/' in link]
            self.assertEqual(expected, found, query)
        self.assertIn('choose another project', page.text)

    def test_the_overview_has_failed_and_locked_stacks(self) -> None:
        failed = self.store('one', 'UPDATE_FAILED')
        locked = self.store('two', 'LOCK_COMPLETE')
        self.store('three', 'CREATE_COMPLETE')

        page = self.visitor.get('/dashboard?project=acme')

        found = [link for link in page.links if '/stacks/' in link]
        self.assertEqual([failed, locked], found)
        for title in ('Failed stacks', 'Locked stacks'):
            self.assertIn(title, page.text)

    def test_long_lists_have_pages(self) -> None:
        for number in range(51):
            self.store(f's{number}', 'CREATE_COMPLETE')
        page = self.visitor.get(
            '/dashboard/stacks?project=acme&text=S&since=2020-01-01'
        )
        last = next(a for a, text in page.links.items() if text == 'Next page')
        rest = self.visitor.get(last)
        self.assertEqual(
            (50, 1),
            tuple(
                sum('/stacks/s' in link for link in shown.links)
                for shown in (page, rest)
            ),
        )

    def test_a_stack_shows_its_resources_and_permitted_operations(self) -> None:
        for state, expected in (
            ('CREATE_COMPLETE', ['check', 'suspend', 'lock', 'mark']),
            ('SUSPEND_COMPLETE', ['resume', 'check', 'lock', 'mark']),
            (
                'UPDATE_IN_PROGRESS',
                ['cancel_without_rollback', 'cancel_update', 'mark'],
            ),
            ('LOCK_COMPLETE', ['unlock', 'lock', 'mark']),
        ):
            with self.subTest(state):
                path = self.store(f'in-{state}', state)
                page = self.visitor.get(path)
                self.assertEqual(200, page.status)
                self.assertEqual(expected, self.offered(page))
                self.assertEqual([], page.unasked())
                self.assertIn(state, page.text)
                self.assertIn('✓ CREATE_COMPLETE', page.text)
                self.assertIn(f'web-{self.number}', page.text)

    def test_a_stack_is_locked_with_a_level(self) -> None:
        page = self.visitor.get(self.store('one', 'CREATE_COMPLETE'))
        form = next(f for f in page.forms if f.hidden.get('action') == 'lock')
        self.assertEqual('acme', form.hidden['project'])

        page = self.visitor.submit_form(form, level='stacks')

        self.assertIn('▶ LOCK_IN_PROGRESS', page.text)
        self.assertIn('Lock level stacks', page.text)

    def test_a_resource_is_marked_unhealthy_with_a_reason_and_unmarked(self) -> None:
        page = self.visitor.get(self.store('one', 'CREATE_COMPLETE'))

        page = self.visitor.submit(page, '/mark', reason='<b>too slow</b>')

        self.assertIn('✗ CHECK_FAILED', page.text)
        self.assertIn('<b>too slow</b>', page.text)
        form = next(f for f in page.forms if f.hidden.get('unhealthy') == 'false')
        page = self.visitor.submit_form(form)
        self.assertIn('✓ CHECK_COMPLETE', page.text)

    def test_a_hook_is_shown_and_cleared_and_a_refusal_is_shown(self) -> None:
        path = self.store('one', 'CREATE_IN_PROGRESS', hook='pre-create')
        page = self.visitor.get(path)
        self.assertIn('Waits at hook pre-create', page.text)

        # Without an engine there is no action that waits.
        page = self.visitor.submit(page, '/clear')

        self.assertEqual(400, page.status)
        self.assertIn('The "pre-create" hook is not defined on', page.text)
        page = self.visitor.get(self.store('two', 'CREATE_COMPLETE'))
        self.assertNotIn('Waits at hook', page.text)

    def test_a_refusal_is_shown_in_the_page_of_the_same_project(self) -> None:
        page = self.visitor.get(self.store('one', 'CREATE_COMPLETE'))
        form = next(f for f in page.forms if f.hidden.get('action') == 'lock')
        self.visitor.submit_form(form, level='all')

        page = self.visitor.submit_form(form, level='all')

        self.assertEqual(409, page.status)
        self.assertIn('▶ LOCK_IN_PROGRESS', page.text)
        self.assertTrue(any(g.get('role') == 'alert' for _, g in page.tags))

    def test_a_stack_is_unlocked_and_a_second_request_refused(self) -> None:
        page = self.visitor.get(self.store('one', 'LOCK_COMPLETE'))
        form = next(f for f in page.forms if f.hidden.get('action') == 'unlock')

        page = self.visitor.submit_form(form)
        refused = self.visitor.submit_form(form)

        self.assertEqual([200, 409], [page.status, refused.status])
        self.assertIn('The change was requested.', page.text)
        for shown in (page, refused):
            self.assertIn('▶ UNLOCK_IN_PROGRESS', shown.text)
        self.assertTrue(any(g.get('role') == 'alert' for _, g in refused.tags))

    def test_a_refused_mark_is_shown_in_the_page_and_changes_nothing(self) -> None:
        page = self.visitor.get(self.store('one', 'CREATE_COMPLETE'))
        form = page.form('/mark')
        form.hidden['resource'] = 'gone'

        page = self.visitor.submit_form(form, reason='too slow')

        self.assertEqual(404, page.status)
        self.assertTrue(any(g.get('role') == 'alert' for _, g in page.tags))
        self.assertIn('gone', page.text)
        self.assertIn('✓ CREATE_COMPLETE', page.text)

    def test_messages_are_text(self) -> None:
        for hostile in HOSTILE:
            page = self.visitor.get(
                self.store(f's{self.number}', 'CREATE_COMPLETE', status_reason=hostile)
            )
            self.assertIn(' '.join(hostile.split()), page.text)
            self.assertEqual(
                [], [t for t, g in page.tags if t == 'img' or 'onerror' in g]
            )

    def test_a_missing_object_is_an_error_page(self) -> None:
        page = self.visitor.get(
            '/dashboard/stacks/none/00000000-0000-4000-8000-000000000009'
        )
        self.assertEqual(404, page.status)
        self.assertIn('could not be found', page.text)


class TestReaders(StackCase):
    fixture = ProjectFixture

    def test_a_reader_may_check_a_stack_and_change_nothing(self) -> None:
        path = self.store('one', 'CREATE_COMPLETE')
        form = self.visitor.get(path)
        page = self.visitor.submit(form, '/login', user='reader', password='secret')
        self.assertIn('Stack one', page.text)
        self.assertEqual(['logout', 'check'], self.offered(page))
