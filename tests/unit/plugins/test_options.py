"""The options of a plugin, with and without an ini file."""

from oslo_config import cfg

from tests import base
from watcherlite.plugins import options


class WithOptions:
    @classmethod
    def get_config_opts(cls):
        return [cfg.IntOpt('size', default=3, min=0), cfg.ListOpt('names', default=[])]


class InvalidOptions:
    @classmethod
    def get_config_opts(cls):
        return ['size']


class TestAlone(base.TestCase):
    def test_other_options_have_defaults_and_groups_are_separate(self):
        for values, expected in (
            ({'size': 5}, (5, [])),
            ({'names': ['a', 'b']}, (3, ['a', 'b'])),
        ):
            group = options.standalone_group(WithOptions, values)

            self.assertEqual(expected, (group.size, group.names))

    def test_values_are_validated_like_those_of_a_file(self):
        self.assertRaises(
            ValueError, options.standalone_group, WithOptions, {'size': -1}
        )
        self.assertRaises(
            cfg.NoSuchOptError, options.standalone_group, WithOptions, {'length': 1}
        )

    def test_a_class_without_declarations_has_no_options(self):
        self.assertEqual([], options.of(object))

    def test_an_invalid_option_is_reported(self):
        error = self.assertRaises(TypeError, options.of, InvalidOptions)

        self.assertEqual(
            'get_config_opts returned a str, which is not an oslo.config option',
            str(error),
        )


class TestGroups(base.TestCase):
    def test_a_resource_type_has_a_group_without_colons(self):
        for namespace, name, expected in (
            ('resource_handlers', 'Local::File', 'local_file'),
            ('resource_handlers', 'My::Cloud-2::Big.Sample', 'my_cloud-2_big.sample'),
            ('action_types', 'Greet', 'Greet'),
        ):
            self.assertEqual(
                f'watcherlite.{namespace}.{expected}',
                options.group_name(f'watcherlite.{namespace}', name),
            )
