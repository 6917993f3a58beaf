"""The changes of attributes by a patch."""

from tests import base
from watcherlite import exceptions
from watcherlite.api.infra_optim import attributes
from watcherlite.api.infra_optim.patches import Change

SCHEMAS = {
    'name': {'type': 'string'},
    'parameters': {'type': ['object', 'null']},
    'interval': {'type': ['string', 'null']},
}
DOCUMENT = {'name': 'nightly', 'parameters': {'para1': 1}, 'interval': '60'}


def change(op, path, value=None):
    return Change(op, path.split('/')[1], path, value)


class TestPatched(base.TestCase):
    """Only the named attributes are returned, and they are valid."""

    def patched(self, *changes):
        check = attributes.checker(SCHEMAS)
        return attributes.patched(DOCUMENT, changes, check, {'parameters': {}})

    def test_changed_attributes_are_complete_and_removed_attributes_empty(self):
        for changes, expected in (
            ([], {}),
            ([change('replace', '/name', 'nightly')], {'name': 'nightly'}),
            (
                [change('add', '/parameters/para2', 'x')],
                {'parameters': {'para1': 1, 'para2': 'x'}},
            ),
            (
                [change('remove', '/parameters'), change('remove', '/interval')],
                {'parameters': {}, 'interval': None},
            ),
            ([change('replace', '/parameters', None)], {'parameters': {}}),
        ):
            with self.subTest(expected=expected):
                self.assertEqual(expected, self.patched(*changes))

    def test_invalid_value_is_rejected_by_attribute_name(self):
        error = self.assertRaises(
            exceptions.Invalid, self.patched, change('replace', '/name', 5)
        )

        self.assertEqual(
            "Invalid input for field/attribute name. Value: '5'. It must be text and "
            'is a number.',
            str(error),
        )
