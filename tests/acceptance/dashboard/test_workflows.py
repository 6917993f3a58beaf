"""Spec 000 in the dashboard: an action is skipped with a reason."""

import functools
import json
import os
import urllib.request
from urllib import parse

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.acceptance.daemons import STANDALONE, wait_until
from tests.acceptance.dashboard.browser import Browser
from tests.acceptance.test_api import ApiCase

COMMAND = 'watcherlite.action_types.command'
#: The maintenance of a host: the migration waits until it is resumed.
DOCUMENT = {
    'name': 'maintenance',
    'actions': [
        {'name': 'disable', 'action_type': 'nop', 'input_parameters': {'message': ''}},
        {
            'name': 'migrate',
            'action_type': 'sleep',
            'input_parameters': {'duration': 0.5},
            'parents': ['disable'],
        },
        {
            'name': 'notify',
            'action_type': 'nop',
            'input_parameters': {'message': ''},
            'parents': ['migrate'],
        },
    ],
}


class DashboardCase(ApiCase):
    """A daemon with an action plan, and browsers."""

    def setUp(self):
        super().setUp()
        self.serve_dashboard()
        self.url = f'http://127.0.0.1:{self.port}'
        self.plan = self.create(DOCUMENT)

    def serve_dashboard(self):
        """Start the daemon."""
        _, self.port = self.serve(
            STANDALONE, **{COMMAND: {'allowed': '/bin/cat {value} {value}'}}
        )

    def create(self, document):
        """Store a plan; return its uuid."""
        _, plan = self.ask(self.port, 'POST', '/v1/action_plans', document)
        return plan['uuid']

    def open(self, path='', **options):
        """Return a browser that displays a page."""
        browser = self.useFixture(Browser(**options))
        browser.driver.get(f'{self.url}/dashboard{path}')
        return browser

    def states(self):
        """Return name -> (state, reason) of the actions of the plan."""
        path = f'/v1/actions/detail?action_plan_uuid={self.plan}'
        request = urllib.request.Request(
            self.url + path, headers={'OpenStack-API-Version': 'infra-optim 1.7'}
        )
        with urllib.request.urlopen(request) as response:
            actions = json.load(response)['actions']
        return {a['name']: (a['state'], a['status_message']) for a in actions}


class TestPlanWorkflow(DashboardCase):
    def run_plan(self, browser):
        """Skip the last action with a reason, and start the plan."""
        browser.wait_for_text('Waiting for a decision')
        browser.click('maintenance')
        browser.wait_for_text('RECOMMENDED', '#summary')
        browser.driver.find_element(
            By.CSS_SELECTOR, 'input[aria-label="Skip notify"]'
        ).click()
        browser.click('Skip the chosen actions…')
        browser.driver.find_element(By.ID, 'skip-reason').send_keys('a quiet night')
        browser.click('Skip')
        browser.wait_for_text('The chosen actions were skipped.')
        browser.wait_for_text('Action skipped by user. Reason: a quiet night')
        browser.click('Start…')
        browser.click('Start', '#summary form')
        browser.wait_for_text('The action plan was started.')

    def assert_done(self):
        """Assert that all actions except the skipped one have been executed."""
        self.assertEqual(
            {
                'disable': ('SUCCEEDED', None),
                'migrate': ('SUCCEEDED', None),
                'notify': ('SKIPPED', 'Action skipped by user. Reason: a quiet night'),
            },
            self.states(),
        )

    def test_an_action_is_skipped_and_the_page_follows_the_plan_without_a_reload(self):
        browser = self.open()

        self.run_plan(browser)
        browser.driver.execute_script('window.sameDocument = true')
        browser.wait_for_text('SUCCEEDED', '#summary dl dd')

        self.assert_done()
        self.assertTrue(browser.driver.execute_script('return window.sameDocument'))
        labels = {
            node.get_attribute('aria-label')
            for node in browser.driver.find_elements(By.CSS_SELECTOR, 'svg .node')
        }
        self.assertEqual(
            {
                'disable, nop, SUCCEEDED',
                'migrate, sleep, SUCCEEDED',
                'notify, nop, SKIPPED',
            },
            labels,
        )
        browser.wait_for_text('✓ SUCCEEDED 2', '#counts')
        self.assertEqual('✓ SUCCEEDED 2\n↷ SKIPPED 1', browser.text('#counts'))
        self.assertEqual([], browser.problems())

    def test_the_overview_is_refreshed_unless_it_is_in_use(self):
        browser = self.open()
        refresh = "document.dispatchEvent(new Event('visibilitychange'))"
        self.create({**DOCUMENT, 'name': 'nocturne'})
        browser.driver.execute_script(refresh)
        browser.wait_for_text('nocturne')
        # An update of the page must not remove the focused link.
        browser.driver.execute_script("document.querySelector('main a').focus()")
        self.create({**DOCUMENT, 'name': 'scherzo'})
        browser.driver.execute_script(refresh)
        browser.driver.execute_async_script(
            "fetch('/dashboard').then((answer) => answer.text()).then(arguments[0])"
        )
        self.assertNotIn('scherzo', browser.text('main'))
        browser.driver.execute_script('document.activeElement.blur()')
        browser.driver.execute_script(refresh)
        browser.wait_for_text('scherzo')
        self.assertEqual([], browser.problems())

    def test_a_plan_is_run_without_scripts(self):
        browser = self.open(scripts=False)

        self.run_plan(browser)
        browser.wait(
            lambda: (
                browser.driver.refresh()
                or 'SUCCEEDED' in browser.text('#summary dl dd')
            ),
            'the plan does not succeed',
        )

        self.assert_done()

    def test_a_refusal_is_shown_in_the_page(self):
        # With scripts the page would follow the plan, and remove the start button.
        browser = self.open(f'/action_plans/{self.plan}', scripts=False)
        self.ask(
            self.port,
            'PATCH',
            f'/v1/action_plans/{self.plan}',
            [{'op': 'replace', 'path': '/state', 'value': 'CANCELLED'}],
        )
        browser.click('Start…')
        browser.click('Start', '#summary form')

        browser.wait(
            lambda: browser.text('[role=alert]'), 'the page has no error message'
        )
        self.assertIn('CANCELLED', browser.text('#summary'))


class TestAction(DashboardCase):
    def test_a_running_action_is_suspended_resumed_and_cancelled_on_its_page(self):
        document = {
            'actions': [
                {
                    'name': 'rest',
                    'action_type': 'sleep',
                    'input_parameters': {'duration': 3600},
                }
            ]
        }
        plan = self.create(document)
        _, actions = self.ask(self.port, 'GET', f'/v1/actions?action_plan_uuid={plan}')
        browser = self.open(f'/actions/{actions["actions"][0]["uuid"]}')
        self.ask(self.port, 'POST', f'/v1/action_plans/{plan}/start', {})
        for title, button, state in (
            ('Suspend…', 'Suspend', 'SUSPENDED'),
            ('Resume…', 'Resume', 'ONGOING'),
            ('Cancel…', 'Cancel the action', 'CANCELLED'),
        ):
            # The button appears as soon as the state of the action permits it.
            browser.wait(
                lambda title=title: title in browser.text('#summary'),
                f'{title} is not offered',
            )
            browser.click(title)
            browser.click(button, '#summary details[open]')
            browser.wait_for_text(state, '#summary dl dd')
        self.assertEqual([], browser.problems())

    def test_log_and_outputs_of_a_running_command_appear_without_a_reload(self):
        first, rest = self.home / 'first', self.home / 'rest'
        first.write_text('copying <b>disk 1</b>\n')
        os.mkfifo(rest)
        argv = ['/bin/cat', str(first), str(rest)]
        plan = self.create(
            {
                'actions': [
                    {
                        'name': 'copy',
                        'action_type': 'command',
                        'input_parameters': {'argv': argv},
                    }
                ]
            }
        )
        _, found = self.ask(self.port, 'GET', f'/v1/actions?action_plan_uuid={plan}')
        browser = self.open(f'/actions/{found["actions"][0]["uuid"]}')
        self.ask(self.port, 'POST', f'/v1/action_plans/{plan}/start', {})
        browser.wait_for_text('copying <b>disk 1</b>', '#log')
        with open(rest, 'w') as pipe:
            pipe.write('password=s3cret disk 2')
        browser.wait_for_text('SUCCEEDED', '#summary dl dd')
        browser.wait_for_text('password=*** disk 2', '#log')
        browser.wait_for_text('password=*** disk 2', '#outputs')
        self.assertEqual([], browser.problems())


class TestRetryOfLargePlan(DashboardCase):
    """A plan of 1,000 actions fails at action 400, and is retried.

    By mouse and by keyboard with scripts, and without scripts.
    """

    def setUp(self):
        super().setUp()
        self.missing = self.home / 'image'
        argv = ['/bin/cat', str(self.missing), '/dev/null']
        actions = [
            {
                'name': f'step-{number:04}',
                'action_type': 'nop',
                'input_parameters': {'message': ''},
                'parents': ['step-0400'] if number > 400 else [],
            }
            for number in range(1, 1001)
        ]
        actions[399] |= {
            'action_type': 'command',
            'input_parameters': {'argv': argv},
            'parents': ['step-0001', 'step-0399'],
        }
        self.night = self.create(
            {'name': 'night', 'on_failure': 'stop', 'actions': actions}
        )
        query = f'action_plan_uuid={self.night}&limit=1&sort_key=id'
        _, found = self.ask(self.port, 'GET', f'/v1/actions?{query}')
        skip = [
            {'op': 'replace', 'path': '/state', 'value': 'SKIPPED'},
            {'op': 'add', 'path': '/status_message', 'value': 'done by hand'},
        ]
        self.skipped = f'/v1/actions/{found["actions"][0]["uuid"]}'
        self.ask(
            self.port,
            *('PATCH', self.skipped, skip),
            OpenStack_API_Version='infra-optim 1.8',
        )
        self.ask(self.port, 'POST', f'/v1/action_plans/{self.night}/start', {})
        self.wait_for_end(self.night, 'FAILED')
        self.missing.write_text('copied')

    def state(self, plan):
        return self.ask(self.port, 'GET', f'/v1/action_plans/{plan}')[1]['state']

    def wait_for_end(self, plan, state):
        wait_until(
            lambda: self.state(plan) == state,
            lambda: f'{state}, but {self.state(plan)}',
        )

    def retry(self, browser, activate):
        """Find the reason from the overview page, and retry from there.

        :param activate: (text, within) activates a link, a button or a summary
        """
        activate('night', 'main')
        browser.wait_for_text('Failed actions', 'main h2')
        browser.wait_for_text('Reason: done by hand', '#actions tbody tr')
        activate('step-0400', 'main ul')
        browser.wait_for_text('No such file or directory', '#log')
        activate('Retry from here…', '#summary')
        activate('Create the plan', '#summary details[open]')
        browser.wait_for_text('has the actions that did not succeed', '.notice')
        browser.wait_for_text('RECOMMENDED', '#summary')
        activate('Start…', '#summary')
        activate('Start', '#summary details[open]')
        browser.wait_for_text('The action plan was started.', '.notice')
        new = browser.driver.current_url.rpartition('/')[2].partition('?')[0]
        self.wait_for_end(new, 'SUCCEEDED')
        query = f'action_plan_uuid={new}&sort_key=id'
        _, found = self.ask(self.port, 'GET', f'/v1/actions/detail?{query}')
        names = [action['name'] for action in found['actions']]
        self.assertEqual([f'step-{n:04}' for n in range(400, 1001)], names)

    def test_the_reason_is_found_and_the_rest_retried(self):
        # Each starts from the overview after the previous retried plan has ended.
        for way in (Browser.click, Browser.press):
            browser = self.open()
            self.retry(browser, functools.partial(way, browser))
            browser.wait_for_text('SUCCEEDED', '#summary dl dd')
            self.assertEqual([], browser.problems())
        plain = self.open(scripts=False)
        self.retry(plain, plain.click)


class TestAccess(DashboardCase):
    def test_the_keyboard_alone_starts_a_plan(self):
        browser = self.open(f'/action_plans/{self.plan}')

        def press(*keys):
            ActionChains(browser.driver).send_keys(*keys).perform()

        def focused():
            return browser.driver.switch_to.active_element

        press(Keys.TAB)
        self.assertEqual('Skip to the content', focused().text)
        press(Keys.ENTER)
        for _ in range(20):
            press(Keys.TAB)
            if focused().text == 'Start…':
                break
        press(Keys.ENTER, Keys.TAB)
        self.assertEqual('Start', focused().text)
        outline = focused().value_of_css_property('outline-style')
        self.assertEqual('solid', outline)
        press(Keys.ENTER)
        browser.wait_for_text('The action plan was started.')

    def test_times_are_in_the_zone_of_the_viewer_with_the_exact_one_on_hover(self):
        browser = self.open_in_tokyo(f'/action_plans/{self.plan}')
        time = browser.driver.find_element(By.CSS_SELECTOR, 'main time')
        expected = browser.driver.execute_script(
            "return new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', "
            "timeStyle: 'medium', timeZone: 'Asia/Tokyo'})"
            '.format(new Date(arguments[0].dateTime))',
            time,
        )
        self.assertEqual(expected, time.text)
        self.assertRegex(
            time.get_attribute('title'), r'^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} UTC$'
        )

    def test_times_of_filters_are_entered_in_the_zone_of_the_viewer(self):
        asked = 'since=2030-01-31&until=2030-02-01T12%3A00%3A05%2B02%3A00'
        browser = self.open_in_tokyo(f'/action_plans?{asked}')
        driver = browser.driver
        driver.execute_script(
            "window.before = document.getElementById('filter-since');"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )
        browser.wait(
            lambda: driver.execute_script('return !window.before.isConnected'),
            'the page is not refreshed',
        )
        since, until = (
            driver.find_element(By.ID, f'filter-{name}') for name in ('since', 'until')
        )
        shown = [field.get_attribute('value') for field in (since, until)]
        self.assertEqual(['2030-01-31T09:00', '2030-02-01T19:00:05'], shown)
        self.assertIn('Since (local time)', browser.text('.filters'))

        driver.execute_script(
            "arguments[0].value = '2020-01-31T08:30';"
            "arguments[0].dispatchEvent(new Event('input'))",
            since,
        )
        browser.click('Filter')
        browser.wait_for_text('maintenance', 'main table')

        sent = dict(parse.parse_qsl(parse.urlsplit(driver.current_url).query))
        times = {'since': '2020-01-30T23:30', 'until': '2030-02-01T12:00:05+02:00'}
        self.assertEqual(times, sent)

    def open_in_tokyo(self, path):
        """Return a browser in the zone of Tokyo that displays a page."""
        browser = self.useFixture(Browser())
        browser.driver.execute_cdp_cmd(
            'Emulation.setTimezoneOverride', {'timezoneId': 'Asia/Tokyo'}
        )
        browser.driver.get(f'{self.url}/dashboard{path}')
        return browser

    def test_texts_of_others_are_never_scripts(self):
        hostile = (
            '<img src=x onerror="document.title=1"><script>document.title=1</script>'
        )
        document = {
            'name': hostile,
            'actions': [
                {
                    'name': hostile,
                    'action_type': 'nop',
                    'input_parameters': {'message': hostile, 'fail_execute': True},
                }
            ],
        }
        plan = self.create(document)
        browser = self.open(f'/action_plans/{plan}')
        browser.click('Start…')
        browser.click('Start', '#summary form')
        browser.wait_for_text('FAILED', '#summary dl dd')
        self.assertNotEqual('1', browser.driver.title)
        self.assertEqual([], browser.problems())
