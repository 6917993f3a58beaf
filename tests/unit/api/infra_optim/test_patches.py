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
    'missing',
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


class TestParse(base.TestCase):
    def refusal(self, body: Any, **limits: Any) -> str:
        """Return the error of an invalid patch."""
        limits.setdefault('allowed', ANY)
        return str(self.assertRaises(exceptions.Invalid, patches.parse, body, **limits))

    def test_add_replace_and_remove_are_parsed(self) -> None:
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
        self.assertEqual([], patches.parse([], allowed=()))

    def test_only_allowed_attributes_are_accepted(self) -> None:
        self.assertEqual(
            "'/x/y' is not an allowed attribute and can not be updated",
            self.refusal([line('add', '/x/y', 1)], allowed=['state']),
        )
        self.assertIn('not an allowed', self.refusal([line('add', '/state\n', 1)]))
        self.assertEqual(
            1, len(patches.parse([line('add', '/state', 1)], allowed=['state']))
        )

    def test_changes_of_protected_attributes_or_without_value_are_rejected(
        self,
    ) -> None:
        internal = 'is an internal attribute and can not be updated'
        no_value = "'add' and 'replace' operations needs value"
        for wrong, limits, text in (
            *(
                (line('replace', f'/{name}', 1), {}, f"'/{name}' {internal}")
                for name in (
                    *('id', 'uuid', 'links'),
                    *('created_at', 'updated_at', 'deleted_at'),
                )
            ),
            (
                line('remove', '/hostname'),
                {'internal': ['hostname']},
                f"'/hostname' {internal}",
            ),
            (
                line('remove', '/goal'),
                {'mandatory': ['goal']},
                "'/goal' is a mandatory attribute and can not be removed",
            ),
            (line('add', '/a'), {}, no_value),
            (line('replace', '/a'), {}, no_value),
        ):
            self.assertEqual(text, self.refusal([wrong], **limits))
        changes = patches.parse(
            [line('replace', '/goal', 'x')], allowed=['goal'], mandatory=['goal']
        )
        self.assertEqual('x', changes[0].value)


class TestApply(base.TestCase):
    def patched(self, document: Any, *lines: dict[str, Any]) -> dict[str, Any]:
        return patches.apply(document, patches.parse(list(lines), allowed=ANY))

    def test_lines_are_applied_in_order_to_copy(self) -> None:
        document = {'a': 1, 'b': {'c': [1]}, 'd': 1}
        self.assertEqual(
            {'a': 3, 'b': {'c': [1, 2]}},
            self.patched(
                document,
                line('replace', '/a', 2),
                line('add', '/a', 3),
                line('add', '/b/c/-', 2),
                line('remove', '/d'),
            ),
        )
        self.assertEqual({'a': 1, 'b': {'c': [1]}, 'd': 1}, document)

    def test_inapplicable_change_is_rejected_with_path_without_values(self) -> None:
        document = {'state': 'PENDING', 'parameters': {'password': 's3cret'}}
        for wrong, reason in (
            (line('replace', '/state/0', 's3cret'), 'there is nothing to replace'),
            (line('add', '/state/0', 's3cret'), 'nothing can be added there'),
            (line('remove', '/missing'), 'there is nothing to remove'),
            (
                line('replace', '/parameters/token', 's3cret'),
                'there is nothing to replace',
            ),
            (
                line('add', '/parameters/password/x', 's3cret'),
                'nothing can be added there',
            ),
        ):
            error = self.assertRaises(exceptions.Invalid, self.patched, document, wrong)
            text = f"Couldn't apply patch '{wrong['path']}'. Reason: {reason}"
            self.assertEqual(text, str(error))

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
    def test_any_patch_is_applied_or_rejected(
        self, document: dict[str, Any], lines: list[dict[str, Any]]
    ) -> None:
        try:
            patched = self.patched(document, *lines)
        except exceptions.Invalid:
            return
        self.assertIsInstance(patched, dict)
