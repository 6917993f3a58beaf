"""The text of templates."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from tests import base
from tests.unit.domain.documents.test_plan_document_fuzz import PIECES
from tests.unit.domain.templates.worlds import parsed
from watcherlite import exceptions
from watcherlite.domain.templates import document, template


class ParseTest(base.TestCase):
    def refusal(self, text, **limits):
        return self.assertRaises(
            exceptions.TemplateInvalid, document.parse, text, 'web.yaml', **limits
        ).problems

    def test_dates_stay_text_aliases_are_replaced_and_json_is_the_same(self):
        written = {'heat_template_version': '2013-05-23', 'a': [1, 2], 'b': [[1, 2]]}

        self.assertEqual(
            [written, written],
            [
                document.parse(
                    'heat_template_version: 2013-05-23\na: &x [1, 2]\nb: [*x]'
                ),
                document.parse(json.dumps(written)),
            ],
        )

    def test_text_that_is_no_template_is_rejected(self):
        self.assertEqual(
            [
                ['web.yaml: this is text; it must be a mapping, like '
                 '{heat_template_version: 2021-04-16, resources: {}}'],
                ['web.yaml: this is nothing; it must be a mapping, like '
                 '{heat_template_version: 2021-04-16, resources: {}}'],
                ['web.yaml:2: a second document starts here; a file contains one '
                 'template: remove the line of dashes, or use two files'],
                ['web.yaml: this is nothing, not text'],
            ],
            [self.refusal(text) for text in ('plain', '', 'a: 1\n---\nb: 1\n', None)],
        )  # fmt: skip

    def test_values_outside_json_and_oversized_text_are_rejected(self):
        number = 'a: this number has too many digits; put it in quotes'
        size = 'Template size (13 bytes) exceeds maximum allowed size (10 bytes).'
        for text, limits, *expected in (
            (
                *('resources: {}\nresources: {}\na: {b: .nan}', {}),
                ':2: resources: this key is duplicated; remove one of them',
                ':3: a.b: nan is not a number in JSON',
            ),
            (f'a: 0x{"f" * 5000}', {}, f':1: {number}'),
            ('a: "ääää"', {'limit': 10}, f': {size}'),
        ):
            self.assertEqual(
                [f'web.yaml{problem}' for problem in expected],
                self.refusal(text, **limits),
            )

    def test_expanded_aliases_may_not_exceed_the_size_limit(self):
        bomb = 'a: &a [x, x, x, x, x, x, x, x, x, x]\n'
        for last, name in zip('abcdefg', 'bcdefgh', strict=True):
            bomb += f'{name}: &{name} [{", ".join([f"*{last}"] * 10)}]\n'
        long_text = f'a: &a {"x" * 5000}\nb: [{", ".join(["*a"] * 500)}]\n'

        self.assertEqual(
            [
                'web.yaml:6: aliases repeat more than 1000000 values; write fewer',
                'web.yaml: with its aliases written out this is larger than 524288 '
                'bytes; repeat less',
            ],
            [problem for text in (bomb, long_text) for problem in self.refusal(text)],
        )

    def test_excessive_depth_is_rejected_in_yaml_and_json(self):
        problems = [
            self.refusal('a: ' + '[' * 150 + ']' * 150),
            self.refusal('{"a": ' + '[' * 150 + ']' * 150 + '}'),
            self.refusal('{"a": ' + '[' * 100_000 + ']' * 100_000 + '}'),
        ]

        for (problem,) in problems:
            self.assertIn('this is nested deeper than', problem)


class FuzzTest(base.TestCase):
    @settings(max_examples=150, deadline=None)
    @given(
        st.lists(
            st.one_of(
                PIECES,
                st.sampled_from(
                    [
                        'heat_template_version: 2021-04-16\n', 'resources:\n', '  a:\n',
                        '    type: T\n', '    properties: ', '{get_param: ', 'repeat: ',
                        'outputs:\n', 'parameters:\n', 'conditions:\n', '{if: [', 'p}',
                    ]
                ),
            ),
            max_size=30,
        )
    )  # fmt: skip
    def test_any_text_is_parsed_or_invalid(self, pieces):
        try:
            template.load(document.parse(''.join(pieces)))
        except exceptions.TemplateInvalid as error:
            self.assertNotEqual([], error.problems)


class PlacesTest(base.TestCase):
    def test_each_problem_has_its_line_and_its_path(self):
        text = """
            heat_template_version: 2016-10-14
            parameters:
              size: {type: strin}
              count: {type: number, default: x}
            resources:
              web:
                typ: T
                properties:
                  a: {get_param: conut}
                  b: {list_join: ['a']}
                  c: {str_split: [5, a]}
                  d: {if: [large, 1]}
              db/1: {type: 3, depends_on: [wev]}
              old: {type: T, properties: {z: {yaql: {}}}}
            foo: bar
            outputs: {a: 3}
            """

        error = self.assertRaises(
            exceptions.TemplateInvalid, lambda: template.load(parsed(text))
        )

        self.assertEqual(
            """\
template:3: parameters.size.type: 'strin' is no type of a parameter; write one of \
string, number, boolean, json, comma_delimited_list
template:4: parameters.count.default: Invalid default: it must be a number
template:6: resources.web.type: this is nothing; write the type of the resource, like \
OS::Heat::None
template:7: resources.web.typ: there is no such key; did you mean type?
template:9: resources.web.properties.a: The Parameter (conut) was not provided. Did \
you mean count?
template:10: resources.web.properties.b.list_join: it has 1 arguments, not 2 or more; \
write list_join: [', ', [a, b]]
template:11: resources.web.properties.c.str_split: its delimiter is a number
template:12: resources.web.properties.d.if: it has 2 arguments, not 3; add the value \
for when the condition does not hold, or use heat_template_version 2021-04-16
template:13: resources.'db/1': the name of a resource has 1 to 255 characters and no \
/; rename it
template:13: resources.'db/1'.type: this is a number; write the type of the resource, \
like OS::Heat::None
template:13: resources.'db/1'.depends_on[0]: there is no resource wev; did you mean web?
template:14: resources.old.properties.z: the function yaql is not supported here; use \
map_merge, list_concat, repeat or filter
template:15: foo: there is no such key; known are heat_template_version, description, \
parameters, conditions, resources, outputs, parameter_groups
template:16: outputs.a: this is no output (a number); write {value: ...}""",
            '\n'.join(error.problems),
        )

    def test_unparsed_mapping_has_paths_without_lines(self):
        error = self.assertRaises(
            exceptions.TemplateInvalid,
            template.load,
            {'heat_template_version': 'pike', 'resources': {'a': {'type': ''}}},
        )

        self.assertEqual(
            ['resources.a.type: this is text; write the type of the resource, like '
             'OS::Heat::None'],
            error.problems,
        )  # fmt: skip

    def test_number_of_reported_problems_is_limited(self):
        error = self.assertRaises(
            exceptions.TemplateInvalid,
            template.load,
            {
                'heat_template_version': 'pike',
                'resources': {f'r{i}': 1 for i in range(150)},
            },
        )

        self.assertEqual(101, len(error.problems))
        self.assertEqual('and 50 more problems', error.problems[-1])
