"""The options of a plugin, with and without an ini file."""

from oslo_config import cfg

from tests import base
from watcherlite.plugins import options


class WithOptions:
    @classmethod
    def get_config_opts(cls):
        return [cfg.IntOpt('size', default=3, min=0), cfg.ListOpt('names', default=[])]


class WithRubbish:
    @classmethod
    def get_config_opts(cls):
        return ['size']


class TestAlone(base.TestCase):
    def test_the_others_have_their_defaults_and_groups_do_not_see_each_other(self):
        for values, expected in (
            ({'size': 5}, (5, [])),
            ({'names': ['a', 'b']}, (3, ['a', 'b'])),
        ):
            group = options.alone(WithOptions, values)

            self.assertEqual(expected, (group.size, group.names))

    def test_values_are_checked_as_those_of_a_file_are(self):
        self.assertRaises(ValueError, options.alone, WithOptions, {'size': -1})
        self.assertRaises(cfg.NoSuchOptError, options.alone, WithOptions, {'length': 1})

    def test_a_class_that_declares_nothing_has_no_options(self):
        self.assertEqual([], options.of(object))

    def test_what_is_no_option_is_told(self):
        error = self.assertRaises(TypeError, options.of, WithRubbish)

        self.assertEqual(
            'get_config_opts returned a str, which is not an oslo.config option',
            str(error),
        )


class TestGroups(base.TestCase):
    def test_a_resource_type_has_a_group_without_colons(self):
        for namespace, name, expected in (
            ('resource_handlers', 'Local::File', 'local_file'),
            ('resource_handlers', 'My::Cloud-2::Big.Thing', 'my_cloud-2_big.thing'),
            ('action_types', 'Greet', 'Greet'),
        ):
            self.assertEqual(
                f'watcherlite.{namespace}.{expected}',
                options.group_name(f'watcherlite.{namespace}', name),
            )
