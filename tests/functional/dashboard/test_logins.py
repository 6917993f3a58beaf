"""Sessions of users of a password file."""

import contextlib
import datetime
import hashlib
from typing import Any, ClassVar
from urllib import parse

import bcrypt
from falcon import testing
from oslo_middleware import http_proxy_to_wsgi

from tests import base
from tests.functional.api import plans
from tests.functional.api.fixtures import ProjectFixture
from tests.functional.dashboard.visitor import Shown, Visitor
from watcherlite import conf
from watcherlite.dashboard import pages


class SessionFixture(ProjectFixture):
    """The users reader, member and boss, and a plan."""

    def prepare(self) -> None:
        plans.store_all(self.runtime.store)


class LoginCase(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = SessionFixture.of(self)
        self.visitor = Visitor(self.site.application)

    def log_in(self, user: str, password: str = 'secret', page: str = '') -> Shown:
        """Return the page after the login."""
        form = self.visitor.get(f'/dashboard{page}')
        return self.visitor.submit(form, '/login', user=user, password=password)


class TestLogin(LoginCase):
    def test_a_login_leads_to_the_requested_page(self) -> None:
        page = self.log_in('boss', page='/action_plans?state=FAILED')

        self.assertEqual(200, page.status)
        self.assertIn('Action plans', page.text)
        self.assertEqual(
            1, sum('/dashboard/action_plans/' in link for link in page.links)
        )

    def test_a_wrong_password_is_refused_and_forgotten(self) -> None:
        for user, password in (('boss', 'wrong'), ('unknown', 'secret'), ('', '')):
            with self.subTest(user):
                page = self.log_in(user, password)
                self.assertEqual(403, page.status)
                self.assertIn('The user or the password is wrong.', page.text)
                values = {
                    given.get('name'): given.get('value')
                    for tag, given in page.tags
                    if tag == 'input'
                }
                self.assertEqual(('', user), (values['password'], values['user']))
        self.assertIn('Log in', self.visitor.get('/dashboard').text)

    def test_the_secret_of_the_cookie_changes_with_the_login(self) -> None:
        self.visitor.get('/dashboard')
        before = self.visitor.cookie
        self.log_in('boss')
        self.assertNotIn(self.visitor.cookie, ('', before))

    def test_the_cookie_is_out_of_reach_of_scripts_and_of_the_api(self) -> None:
        response = self.visitor.request('GET', '/dashboard/login')
        attributes = response.headers['Set-Cookie'].split('; ')[1:]
        self.assertEqual(
            ['HttpOnly', 'SameSite=Lax', 'Path=/dashboard', 'Max-Age=28800'], attributes
        )
        self.log_in('boss')
        self.assertEqual(
            401, self.visitor.request('GET', '/v1/action_plans').status_code
        )

    def test_the_cookie_needs_https_where_the_page_has_it(self) -> None:
        response = self.visitor._client.simulate_get(
            '/dashboard/login', protocol='https', host='localhost'
        )
        self.assertIn('; Secure', response.headers['Set-Cookie'])

    def test_a_login_never_leads_to_another_site(self) -> None:
        for target in (
            'https://example.org/dashboard',
            '//example.org/dashboard',
            '/\\example.org',
            '/dashboard\\..\\..',
            '/v1/action_plans',
            '/dashboardx',
        ):
            with self.subTest(target):
                visitor = Visitor(self.site.application)
                query = parse.urlencode({'next': target})
                form = visitor.get(f'/dashboard/login?{query}').form('/login')
                self.assertEqual('', form.hidden['next'])
                body = parse.urlencode(
                    {
                        **form.hidden,
                        'user': 'boss',
                        'password': 'secret',
                        'next': target,
                    }
                )
                response = visitor.request('POST', form.action, body)
                self.assertEqual(303, response.status_code)
                self.assertEqual(
                    '/dashboard', parse.urlsplit(response.headers['Location']).path
                )

    def test_credentials_of_the_browser_do_not_replace_a_session(self) -> None:
        # Otherwise a browser would also send the credentials with forms of other sites.
        response = self.visitor.request(
            'GET', '/dashboard', Authorization='Basic Ym9zczpzZWNyZXQ='
        )
        self.assertEqual(303, response.status_code)


class ProxyFixture(SessionFixture):
    """Headers of a proxy are trusted."""

    options: ClassVar[dict[tuple[str, str], Any]] = {
        **SessionFixture.options,
        ('oslo_middleware', 'enable_proxy_headers_parsing'): True,
    }

    def configure(self, configuration: conf.Configuration) -> None:
        super().configure(configuration)
        configuration.register_opts(http_proxy_to_wsgi.OPTS, 'oslo_middleware')


def without_host(address: str) -> str:
    """Return the path and the query of an address."""
    return parse.urlsplit(address)._replace(scheme='', netloc='').geturl()


class ProxiedVisitor(Visitor):
    """A user behind a proxy that serves the application below /cloud."""

    prefix = '/cloud'

    def request(
        self, method: str, path: str, body: str | None = None, **headers: str
    ) -> testing.Result:
        headers['X_Forwarded_Prefix'] = self.prefix
        path = without_host(path).removeprefix(self.prefix)
        return super().request(method, path, body, **headers)


class TestPrefix(base.TestCase):
    """The pages below the prefix of a proxy."""

    def setUp(self) -> None:
        super().setUp()
        self.visitor = ProxiedVisitor(ProxyFixture.of(self).application)

    def log_in(self, page: str) -> Shown:
        form = self.visitor.get(f'/cloud/dashboard{page}')
        return self.visitor.submit(form, '/login', user='boss', password='secret')

    def test_every_link_of_every_page_has_the_prefix(self) -> None:
        plan = '/action_plans/aaaaaaaa-0000-4000-8000-000000000001'
        shown = self.log_in(f'{plan}?state=PENDING')
        self.assertIn('Action plan', shown.text)
        paths = {
            plan,
            *(f'/{entry.path}' for entry in pages.NAVIGATION),
            *(
                link.removeprefix('/cloud/dashboard')
                for link in shown.links
                if '/actions/' in link
            ),
        }
        for path in paths:
            with self.subTest(path):
                page = self.visitor.get(f'/cloud/dashboard{path}')
                self.assertEqual(200, page.status)
                addresses = {
                    value
                    for _, attributes in page.tags
                    for name, value in attributes.items()
                    if value and value.startswith('/')
                }
                self.assertLess(10, len(addresses))
                self.assertEqual(
                    [], [a for a in addresses if not a.startswith('/cloud/dashboard')]
                )

    def test_every_redirection_and_the_cookie_have_the_prefix(self) -> None:
        response = self.visitor.request('GET', '/dashboard/strategies/a%20b?x=%20')
        self.assertEqual(
            '/cloud/dashboard/login?next=%2Fcloud%2Fdashboard%2Fstrategies'
            '%2Fa%2520b%3Fx%3D%2520',
            without_host(response.headers['Location']),
        )
        response = self.visitor.request('GET', '/dashboard/login')
        self.assertIn('; Path=/cloud/dashboard;', response.headers['Set-Cookie'])
        page = self.log_in('/action_plans/aaaaaaaa-0000-4000-8000-000000000001')
        for action, target in (
            (
                '/cancel',
                '/action_plans/aaaaaaaa-0000-4000-8000-000000000001?done=cancelled',
            ),
            ('/logout', '/login'),
        ):
            form = page.form(action)
            response = self.visitor.request(
                'POST', form.action, parse.urlencode(form.hidden)
            )
            location = without_host(response.headers['Location'])
            self.assertEqual(f'/cloud/dashboard{target}', location)

    def test_two_prefixes_do_not_mix(self) -> None:
        path = '/action_plans/aaaaaaaa-0000-4000-8000-000000000001'
        self.log_in(path)
        self.visitor.prefix = '/other'
        page = self.visitor.get(f'/other/dashboard{path}')
        self.assertEqual([], [link for link in page.links if '/cloud' in link])

    def test_a_prefix_cannot_name_another_site(self) -> None:
        self.visitor.prefix = '//example.org; Domain=example.org'
        response = self.visitor.request('GET', '/dashboard/login')
        self.assertIn(
            '; Path=/example.org%3B%20Domain%3Dexample.org/dashboard;',
            response.headers['Set-Cookie'],
        )
        self.assertNotIn('"//', response.text)


class TestUntrustedPrefix(LoginCase):
    def test_a_prefix_is_ignored_unless_headers_of_a_proxy_are_trusted(self) -> None:
        response = self.visitor.request('GET', '/dashboard', X_Forwarded_Prefix='/evil')
        self.assertEqual(
            '/dashboard/login?next=%2Fdashboard',
            without_host(response.headers['Location']),
        )


class TestSessions(LoginCase):
    def assert_ended(self) -> None:
        self.assertIn('Password', self.visitor.get('/dashboard').text)

    def test_a_logout_ends_the_session_for_its_cookie_too(self) -> None:
        page = self.log_in('boss')
        cookie = self.visitor.cookie
        self.visitor.submit(page, '/logout')
        self.visitor.cookie = cookie
        self.assert_ended()

    def test_a_session_ends_with_its_lifetime(self) -> None:
        self.log_in('boss')
        store = self.site.runtime.store
        sessions = []
        find = store.find_session

        def find_expired(digest):
            session = find(digest)
            sessions.append(session)
            return type(session)(
                session.digest,
                session.credentials,
                session.created_at,
                self.site.runtime.clock.now(),
            )

        self.patch(store, 'find_session', find_expired)
        self.assert_ended()
        (session, *_) = sessions
        self.assertEqual(
            datetime.timedelta(hours=8), session.expires_at - session.created_at
        )

    def test_a_session_ends_when_the_password_changes_or_the_user_is_removed(
        self,
    ) -> None:
        users = self.site.directory / 'htpasswd'
        for hashed in (bcrypt.hashpw(b'other', bcrypt.gensalt(4)).decode(), None):
            with self.subTest(hashed):
                before = users.read_text()
                self.visitor.cookie = ''
                self.assertIn('Overview', self.log_in('boss').text)
                lines = [line for line in before.splitlines() if 'boss' not in line]
                users.write_text(
                    '\n'.join([*lines, f'boss:{hashed}'][: None if hashed else -1])
                )
                self.assert_ended()
                users.write_text(before)

    def test_the_database_has_neither_the_cookie_nor_the_password(self) -> None:
        self.log_in('boss')
        with contextlib.closing(self.site.runtime.store.engine.raw_connection()) as raw:
            data = raw.driver_connection.serialize()
        self.assertNotIn(self.visitor.cookie.encode(), data)
        self.assertNotIn(b'{"user"', data)
        self.assertNotIn(b'"secret"', data)
        self.assertIn(
            hashlib.sha256(self.visitor.cookie.encode()).hexdigest().encode(), data
        )


class TestRoles(LoginCase):
    def test_a_user_sees_only_permitted_pages(self) -> None:
        for user, actions in (
            ('reader', ['logout']),
            ('boss', ['logout', 'start', 'cancel', 'skip']),
        ):
            with self.subTest(user):
                self.visitor.cookie = ''
                page = self.log_in(
                    user, page='/action_plans/aaaaaaaa-0000-4000-8000-000000000001'
                )
                self.assertEqual(actions, page.actions())
                self.assertIn(user, page.text)

    def test_a_form_that_the_policies_refuse_is_refused_by_the_api(self) -> None:
        path = '/dashboard/action_plans/aaaaaaaa-0000-4000-8000-000000000001'
        page = self.log_in('reader')
        token = page.form('/logout').hidden['form_token']
        response = self.visitor.request('POST', f'{path}/start', f'form_token={token}')
        self.assertEqual(403, response.status_code)
        self.assertIn('Policy doesn&#39;t allow action_plan:start', response.text)
