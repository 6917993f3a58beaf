"""The validation of patches, their errors and their result."""

from typing import Any

import hypothesis
from hypothesis import strategies as st

from tests import base
from watcherlite import exceptions
from watcherlite.api import arguments
from watcherlite.api.infra_optim import patches
from watcherlite.api.infra_optim.patches import Change

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)
    ),
    max_leaves=5,
)

#: The attributes of these tests.
ANY = (
    'a',
    'b',
    'd',
    'goal',
    'hostname',
    'nowhere',
    'parameters',
    'state',
    '0',
    '7',
    '-',
    *patches.INTERNAL,
)


def line(op: str, path: str, *value: Any) -> dict[str, Any]:
    """Return a line of a patch, with a value if one is given."""
    return {'op': op, 'path': path, **({'value': value[0]} if value else {})}


class TestSchema(base.TestCase):
    def test_malformed_patches_are_invalid(self) -> None:
        checker = arguments.Checker(patches.SCHEMA[1, 0])
        paths = ('', '/', 'state', '/a/', '/a~1b', '/a b', '//')
        for body in (
            {},
            [5],
            [{'path': '/a', 'value': 1}],
            [{'op': 'add', 'value': 1}],
            [{'op': 1, 'path': '/a'}],
            [{'op': 'add', 'path': []}],
            [{**line('add', '/a', 1), 'from': '/b'}],
            *([line(op, '/a', 1)] for op in ('test', 'move', 'copy', 'ADD', '')),
            *([line('add', path, 1)] for path in paths),
        ):
            self.assertRaises(exceptions.Invalid, checker.body, body)


class TestReadingAPatch(base.TestCase):
    def refused(self, body: Any, **limits: Any) -> str:
        """Return why a patch is refused."""
        limits.setdefault('allowed', ANY)
        return str(self.assertRaises(exceptions.Invalid, patches.parse, body, **limits))

    def test_the_three_operations(self) -> None:
        self.assertEqual(
            [
                Change('add', 'a', '/a', 1),
                Change('replace', 'b', '/b/c', None),
                Change('remove', 'd', '/d'),
            ],
            patches.parse(
                [
                    line('add', '/a', 1),
                    line('replace', '/b/c', None),
                    line('remove', '/d'),
                ],
                allowed='abd',
            ),
        )

    def test_an_empty_patch_changes_nothing(self) -> None:
        self.assertEqual([], patches.parse([], allowed=()))

    def test_only_allowed_attributes(self) -> None:
        self.assertEqual(
            "'/x/y' is not an allowed attribute and can not be updated",
            self.refused([line('add', '/x/y', 1)], allowed=['state']),
        )
        self.assertIn('not an allowed', self.refused([line('add', '/state\n', 1)]))
        self.assertEqual(
            1, len(patches.parse([line('add', '/state', 1)], allowed=['state']))
        )

    def test_internal_attributes_of_all_objects(self) -> None:
        for name in ('id', 'uuid', 'links', 'created_at', 'updated_at', 'deleted_at'):
            self.assertEqual(
                f"'/{name}' is an internal attribute and can not be updated",
                self.refused([line('replace', f'/{name}', 1)]),
            )

    def test_internal_attributes_of_one_object(self) -> None:
        self.assertEqual(
            "'/hostname' is an internal attribute and can not be updated",
            self.refused([line('remove', '/hostname')], internal=['hostname']),
        )

    def test_mandatory_attributes_can_be_replaced_but_not_removed(self) -> None:
        self.assertEqual(
            "'/goal' is a mandatory attribute and can not be removed",
            self.refused([line('remove', '/goal')], mandatory=['goal']),
        )
        changes = patches.parse(
            [line('replace', '/goal', 'x')], allowed=['goal'], mandatory=['goal']
        )
        self.assertEqual('x', changes[0].value)

    def test_add_and_replace_need_a_value(self) -> None:
        for op in ('add', 'replace'):
            self.assertEqual(
                "'add' and 'replace' operations needs value",
                self.refused([line(op, '/a')]),
            )


class TestApplyingAPatch(base.TestCase):
    def patched(self, document: Any, *lines: dict[str, Any]) -> dict[str, Any]:
        return patches.apply(document, patches.parse(list(lines), allowed=ANY))

    def test_lines_are_applied_in_order(self) -> None:
        self.assertEqual(
            {'a': 3, 'b': {'c': [1, 2]}},
            self.patched(
                {'a': 1, 'b': {'c': [1]}, 'd': 1},
                line('replace', '/a', 2),
                line('add', '/a', 3),
                line('add', '/b/c/-', 2),
                line('remove', '/d'),
            ),
        )

    def test_the_given_document_stays_as_it_is(self) -> None:
        document = {'a': {'b': 1}}
        self.patched(document, line('replace', '/a/b', 2))
        self.assertEqual({'a': {'b': 1}}, document)

    def test_inapplicable_change_is_rejected_with_path_without_values(self) -> None:
        document = {'state': 'PENDING', 'parameters': {'password': 's3cret'}}
        refusals = [
            str(self.assertRaises(exceptions.Invalid, self.patched, document, wrong))
            for wrong in (
                line('replace', '/state/0', 's3cret'),
                line('add', '/state/0', 's3cret'),
                line('remove', '/nowhere'),
                line('replace', '/parameters/token', 's3cret'),
                line('add', '/parameters/password/x', 's3cret'),
            )
        ]
        self.assertEqual(
            [
                "Couldn't apply patch '/state/0'. Reason: there is nothing to replace",
                "Couldn't apply patch '/state/0'. Reason: nothing can be added there",
                "Couldn't apply patch '/nowhere'. Reason: there is nothing to remove",
                "Couldn't apply patch '/parameters/token'. Reason: there is nothing to "
                'replace',
                "Couldn't apply patch '/parameters/password/x'. Reason: nothing can be "
                'added there',
            ],
            refusals,
        )

    @hypothesis.settings(deadline=None, database=None, derandomize=True)
    @hypothesis.given(
        st.dictionaries(st.sampled_from(['a', 'b', '0']), json_values),
        st.lists(
            st.builds(
                line,
                st.sampled_from(patches.OPS),
                st.from_regex(r'(/(a|b|0|-|7)){1,3}', fullmatch=True),
                json_values,
            ),
            max_size=4,
        ),
    )
    def test_whatever_it_is_it_is_applied_or_refused(
        self, document: dict[str, Any], lines: list[dict[str, Any]]
    ) -> None:
        try:
            patched = self.patched(document, *lines)
        except exceptions.Invalid:
            return
        self.assertIsInstance(patched, dict)
