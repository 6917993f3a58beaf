"""A third-party distribution, discovered and executed."""

import json
import pathlib

from tests import base
from tests.functional.third_party.installation import Installation
from watcherlite.engine.clusters import action_types
from watcherlite.plugins import base as contract

ZETA = pathlib.Path(__file__).parents[2] / 'acceptance' / 'zeta'

LIST = """
import dataclasses, json
from watcherlite.plugins import loader

print(json.dumps([dataclasses.astuple(e) for e in loader.load().entries()]))
"""

RUN = """
import json, sys
from watcherlite.plugins import loader
from watcherlite.testing import run_action

kind = loader.load().action_type('greet')
result = run_action(kind, json.loads(sys.argv[1]), options=json.loads(sys.argv[2]))
print(json.dumps([result.status, result.status_message, result.outputs]))
"""

START = """
import json, sys
from watcherlite import conf, exceptions
from watcherlite.plugins import loader

settings = conf.new([], config_files=[sys.argv[1]])
plugins = loader.load(options=settings)
reasons = {}
for name in sys.argv[2:]:
    try:
        made = plugins.make_action_type(name)
        reasons[name] = getattr(made.options, 'word', None)
    except exceptions.PluginError as error:
        reasons[name] = str(error)
print(json.dumps([reasons, conf.unknown_options(settings)]))
"""

HEAVY = """
import json, sys
from watcherlite import conf
from watcherlite.plugins import loader

loader.load(options=conf.new([], config_files=[])).make_action_type('http_request')
print(json.dumps([n for n in ('requests', 'urllib3') if n in sys.modules]))
"""

COMMAND = """
import sys
from watcherlite.cli import main

sys.exit(main.main(['plugin', 'list', '--format', 'json']))
"""

SAMPLE = """
import io, json
from oslo_config import cfg, generator

conf = cfg.ConfigOpts()
generator.register_cli_opts(conf)
conf(['--namespace', 'watcherlite.plugins'])
sample = io.StringIO()
generator.generate(conf, sample)
print(json.dumps(sample.getvalue()))
"""

RESOURCE_OPTIONS = """
import json, sys
from watcherlite import conf
from watcherlite.plugins import loader

settings = conf.new([], config_files=[sys.argv[1]])
plugins = loader.load(options=settings)
made = plugins.make_resource_handler('Zeta::Mark')
print(json.dumps([made.options.target, conf.unknown_options(settings)]))
"""

LAZY = """
import json, sys
from watcherlite.plugins import loader

loader.load().make_action_type('nop')
print(json.dumps([name for name in sys.modules if name.startswith('acme')]))
"""


class TestDistribution(base.TestCase):
    def setUp(self):
        super().setUp()
        self.installation = self.useFixture(Installation())
        self.installation.add()

    def test_every_entry_point_is_listed_with_its_error(self):
        listed = self.installation.run(LIST)

        entries = [entry for entry in listed if entry[2] == 'acme-actions']
        for entry in entries:
            self.assertEqual('1.0', entry[3])
        self.assertEqual(
            [
                (
                    'broken',
                    'acme_broken:Broken',
                    '',
                    'ModuleNotFoundError: No module named '
                    "'acme_library_that_is_not_there'",
                ),
                ('greet', 'acme_actions:Greet', 'Prints a greeting.', None),
                (
                    'invalid_options',
                    'acme_actions:InvalidOptions',
                    '',
                    'TypeError: get_config_opts returned a str, which is not an '
                    'oslo.config option',
                ),
                (
                    'nop',
                    'acme_actions:Greet',
                    '',
                    'the name is taken by watcherlite.plugins.action_types.nop:Nop '
                    'too; uninstall one',
                ),
                (
                    'not_an_action_type',
                    'acme_actions:NotAnActionType',
                    '',
                    'it is no subclass of watcherlite.plugins.base.ActionType',
                ),
                (
                    'quits',
                    'acme_quits:Quits',
                    '',
                    "its module called sys.exit('usage: acme_quits FILE') while it was "
                    'imported',
                ),
                (
                    'permissive',
                    'acme_actions:PermissivePolicy',
                    'A policy that permits everything.',
                    None,
                ),
            ],
            [
                (name, target, text, error)
                for _, name, _, _, target, text, error in entries
            ],
        )
        # The built-in plugins are not affected.
        self.assertEqual(
            dict.fromkeys(
                [
                    *action_types.DEFINITIONS,
                    *('command', 'http_request', 'nop', 'resource_mark_unhealthy'),
                    *('sleep', 'stack_check', 'stack_lock', 'stack_unlock'),
                    *('stack_update', 'change_node_power_state', 'migrate', 'resize'),
                    *('change_nova_service_state', 'start', 'stop', 'volume_migrate'),
                ]
            ),
            {
                name: error
                for space, name, distribution, *_, error in listed
                if (space, distribution) == (contract.ACTION_TYPES, 'watcherlite')
            },
        )

    def test_its_action_runs(self):
        for inputs, options, expected in (
            ({'name': 'you'}, {}, ['SUCCEEDED', None, {'greeting': 'Hello, you!'}]),
            (
                {'name': 'x'},
                {'word': 'Ho'},
                ['SUCCEEDED', None, {'greeting': 'Ho, x!'}],
            ),
            (
                {'name': 'unknown'},
                {},
                [
                    'SKIPPED',
                    'Action was skipped automatically: the name is unknown',
                    None,
                ],
            ),
        ):
            result = self.installation.run(RUN, json.dumps(inputs), json.dumps(options))

            self.assertEqual(expected, result)

    def test_its_options_are_read_from_the_ini_file(self):
        ini = self.home / 'watcherlite.conf'
        ini.write_text('[watcherlite.action_types.greet]\nword = Good day\nwrod = x\n')

        found, unknown = self.installation.run(
            START, str(ini), 'greet', 'broken', 'great'
        )

        self.assertEqual('Good day', found['greet'])
        self.assertEqual(
            'The action type broken (acme_broken:Broken) cannot be used: '
            "ModuleNotFoundError: No module named 'acme_library_that_is_not_there'",
            found['broken'],
        )
        self.assertIn(
            'There is no action type great. Did you mean greet?', found['great']
        )
        self.assertEqual(
            [
                f'{ini}: [watcherlite.action_types.greet] has no option wrod; did you '
                'mean word?'
            ],
            unknown,
        )

    def test_its_options_are_in_the_generated_sample(self):
        sample = self.installation.run(SAMPLE)

        section = sample.partition('[watcherlite.action_types.greet]\n')[2]
        self.assertEqual(
            [
                '# From watcherlite.plugins',
                '# The first word of the greeting. (string value)',
                '#word = Hello',
            ],
            [
                line
                for line in section.partition('\n[')[0].splitlines()
                if line.strip('#')
            ],
        )
        # An unusable plugin does not hide the options of others.
        self.assertIn('[watcherlite.action_types.command]\n', sample)

    def test_the_command_shows_the_origin_and_the_error_of_each_plugin(self):
        self.installation.add_metadata(
            'other-plugins',
            '2.0',
            {
                namespace: [
                    'lost = other_plugins:Lost',
                    'mine = acme_actions:PermissivePolicy',
                ]
                for namespace in contract.NAMESPACES
            },
        )

        rows = [
            row
            for row in self.installation.run(COMMAND)
            if row['Distribution'] == 'other-plugins'
        ]

        self.assertEqual({'2.0'}, {row['Version'] for row in rows})
        wrong = 'it is no subclass of watcherlite.plugins.base.'
        mine = {
            'watcherlite.action_types': f'{wrong}ActionType',
            'watcherlite.resource_handlers': f'{wrong}ResourceHandler',
            'watcherlite.policies': 'ok',
            'watcherlite.load_balancers': f'{wrong}LoadBalancer',
            'watcherlite.goals': f'{wrong}Goal',
            'watcherlite.strategies': f'{wrong}Strategy',
            'watcherlite.planners': f'{wrong}Planner',
            'watcherlite.data_models': f'{wrong}DataModel',
            'watcherlite.datasources': f'{wrong}DataSource',
            'watcherlite.scoring_engines': f'{wrong}ScoringEngine',
            'watcherlite.scoring_engine_containers': f'{wrong}ScoringEngineContainer',
        }
        lost = "ModuleNotFoundError: No module named 'other_plugins'"
        self.assertEqual(
            [
                shown
                for namespace, status in mine.items()
                for shown in (
                    (namespace, 'lost', 'other_plugins:Lost', lost),
                    (namespace, 'mine', 'acme_actions:PermissivePolicy', status),
                )
            ],
            [
                (row['Namespace'], row['Name'], row['Target'], row['Status'])
                for row in rows
            ],
        )

    def test_two_distributions_do_not_share_a_name(self):
        self.installation.add_metadata(
            'other-actions',
            '2.0',
            {'watcherlite.action_types': ['greet = acme_actions:InvalidOptions']},
        )

        errors = {
            (distribution, version): error
            for _, name, distribution, version, _, _, error in self.installation.run(
                LIST
            )
            if name == 'greet'
        }

        self.assertEqual(
            {
                ('acme-actions', '1.0'): (
                    'the name is taken by acme_actions:InvalidOptions too; '
                    'uninstall one'
                ),
                ('other-actions', '2.0'): (
                    'the name is taken by acme_actions:Greet too; uninstall one'
                ),
            },
            errors,
        )


class TestResourceTypes(base.TestCase):
    def setUp(self):
        super().setUp()
        self.installation = self.useFixture(Installation())
        self.installation.add(ZETA)

    def test_a_valid_and_an_invalid_plugin_are_listed(self):
        listed = [
            entry
            for entry in self.installation.run(LIST)
            if entry[0] == contract.RESOURCE_HANDLERS
        ]

        self.assertEqual(
            [
                (
                    'Zeta::InvalidDefault',
                    '',
                    'its property size has a default that does not fit its schema: '
                    'properties.size: "big" is not a whole number',
                ),
                ('Zeta::Mark', 'A mark at the target.', None),
            ],
            [
                (name, text, error)
                for _, name, distribution, _, _, text, error in listed
                if distribution == 'zeta-actions'
            ],
        )
        # The built-in plugins are not affected.
        self.assertLessEqual(
            {
                *('Http::Resource', 'Local::File', 'Local::Process', 'OS::Heat::None'),
                *(
                    'OS::Heat::RandomString',
                    'OS::Heat::TestResource',
                    'OS::Heat::Value',
                ),
            },
            {
                name
                for _, name, distribution, *_, error in listed
                if (distribution, error) == ('watcherlite', None)
            },
        )

    def test_its_options_are_read_from_a_group_without_colons(self):
        ini = self.home / 'watcherlite.conf'
        ini.write_text(
            '[watcherlite.resource_handlers.zeta_mark]\ntarget = http://x\ntaget = y\n'
        )

        target, unknown = self.installation.run(RESOURCE_OPTIONS, str(ini))

        self.assertEqual('http://x', target)
        self.assertEqual(
            [
                f'{ini}: [watcherlite.resource_handlers.zeta_mark] has no option '
                'taget; did you mean target?'
            ],
            unknown,
        )


class TestStart(base.TestCase):
    def test_only_required_plugins_and_http_are_imported(self):
        installation = self.useFixture(Installation())
        installation.add()

        self.assertEqual([], installation.run(LAZY))
        self.assertEqual([], installation.run_anew(HEAVY))
