"""The errors of the loader for plugins that are not installed."""

from collections.abc import Iterator

from tests import base
from watcherlite import exceptions
from watcherlite.plugins import loader


class Counting(loader.Plugins):
    """Plugins that count the iterations over their names."""

    looked = 0

    def names(self, namespace: str) -> tuple[str, ...]:
        self.looked += 1
        return super().names(namespace)


class TestUnknownNames(base.TestCase):
    """Lists request the same names for every row."""

    def messages(self, plugins: loader.Plugins, *names: str) -> Iterator[str]:
        for name in names:
            error = self.assertRaises(
                exceptions.PluginNotFound, plugins.action_type, name
            )
            yield str(error)

    def test_the_same_name_is_searched_once(self) -> None:
        plugins = Counting([])

        first, second = self.messages(plugins, 'great', 'great')

        self.assertEqual((first, 1), (second, plugins.looked))

    def test_a_name_is_not_resolved_in_another_namespace(self) -> None:
        plugins = Counting([])
        (action_type,) = self.messages(plugins, 'great')

        goal = self.assertRaises(exceptions.PluginNotFound, plugins.make_goal, 'great')

        self.assertEqual(
            [
                'There is no action type great. Installed: none.',
                'There is no goal great. Installed: none.',
            ],
            [action_type, str(goal)],
        )

    def test_many_names_are_not_listed_in_an_error(self) -> None:
        class Many(loader.Plugins):
            def names(self, namespace: str) -> tuple[str, ...]:
                return tuple(f'type-{n}' for n in range(loader.MOST_NAMED + 1))

        (message,) = self.messages(Many([]), 'type_1')

        self.assertEqual(
            'There is no action type type_1. Did you mean type-1? '
            f'`watcherlite plugin list` shows all {loader.MOST_NAMED + 1}.',
            message,
        )

    def test_unknown_names_are_not_cached(self) -> None:
        plugins = Counting([])
        many = [f'type-{n}' for n in range(loader.MOST_UNKNOWN + 1)]

        list(self.messages(plugins, *many, many[0]))

        self.assertEqual(len(many) + 1, plugins.looked)
