"""The output of lists and objects in every format."""

from tests.functional.cli import api_objects
from tests.functional.cli.fake_api import ApiCommandCase


class ListFormatTest(ApiCommandCase):
    def setUp(self):
        super().setUp()
        other = api_objects.copy_with(
            api_objects.GOAL, uuid=api_objects.PLAN_UUID, name='dummy'
        )
        self.api.responses['GET /v1/goals'] = api_objects.page(
            'goals', api_objects.GOAL, other
        )

    def test_lists_are_printed_in_every_format(self):
        for argv, expected in (
            (
                '',
                f"""\
+--------------------------------------+----------------------+----------------------+
| UUID                                 | Name                 | Display name         |
+--------------------------------------+----------------------+----------------------+
| {api_objects.GOAL_UUID} | server_consolidation | Server Consolidation |
| {api_objects.PLAN_UUID} | dummy                | Server Consolidation |
+--------------------------------------+----------------------+----------------------+
""",
            ),
            (
                '-f json',
                f"""\
[
  {{
    "UUID": "{api_objects.GOAL_UUID}",
    "Name": "server_consolidation",
    "Display name": "Server Consolidation"
  }},
  {{
    "UUID": "{api_objects.PLAN_UUID}",
    "Name": "dummy",
    "Display name": "Server Consolidation"
  }}
]
""",
            ),
            (
                '--format yaml',
                f"""\
- Display name: Server Consolidation
  Name: server_consolidation
  UUID: {api_objects.GOAL_UUID}
- Display name: Server Consolidation
  Name: dummy
  UUID: {api_objects.PLAN_UUID}
""",
            ),
            (
                '-o csv',
                f"""\
"UUID","Name","Display name"
"{api_objects.GOAL_UUID}","server_consolidation","Server Consolidation"
"{api_objects.PLAN_UUID}","dummy","Server Consolidation"
""",
            ),
            (
                '-f value -c UUID -c name',
                f"""\
{api_objects.GOAL_UUID} server_consolidation
{api_objects.PLAN_UUID} dummy
""",
            ),
        ):
            self.assertEqual(expected, self.succeed(*f'goal list {argv}'.split()), argv)

    def test_unknown_columns_are_reported_with_the_valid_columns(self):
        for columns in (('-c', 'nmae'), ('-c', 'UUID', '-c', 'nmae')):
            self.assertEqual(
                (2, 'unknown column nmae; the columns are UUID, Name, Display name'),
                self.fail('goal', 'list', *columns),
            )

    def test_detailed_and_empty_lists_have_headings(self):
        self.api.responses['GET /v1/goals/detail'] = api_objects.page(
            'goals', api_objects.GOAL
        )

        self.assertEqual(
            'released_nodes_ratio (%): Ratio of released nodes.',
            self.succeed('goal', 'list', '--detail', '--fit-width')
            .splitlines()[3]
            .split('|')[4]
            .strip(),
        )
        self.api.responses['GET /v1/goals'] = api_objects.page('goals')

        # Every command accepts the options of configuration files.
        named = ('--config-file', 'x.conf', '--config-dir=y')
        self.assertEqual('[]\n', self.succeed('goal', 'list', '-f', 'json', *named))
        self.assertEqual(
            '"UUID","Name","Display name"\n', self.succeed('goal', 'list', '-f', 'csv')
        )


class ShowFormatTest(ApiCommandCase):
    def setUp(self):
        super().setUp()
        self.api.responses['GET /v1/goals/x'] = api_objects.GOAL

    def test_objects_are_printed_in_every_format(self):
        for argv, expected in (
            (
                '',
                f"""\
+------------------------+----------------------------------------------------+
| Field                  | Value                                              |
+------------------------+----------------------------------------------------+
| UUID                   | {api_objects.GOAL_UUID}               |
| Name                   | server_consolidation                               |
| Display name           | Server Consolidation                               |
| Efficacy specification | released_nodes_ratio (%): Ratio of released nodes. |
+------------------------+----------------------------------------------------+
""",
            ),
            (
                '-f json',
                f"""\
{{
  "UUID": "{api_objects.GOAL_UUID}",
  "Name": "server_consolidation",
  "Display name": "Server Consolidation",
  "Efficacy specification": [
    {{
      "name": "released_nodes_ratio",
      "description": "Ratio of released nodes.",
      "unit": "%",
      "schema": "{{}}"
    }}
  ]
}}
""",
            ),
            (
                '-f yaml',
                f"""\
UUID: {api_objects.GOAL_UUID}
Name: server_consolidation
Display name: Server Consolidation
Efficacy specification:
- description: Ratio of released nodes.
  name: released_nodes_ratio
  schema: '{{}}'
  unit: '%'
""",
            ),
            (
                '-f csv -c UUID -c Name',
                f"""\
"UUID","Name"
"{api_objects.GOAL_UUID}","server_consolidation"
""",
            ),
            (
                '-f value',
                f"""\
{api_objects.GOAL_UUID}
server_consolidation
Server Consolidation
[{{"name": "released_nodes_ratio", "description": "Ratio of released nodes.", \
"unit": "%", "schema": "{{}}"}}]
""",
            ),
            (
                '-f shell -c uuid -c name',
                f'uuid="{api_objects.GOAL_UUID}"\nname="server_consolidation"\n',
            ),
        ):
            self.assertEqual(
                expected, self.succeed(*f'goal show x {argv}'.split()), argv
            )

    def test_control_characters_are_not_written_to_the_output(self):
        self.api.responses['GET /v1/goals/x'] = api_objects.copy_with(
            api_objects.GOAL, name='\x1b[2Jgone\rhere'
        )

        self.assertIn(' [2Jgone here ', self.succeed('goal', 'show', 'x'))
        for form in ('value', 'shell'):
            with self.subTest(form=form):
                output = self.succeed('goal', 'show', 'x', '-f', form)
                self.assertIn(' [2Jgone here', output)
                self.assertEqual(set(), {'\x1b', '\r'} & set(output))

    def test_columns_unknown_to_an_early_version_are_omitted(self):
        plan = api_objects.copy_with(api_objects.PLAN)
        del plan['status_message'], plan['progress']
        self.api.responses[f'GET /v1/action_plans/{api_objects.PLAN_UUID}'] = plan

        out = self.succeed(
            'actionplan', 'show', api_objects.PLAN_UUID, '-f', 'json', '--noindent'
        )

        self.assertNotIn('Status Message', out)
        self.assertNotIn('Progress', out)
        self.assertIn('"Hostname": null, "Name": "nightly"', out)
