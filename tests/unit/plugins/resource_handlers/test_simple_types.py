"""The types without an external resource: None, Value, RandomString."""

import string

from tests import base
from watcherlite import exceptions
from watcherlite.plugins.resource_handlers.http_resource import HttpResource
from watcherlite.plugins.resource_handlers.nested_stack import NestedStack
from watcherlite.plugins.resource_handlers.nothing import Nothing
from watcherlite.plugins.resource_handlers.random_string import RandomString
from watcherlite.plugins.resource_handlers.resource_group import ResourceGroup
from watcherlite.plugins.resource_handlers.value import Value
from watcherlite.testing import ResourceRun


class TestAttributeNames(base.TestCase):
    """The attributes that depend on the properties of a resource."""

    def test_an_http_resource_has_its_outputs_a_group_any_attribute(self) -> None:
        for handler, properties, names in (
            (HttpResource(), {}, {'id'}),
            (HttpResource(), {'outputs': {'at': 'server.address'}}, {'id', 'at'}),
            # The names are not known yet.
            (HttpResource(), {'outputs': None}, None),
            (Nothing(), {}, None),
            (ResourceGroup(), {}, None),
            (NestedStack(), {}, {'stack_name', 'outputs'}),
        ):
            found = handler.attribute_names(properties)
            self.assertEqual(names, found and set(found), handler)


class TestNothing(base.TestCase):
    def test_nothing_accepts_any_property_never_changes_and_heals_by_an_update(self):
        run = ResourceRun(Nothing)

        run.create({'image': 'x', 'size': [1]})
        changes = []
        for failed in (False, True):
            run.failed = failed
            changes.append(run.update({'other': {'a': None}}).change)
        run.check()
        run.delete()

        self.assertEqual((['keep', 'keep'], False), (changes, run.failed))
        self.assertEqual(
            ['CREATE_COMPLETE', 'CHECK_COMPLETE', 'DELETE_COMPLETE'], run.history
        )
        self.assertEqual(({}, run.uuid), (run.attributes, run.physical_id))


class TestValue(base.TestCase):
    def test_the_value_is_converted_to_its_type(self):
        for kind, given, expected in (
            (None, {'a': [1]}, {'a': [1]}),
            ('string', 5, '5'),
            ('string', {'a': 1}, '{"a": 1}'),
            ('number', '1.5', 1.5),
            ('boolean', 'true', True),
            ('json', '{"a": 1}', {'a': 1}),
            ('json', [1, 2], [1, 2]),
            ('comma_delimited_list', 'a, b', ['a', 'b']),
            ('comma_delimited_list', ['a'], ['a']),
        ):
            run = ResourceRun(Value)
            run.create({'value': given, 'type': kind})
            self.assertEqual({'value': expected}, run.attributes, kind)

    def test_a_value_of_another_type_is_rejected_by_validation(self):
        run = ResourceRun(Value)

        deep = '[' * 100_000
        for kind, given in (
            ('number', 'x'),
            ('number', '9' * 400),
            ('number', deep),
            ('boolean', 'x'),
            ('json', 'x'),
            ('json', deep),
            ('json', '{"a": NaN}'),
            ('json', '{"a": "\\u0000"}'),
        ):
            error = self.assertRaises(
                exceptions.Invalid, run.create, {'value': given, 'type': kind}
            )

            self.assertEqual(f'properties.value: is not of the type {kind}', str(error))
        self.assertEqual([], run.history)
        self.assertEqual(
            {'value': None, 'type': 'number'},
            run.fit({'value': None, 'type': 'number'}, known=False),
        )

    def test_a_new_value_is_an_update_in_place(self):
        run = ResourceRun(Value)
        run.create({'value': 1})
        before = run.uuid

        updated = run.update({'value': 2})

        self.assertEqual(('update', 'COMPLETE'), (updated.change, updated.status))
        self.assertEqual(({'value': 2}, before), (run.attributes, run.uuid))
        self.assertEqual('COMPLETE', run.delete().status)


class TestRandomString(base.TestCase):
    def make(self, **properties):
        run = ResourceRun(RandomString)
        self.assertEqual('COMPLETE', run.create(properties).status)
        return run

    def test_the_default_is_32_letters_and_digits(self):
        first, second = self.make(), self.make()

        text = first.attributes['value']
        self.assertEqual((32, text), (len(text), first.reference))
        self.assertLessEqual(set(text), set(string.ascii_letters + string.digits))
        self.assertNotEqual(first.attributes, second.attributes)

    def test_the_minimum_of_each_class_and_sequence_is_generated(self):
        text = self.make(
            length='20',
            character_classes=[{'class': 'digits', 'min': 15}, {'class': 'lowercase'}],
            character_sequences=[{'sequence': '()[]_', 'min': '4'}],
        ).attributes['value']

        self.assertEqual(20, len(text))
        self.assertEqual(15, sum(char in string.digits for char in text))
        self.assertEqual(1, sum(char in string.ascii_lowercase for char in text))
        self.assertEqual(4, sum(char in '()[]_' for char in text))

    def test_the_deprecated_property_sequence_is_supported(self):
        text = self.make(length=300, sequence='octdigits').attributes['value']

        self.assertEqual(set('01234567'), set(text))

    def test_inconsistent_requirements_are_rejected(self):
        run = ResourceRun(RandomString)
        classes = [{'class': 'digits', 'min': 3}]

        for properties, expected in (
            (
                {'length': 2, 'character_classes': classes},
                'properties.length: 2 is less than the 3 characters that the minimums '
                'of its classes and sequences add up to',
            ),
            (
                {'sequence': 'digits', 'character_classes': classes},
                'properties.sequence: only one of sequence and character_classes or '
                'character_sequences can be given',
            ),
        ):
            error = self.assertRaises(exceptions.Invalid, run.create, properties)

            self.assertEqual(expected, str(error))

    def test_any_change_replaces_the_text(self):
        run = self.make(salt='a')
        before = run.attributes['value']

        self.assertEqual('keep', run.update({'salt': 'a'}).change)
        self.assertEqual(before, run.attributes['value'])
        self.assertEqual('replace', run.update({'salt': 'b'}).change)
        self.assertNotEqual(before, run.attributes['value'])
