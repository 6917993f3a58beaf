"""The appearance of pages: contrast, light and dark, and the screenshots of the docs.

With WATCHERLITE_TEST_SCREENSHOTS, the name of a directory, the pages are saved there.
"""

import os
import pathlib

from tests.acceptance.daemons import wait_until
from tests.acceptance.dashboard.browser import PHONE
from tests.acceptance.dashboard.test_stories import DashboardCase

#: Texts whose contrast with their background is below that of WCAG 2.2, 1.4.3 (AA).
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

#: A night of maintenance: one host after the other.
MAINTENANCE = {
    'name': 'maintenance of rack 7',
    'on_failure': 'continue',
    'actions': [
        {'name': 'disable', 'action_type': 'nop', 'input_parameters': {'message': ''}},
        *(
            {
                'name': f'{step}-{host}',
                'action_type': 'sleep' if step == 'upgrade' else 'nop',
                'input_parameters': {'duration': 3600 if host == 3 else 0.1}
                if step == 'upgrade'
                else {'message': '', 'fail_execute': step == 'verify' and host == 2},
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


class TestAppearance(DashboardCase):
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

    def save(self, browser, name):
        """Save a page, if a directory is named."""
        directory = os.environ.get('WATCHERLITE_TEST_SCREENSHOTS')
        if directory:
            path = pathlib.Path(directory, f'dashboard-{name}.png')
            browser.driver.save_screenshot(str(path))

    def test_texts_have_contrast_in_light_and_in_dark_pages(self):
        for dark in (False, True):
            browser = self.open(dark=dark)
            for name, path in self.pages().items():
                with self.subTest(f'{name} {dark}'):
                    browser.driver.get(f'{self.url}/dashboard{path}')
                    found = browser.driver.execute_script(LOW_CONTRAST)
                    self.assertEqual([], found)
                    self.save(browser, f'{name}-dark' if dark else name)
            self.assertEqual([], browser.problems())

    def test_a_phone_shows_a_running_plan(self):
        browser = self.open(f'/action_plans/{self.night}', size=PHONE)
        self.assertIn('verify-2', browser.text('#actions'))
        self.save(browser, 'phone')
