"""The dashboard below a prefix of the proxy of the documentation."""

import requests

from tests.acceptance.dashboard.test_appearance import LoginCase
from tests.bounded import TIMEOUT
from tests.haproxy import Haproxy, documented


class TestProxy(LoginCase):
    def serve_dashboard(self):
        super().serve_dashboard()
        self.proxy = self.useFixture(
            Haproxy(documented('dashboard.rst', 'haproxy-prefix'), ':443', self.port)
        )

    def daemon_options(self):
        trusted = {'enable_proxy_headers_parsing': True}
        return {**super().daemon_options(), 'oslo_middleware': trusted}

    def setUp(self):
        super().setUp()
        self.url = f'https://localhost:{self.proxy.port}/watcherlite'

    def test_a_plan_is_run_and_followed_through_the_proxy(self):
        path = f'/action_plans/{self.plan}'
        browser = self.open(path)
        self.assertEqual('Log in', browser.text('h1'))
        self.log_in(browser, 'secret')
        browser.wait_for_text('Action plan maintenance', 'h1')
        self.assertEqual(f'{self.url}/dashboard{path}', browser.driver.current_url)
        [cookie] = browser.driver.get_cookies()
        self.assertEqual(
            ('/watcherlite/dashboard', True), (cookie['path'], cookie['secure'])
        )

        browser.click('Start…')
        browser.click('Start', '#summary form')
        browser.wait_for_text('The action plan was started.')
        browser.driver.execute_script('window.sameDocument = true')
        browser.wait_for_text('SUCCEEDED', '#summary dl dd')
        self.assertTrue(browser.driver.execute_script('return window.sameDocument'))
        browser.click('migrate', '#actions')
        browser.wait_for_text('Action migrate', 'h1')
        self.assertEqual([], browser.problems())

        browser.click('Log out')
        browser.wait_for_text('Log in', 'h1')

    def test_links_of_the_api_have_the_prefix(self):
        response = requests.get(
            f'{self.url}/v1/action_plans/{self.plan}',
            auth=('alice', 'secret'),
            verify=self.proxy.trusted,
            timeout=TIMEOUT,
        )
        self.assertEqual(
            {
                f'{self.url}/v1/action_plans/{self.plan}',
                f'{self.url}/action_plans/{self.plan}',
            },
            {link['href'] for link in response.json()['links']},
        )
