"""The appearance of pages: contrast, light and dark mode, and the screenshots.

If WATCHERLITE_TEST_SCREENSHOTS names a directory, the pages are saved there.
"""

import base64
import os
import pathlib

import bcrypt
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.acceptance.daemons import STANDALONE, wait_until
from tests.acceptance.dashboard.browser import PHONE
from tests.acceptance.dashboard.test_workflows import DashboardCase

#: Finds texts whose contrast is below that of WCAG 2.2, 1.4.3 (AA).
LOW_CONTRAST = """
const channel = (value) => {
  const part = value / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
};
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const luminance = ([r, g, b]) =>
  0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const background = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = parse(getComputedStyle(at).backgroundColor);
    if (colour.length === 3 || colour[3] > 0) {
      return colour;
    }
  }
  return [255, 255, 255];
};
const found = [];
for (const element of document.querySelectorAll('body *')) {
  const texts = [...element.childNodes].filter(
    (node) => node.nodeType === 3 && node.textContent.trim());
  if (!texts.length || element.closest('svg, template, script, .skip-link')) {
    continue;
  }
  const [one, other] = [
    luminance(parse(getComputedStyle(element).color)),
    luminance(background(element)),
  ].sort((a, b) => b - a);
  const ratio = (one + 0.05) / (other + 0.05);
  if (ratio < 4.5) {
    found.push(`${texts[0].textContent.trim()}: ${ratio.toFixed(2)}`);
  }
}
return found;
"""


def _maintenance_step(step, host):
    """Return the type and the inputs of a step of the maintenance."""
    if step == 'upgrade':
        duration = 3600 if host == 3 else 0.1
        return {'action_type': 'sleep', 'input_parameters': {'duration': duration}}
    if (step, host) == ('verify', 2):
        argv = ['/bin/cat', '/dev/null', '/srv/compute-2/version']
        return {'action_type': 'command', 'input_parameters': {'argv': argv}}
    return {'action_type': 'nop', 'input_parameters': {'message': ''}}


#: The maintenance of hosts, one after the other.
MAINTENANCE = {
    'name': 'maintenance of rack 7',
    'on_failure': 'continue',
    'actions': [
        {'name': 'disable', 'action_type': 'nop', 'input_parameters': {'message': ''}},
        *(
            {
                'name': f'{step}-{host}',
                **_maintenance_step(step, host),
                'parents': [parent.format(host)],
                'target': f'compute-{host}',
            }
            for host in (1, 2, 3)
            for step, parent in (
                ('drain', 'disable'),
                ('upgrade', 'drain-{}'),
                ('verify', 'upgrade-{}'),
            )
        ),
        {
            'name': 'enable',
            'action_type': 'nop',
            'input_parameters': {'message': ''},
            'parents': ['verify-1', 'verify-2', 'verify-3'],
        },
    ],
}


STACK = {
    'heat_template_version': '2018-08-31',
    'resources': {
        'database': {'type': 'OS::Heat::None'},
        'web': {'type': 'OS::Heat::None', 'depends_on': 'database'},
        'cache': {'type': 'OS::Heat::None', 'depends_on': 'database'},
        'balancer': {'type': 'OS::Heat::None', 'depends_on': ['web', 'cache']},
    },
}
#: The size of the screenshots.
DOCUMENTED = (1024, 720)
CREATED, LOCKED = 'CREATE_COMPLETE', 'LOCK_COMPLETE'


class AppearanceCase(DashboardCase):
    """Checks the contrast of pages, and saves them."""

    def check_page(self, browser, name, dark):
        """Check the contrast of the page that is shown, and save it."""
        self.assertEqual([], browser.driver.execute_script(LOW_CONTRAST))
        self.save(browser, f'{name}-dark' if dark else name)

    def save(self, browser, name):
        """Save a page, if a directory is named."""
        directory = os.environ.get('WATCHERLITE_TEST_SCREENSHOTS')
        if directory:
            path = pathlib.Path(directory, f'dashboard-{name}.png')
            browser.driver.save_screenshot(str(path))


class TestAppearance(AppearanceCase):
    def setUp(self):
        super().setUp()
        self.night = self.create(MAINTENANCE)
        uuids = self.actions(self.night)
        skip = [
            {'op': 'replace', 'path': '/state', 'value': 'SKIPPED'},
            {'op': 'replace', 'path': '/status_message', 'value': 'upgraded yesterday'},
        ]
        self.ask(
            self.port,
            'PATCH',
            f'/v1/actions/{uuids["upgrade-1"][0]}',
            skip,
            OpenStack_API_Version='infra-optim 1.7',
        )
        self.ask(self.port, 'POST', f'/v1/action_plans/{self.night}/start', {})
        wait_until(
            lambda: self.actions(self.night)['verify-2'][1] == 'FAILED',
            lambda: f'verify-2 fails: {self.actions(self.night)}',
        )
        self.skipped = uuids['upgrade-1'][0]

    def actions(self, plan):
        """Return name -> (uuid, state) of the actions of a plan."""
        _, body = self.ask(
            self.port, 'GET', f'/v1/actions/detail?action_plan_uuid={plan}'
        )
        return {a['name']: (a['uuid'], a['state']) for a in body['actions']}

    def prepare_all(self):
        """Store an object of each kind; return name of the screenshot -> path."""
        failed = self.actions(self.night)['verify-2'][0]
        audit = {'goal': 'dummy', 'strategy': 'dummy', 'audit_type': 'ONESHOT'}
        template = {'goal': 'dummy', 'strategy': 'dummy'}
        _, audit = self.ask(
            self.port, 'POST', '/v1/audits', {**audit, 'name': 'weekly'}
        )
        _, template = self.ask(
            self.port, 'POST', '/v1/audit_templates', {**template, 'name': 'nightly'}
        )
        stack = self.prepare_stack()
        cluster = self.prepare_cluster()
        node = self.wait_for_resource(
            '/clustering/v1/nodes', lambda body: len(body['nodes']) == 2
        )['nodes'][0]['id']
        return {
            **self.pages(),
            'actions': '/actions',
            'failed-action': f'/actions/{failed}',
            'audits': '/audits',
            'audit': f'/audits/{audit["uuid"]}',
            'audit-templates': '/audit_templates',
            'audit-template': f'/audit_templates/{template["uuid"]}',
            'strategy': '/strategies/dummy',
            'stacks': '/stacks',
            'stack': f'/stacks/shop/{stack}',
            'clusters': '/clusters',
            'cluster': f'/clusters/{cluster}',
            'nodes': '/nodes',
            'node': f'/nodes/{node}',
            'services': '/services',
            'notifications': '/notifications',
            'requests': '/requests',
            'plugins': '/plugins',
        }

    def prepare_stack(self):
        """Store a locked stack; return its id."""
        place = '/orchestration/v1/default/stacks'
        body = {'stack_name': 'shop', 'template': STACK}
        _, created = self.ask(self.port, 'POST', place, body)
        found = f'{place}/shop/{created["stack"]["id"]}'
        self.wait_for_resource(
            found, lambda body: body['stack']['stack_status'] == CREATED
        )
        self.ask(self.port, 'POST', f'{found}/actions', {'lock': {'level': 'all'}})
        self.wait_for_resource(
            found, lambda body: body['stack']['stack_status'] == LOCKED
        )
        return created['stack']['id']

    def prepare_cluster(self):
        """Store a cluster of two nodes; return its id."""
        spec = {
            'type': 'os.heat.stack',
            'version': '1.0',
            'properties': {'template': STACK},
        }
        profile = {'profile': {'name': 'shop', 'spec': spec}}
        _, made = self.ask(self.port, 'POST', '/clustering/v1/profiles', profile)
        cluster = {
            'name': 'front',
            'profile_id': made['profile']['id'],
            'desired_capacity': 2,
        }
        _, made = self.ask(
            self.port, 'POST', '/clustering/v1/clusters', {'cluster': cluster}
        )
        uuid = made['cluster']['id']
        self.wait_for_resource(
            f'/clustering/v1/clusters/{uuid}',
            lambda body: body['cluster']['status'] == 'ACTIVE',
        )
        return uuid

    def wait_for_resource(self, path, holds):
        """Return the body of a resource once it meets a condition."""

        def find():
            _, body = self.ask(self.port, 'GET', path)
            return body if holds(body) else None

        return wait_until(find, lambda: f'{path}: {self.ask(self.port, "GET", path)}')

    def pages(self):
        """Return name of the screenshot -> path."""
        return {
            'overview': '',
            'action-plans': '/action_plans',
            'action-plan': f'/action_plans/{self.night}',
            'action': f'/actions/{self.skipped}',
            'new-audit': '/audits/new?strategy=dummy',
            'goals': '/goals',
        }

    def test_texts_have_contrast_in_light_and_in_dark_pages(self):
        pages = self.prepare_all()
        for dark in (False, True):
            browser = self.open(dark=dark, size=DOCUMENTED)
            for name, path in pages.items():
                with self.subTest(f'{name} {dark}'):
                    browser.driver.get(f'{self.url}/dashboard{path}')
                    self.check_page(browser, name, dark)
            self.assertEqual([], browser.problems())

    def test_every_page_fits_a_phone(self):
        browser = self.open(size=PHONE)
        for name, path in self.prepare_all().items():
            with self.subTest(name):
                browser.driver.get(f'{self.url}/dashboard{path}')
                width = browser.driver.execute_script(
                    'return document.documentElement.scrollWidth'
                )
                self.assertLessEqual(width, PHONE[0], name)

    def test_a_phone_shows_a_running_plan(self):
        browser = self.open(f'/action_plans/{self.night}', size=PHONE)
        self.assertIn('verify-2', browser.text('#actions'))
        self.save(browser, 'phone')


class LoginCase(DashboardCase):
    """A daemon with http_basic and the user alice, an administrator."""

    def serve_dashboard(self):
        _, self.port = self.serve(STANDALONE, **self.daemon_options())

    def daemon_options(self):
        """Return the options of the daemon by group."""
        users = self.home / 'htpasswd'
        hashed = bcrypt.hashpw(b'secret', bcrypt.gensalt(4)).decode()
        users.write_text(f'alice:{hashed}\n')
        api = {
            'port': 0,
            'auth_strategy': 'http_basic',
            'http_basic_auth_user_file': users,
            'http_basic_user_roles': 'alice:admin',
        }
        return {'api': api}

    def create(self, document):
        """Store a plan; return its uuid."""
        credentials = base64.b64encode(b'alice:secret').decode()
        _, plan = self.ask(
            self.port,
            'POST',
            '/v1/action_plans',
            document,
            Authorization=f'Basic {credentials}',
        )
        return plan['uuid']

    def log_in(self, browser, password):
        """Fill in the form, and submit it by Enter."""
        fields = {'user': 'alice', 'password': f'{password}{Keys.ENTER}'}
        for name, value in fields.items():
            field = browser.driver.find_element(By.ID, name)
            field.clear()
            field.send_keys(value)


class TestLogin(AppearanceCase, LoginCase):
    """The login form of http_basic, and the session of its user."""

    def test_a_login_leads_to_the_requested_page_until_the_logout(self):
        path = f'/action_plans/{self.plan}'
        for dark in (False, True):
            browser = self.open(path, dark=dark, size=DOCUMENTED)
            self.assertEqual('Log in', browser.text('h1'))
            self.check_page(browser, 'login', dark)

            self.log_in(browser, 'wrong')
            browser.wait_for_text('The user or the password is wrong.')
            self.assertEqual([], browser.driver.execute_script(LOW_CONTRAST))
            # Chromium reports the status of the refusal.
            self.assertIn('403', '\n'.join(browser.problems()))

            self.log_in(browser, 'secret')
            browser.wait_for_text('Action plan maintenance', 'h1')
            self.assertTrue(browser.driver.current_url.endswith(path))
            [cookie] = browser.driver.get_cookies()
            self.assertEqual((True, 'Lax'), (cookie['httpOnly'], cookie['sameSite']))
            self.assertEqual([], browser.problems())

            browser.click('Log out')
            browser.wait_for_text('Log in', 'h1')
            browser.driver.get(f'{self.url}/dashboard{path}')
            self.assertEqual('Log in', browser.text('h1'))
