"""The installed plugins, and the errors of broken ones."""

import configparser
import importlib.metadata
import pathlib

from oslo_config import cfg

from tests import base
from watcherlite import exceptions
from watcherlite.plugins import base as contract
from watcherlite.plugins import loader, properties

ROOT = pathlib.Path(__file__).parents[3]


class Greet(contract.ActionType):
    """Print a greeting.

    No further details are reported.
    """

    @classmethod
    def get_config_opts(cls):
        return [cfg.StrOpt('word', default='hello', help='What to say.')]


class Plain(contract.ActionType):
    description = 'Has no options.'


class PermissivePolicy(contract.Policy):
    """Allow everything."""


def no_files():
    """Return a configuration that reads no files."""
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    return conf


class TestInstantiation(base.TestCase):
    def test_each_call_makes_an_action_type_with_the_defaults_of_its_options(self):
        plugins = loader.Plugins.of(action_types={'greet': Greet})

        first, second = (plugins.make_action_type('greet') for _ in range(2))

        self.assertIsInstance(first, Greet)
        self.assertEqual('hello', first.options.word)
        self.assertIsNot(first, second)
        self.assertIs(first.options, second.options)

    def test_options_come_from_the_given_configuration(self):
        conf = no_files()

        plugins = loader.Plugins.of(
            action_types={'greet': Greet, 'plain': Plain}, options=conf
        )
        made = plugins.make_action_type('greet')
        conf.set_override('word', 'good day', group='watcherlite.action_types.greet')

        self.assertEqual('good day', made.options.word)
        # A plugin without options has a group, too.
        self.assertIn('watcherlite.action_types.plain', conf)

    def test_an_unknown_name_is_answered_with_the_nearest_and_all(self):
        plugins = loader.Plugins.of(action_types={'greet': Greet, 'plain': Plain})

        error = self.assertRaises(
            exceptions.PluginNotFound, plugins.action_type, 'great'
        )

        self.assertEqual(
            'There is no action type great. Did you mean greet? '
            'Installed: greet, plain.',
            str(error),
        )

    def test_policies_and_action_types_do_not_share_names(self):
        plugins = loader.Plugins.of(
            action_types={'same': Plain}, policies={'same': PermissivePolicy}
        )

        self.assertIs(Plain, plugins.plugin(contract.ACTION_TYPES, 'same'))
        self.assertIs(PermissivePolicy, plugins.plugin(contract.POLICIES, 'same'))

    def test_a_class_of_another_kind_is_refused_with_the_reason(self):
        plugins = loader.Plugins.of(action_types={'calm': PermissivePolicy})

        error = self.assertRaises(exceptions.PluginError, plugins.action_type, 'calm')

        self.assertEqual(
            f'The action type calm ({__name__}:PermissivePolicy) cannot be used: it is '
            'no subclass of watcherlite.plugins.base.ActionType',
            str(error),
        )

    def test_the_loader_validates_inputs(self):
        plugins = loader.Plugins.of(action_types={'plain': Plain})

        error = self.assertRaises(
            exceptions.InvalidInput,
            plugins.validate_inputs,
            plugins.make_action_type('plain'),
            [],
        )

        self.assertEqual('input_parameters: a list is not an object', str(error))


def _candidate(name, target, namespace=contract.ACTION_TYPES):
    point = importlib.metadata.EntryPoint(name, target, namespace)
    return loader._Candidate(namespace, name, target, point.load)


def _errors(*candidates, conf=None):
    plugins = loader.Plugins(candidates, conf)
    return {(entry.name, entry.target): entry.error for entry in plugins.entries()}


class TestEntryPoints(base.TestCase):
    HERE = f'{__name__}:Greet'
    NOP = 'watcherlite.plugins.action_types.nop:Nop'

    def test_a_missing_module_affects_only_its_entry_point_and_is_logged(self):
        conf = no_files()

        found = _errors(
            *(_candidate('lost', 'no.such:Sample'), _candidate('a', self.HERE)),
            conf=conf,
        )

        missing = "ModuleNotFoundError: No module named 'no'"
        self.assertEqual(
            {('lost', 'no.such:Sample'): missing, ('a', self.HERE): None}, found
        )
        self.assertEqual(
            f'The action type lost (no.such:Sample) cannot be used: {missing}. Its '
            'users will fail; other plugins are not affected.\n',
            self.log.output,
        )

    def test_each_namespace_has_its_own_contract(self):
        target = f'{__name__}:TestInstantiation'
        for namespace, name in (
            (contract.GOALS, 'Goal'),
            (contract.STRATEGIES, 'Strategy'),
            (contract.PLANNERS, 'Planner'),
            (contract.RESOURCE_HANDLERS, 'ResourceHandler'),
        ):
            (error,) = _errors(_candidate('odd', target, namespace)).values()

            self.assertEqual(
                f'it is no subclass of watcherlite.plugins.base.{name}', error
            )

    def test_an_unusable_entry_point_has_its_reason(self):
        module = f"module '{__name__}' has no attribute 'Nothing'"
        for name, target, reason in (
            ('lost', 'Nothing', f'AttributeError: {module}'),
            ('odd', '_errors', 'it is a function, not a class'),
            ('audit', 'Plain', 'the name is reserved by watcherlite'),
        ):
            target = f'{__name__}:{target}'
            self.assertEqual(
                {(name, target): reason}, _errors(_candidate(name, target))
            )

    def test_a_name_belongs_to_one_plugin_and_to_the_built_in_first(self):
        other = f'{__name__}:Plain'
        taken = 'the name is taken by {} too; uninstall one'
        for name, targets, errors in (
            (
                'same',
                (self.HERE, other),
                (taken.format(other), taken.format(self.HERE)),
            ),
            ('nop', (self.HERE, self.NOP), (taken.format(self.NOP), None)),
            ('nop', (self.NOP, self.HERE), (None, taken.format(self.NOP))),
        ):
            self.assertEqual(
                {(name, t): e for t, e in zip(targets, errors, strict=True)},
                _errors(*(_candidate(name, target) for target in targets)),
            )


class TestInstalled(base.TestCase):
    """The plugins of this distribution."""

    def setUp(self):
        super().setUp()
        self.plugins = loader.load()

    def test_built_in_plugins_are_loaded_by_entry_points(self):
        ours = [
            e
            for e in self.plugins.entries()
            if e.distribution == 'watcherlite' and e.namespace == contract.ACTION_TYPES
        ]
        declared = configparser.ConfigParser()
        declared.optionxform = str
        declared.read(ROOT / 'setup.cfg')
        points = declared['entry_points'][contract.ACTION_TYPES].strip().splitlines()
        names = sorted(point.partition(' = ')[0] for point in points)

        self.assertEqual(names, [entry.name for entry in ours])
        self.assertLessEqual({'nop', 'sleep', 'stack_update', 'NODE_CHECK'}, set(names))
        for entry in ours:
            self.assertRegex(entry.description, r'^[A-Z].*\.$', entry.name)
            self.assertEqual(
                self.plugins.action_type(entry.name).description, entry.description
            )
        self.assertEqual({None}, {entry.error for entry in ours})

    def test_the_declarations_of_built_in_resource_handlers_are_valid(self):
        # They are not checked when a process starts.
        handlers = self.plugins.resource_types()
        ours = {
            name: properties.declaration_problem(handler)
            for name, handler in handlers.items()
            if handler.__module__.startswith(loader.OURS)
        }

        self.assertLessEqual({'Local::File', 'OS::Nova::Server'}, ours.keys())
        self.assertEqual(dict.fromkeys(ours), ours)

    def test_their_options_are_in_the_sample(self):
        groups = {group: [o.name for o in opts] for group, opts in loader.list_opts()}

        command = 'allowed creates_below environment directory max_output kill_grace'
        http = 'verify_tls ca_file max_response_size proxies_from_environment'
        expected = {
            'watcherlite.action_types.command': command.split(),
            'watcherlite.action_types.http_request': http.split(),
        }
        self.assertEqual(expected, {group: groups.get(group) for group in expected})

    def test_every_option_has_a_help_text(self):
        for group, options in loader.list_opts():
            for option in options:
                self.assertTrue(option.help, f'[{group}] {option.name}')

    def test_the_returned_options_are_copies(self):
        first, second = (dict(loader.load().list_opts()) for _ in range(2))

        group = 'watcherlite.action_types.command'
        self.assertIsNot(first[group][0], second[group][0])
