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
    def test_the_others_have_their_defaults(self):
        group = options.alone(WithOptions, {'names': ['a', 'b']})

        self.assertEqual((3, ['a', 'b']), (group.size, group.names))

    def test_a_value_is_checked_as_one_of_a_file_is(self):
        self.assertRaises(ValueError, options.alone, WithOptions, {'size': -1})

    def test_an_unknown_option_is_an_error(self):
        self.assertRaises(cfg.NoSuchOptError, options.alone, WithOptions, {'length': 1})

    def test_two_of_them_do_not_see_each_other(self):
        options.alone(WithOptions, {'size': 5})

        self.assertEqual(3, options.alone(WithOptions).size)

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
