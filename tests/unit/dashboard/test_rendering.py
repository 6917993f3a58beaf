"""Times, durations and data in pages."""

import datetime
from typing import Any

import jinja2

from tests import base
from tests.factories import NOW
from watcherlite.dashboard import rendering


class TestTimes(base.TestCase):
    def test_a_time_is_shown_in_utc_with_its_exact_value(self) -> None:
        for value in (
            '2026-11-20T15:52:42.614603',
            '2026-11-20T15:52:42.614603+00:00',
            '2026-11-20T17:52:42.614603+02:00',
        ):
            self.assertEqual(
                '<time datetime="2026-11-20T15:52:42.614603+00:00" '
                'title="2026-11-20 15:52:42.614603 UTC">2026-11-20 15:52:42</time>',
                rendering.time(value),
            )

    def test_no_time_is_a_dash(self) -> None:
        self.assertEqual('<span class="none">–</span>', rendering.time(None))

    def test_durations_have_the_unit_of_their_size(self) -> None:
        begin = NOW.isoformat()
        for seconds, expected in (
            (0.04, '0.0 s'),
            (59.94, '59.9 s'),
            (60, '1 min 0 s'),
            (3599, '59 min 59 s'),
            (3600, '1 h 0 min'),
            (90061, '25 h 1 min'),
            (-5, '0.0 s'),
        ):
            with self.subTest(seconds):
                end = NOW + datetime.timedelta(seconds=seconds)
                self.assertEqual(
                    expected, rendering.duration(begin, end.isoformat(), NOW)
                )
                self.assertEqual(expected, rendering.duration(begin, None, end))
        self.assertEqual('', rendering.duration(None, None, NOW))


class TestTexts(base.TestCase):
    def test_a_label_fits_into_its_node(self) -> None:
        self.assertEqual('a' * 24, rendering.label('a' * 24))
        self.assertEqual('a' * 23 + '…', rendering.label('a' * 25))

    def test_templates_escape_values_and_refuse_unknown_names(self) -> None:
        environment = rendering.environment()
        hostile = {'value': '<b onclick="x">'}
        self.assertEqual(
            '&lt;b onclick=&#34;x&#34;&gt; {\n  &#34;value&#34;: '
            '&#34;&lt;b onclick=\\&#34;x\\&#34;&gt;&#34;\n}',
            environment.from_string('{{ value }} {{ all|pretty }}').render(
                all=hostile, **hostile
            ),
        )
        with self.assertRaises(Exception) as caught:
            environment.from_string('{{ nothing }}').render()
        self.assertEqual('UndefinedError', type(caught.exception).__name__)

    def test_templates_of_an_upgrade_are_not_used_before_a_restart(self) -> None:
        files = {'page.html': "{% include 'part.html' %}", 'part.html': 'old'}
        loader = rendering.read_templates(jinja2.DictLoader(files))

        files.update({'page.html': 'new', 'part.html': '{{ new }}', 'new.html': ''})

        environment = jinja2.Environment(loader=loader, auto_reload=False)
        self.assertEqual('old', environment.get_template('page.html').render())
        with self.assertRaises(jinja2.TemplateNotFound):
            environment.get_template('new.html')


class TestAges(base.TestCase):
    def test_the_precision_of_an_age_decreases(self) -> None:
        for seconds, expected in (
            (5.25, '5.2 s'),
            (125, '2 min 5 s'),
            (47 * 3600 + 120, '47 h 2 min'),
            (49 * 3600, '2 d 1 h'),
        ):
            begin = NOW - datetime.timedelta(seconds=seconds)
            element = rendering.age(begin.isoformat(), NOW)
            self.assertIn(f'>{expected}</span>', element)
            self.assertIn(f'title="{begin:%Y-%m-%d %H:%M:%S.%f} UTC"', element)


class TestPlanActions(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.rendered: list[str] = []
        environment = rendering.environment()
        get_template = environment.get_template

        def count(name: str, *parents: str) -> Any:
            if name == 'plan_action.html':
                self.rendered.append(name)
            return get_template(name, *parents)

        self.patch(environment, 'get_template', count)
        self.parts = rendering.PlanActions(environment)

    def test_actions_are_rendered_again_only_when_they_have_changed(self) -> None:
        actions = [make_shown_action(name) for name in ('first', '<second>')]
        places = {action['uuid']: (0, 0) for action in actions}
        rows = self.parts.rows('', actions, NOW, True)
        nodes = self.parts.nodes('', actions, places)
        self.assertEqual(4, len(self.rendered))

        self.assertEqual(rows, self.parts.rows('', actions, NOW, True))
        self.assertEqual(nodes, self.parts.nodes('', actions, places))
        self.assertEqual(4, len(self.rendered))

        actions[1].update(state='SKIPPED', shown_state='SKIPPED')
        changed = self.parts.rows('', actions, NOW, True)
        self.assertEqual(5, len(self.rendered))
        self.assertEqual(rows.split('</tr>')[0], changed.split('</tr>')[0])
        self.assertIn('state-skipped', changed)
        self.assertNotIn('<second>', changed)

    def test_only_pending_actions_can_be_chosen_by_users_who_may_skip(self) -> None:
        ended = {**make_shown_action('ended'), 'state': 'FAILED'}
        actions = [make_shown_action('first'), ended]

        both = self.parts.rows('', actions, NOW, True)
        neither = self.parts.rows('', actions, NOW, False)

        self.assertEqual(
            [(1, 14), (0, 12)],
            [(rows.count('<input'), rows.count('<td')) for rows in (both, neither)],
        )


def make_shown_action(name: str) -> dict[str, Any]:
    """Return an action as the page of a plan shows it."""
    return {
        'uuid': f'uuid of {name}',
        'name': name,
        'action_type': 'nop',
        'state': 'PENDING',
        'shown_state': 'PENDING',
        'status_message': None,
        'after': '',
        'start_time': None,
        'end_time': None,
    }
