"""Plan documents: valid ones, and the errors of all others."""

import datetime
import json
import textwrap

from tests import base
from watcherlite import exceptions
from watcherlite.domain.documents import plan_document
from watcherlite.domain.documents.plan_document import ActionDocument, PlanDocument


def problems_of(text):
    """Return the problems of a text, which must be rejected."""
    if isinstance(text, str):
        text = textwrap.dedent(text)
    try:
        document = plan_document.parse(text, 'plan.yaml')
    except exceptions.InvalidDocument as error:
        return error.problems
    raise AssertionError(f'accepted: {document}')


class AcceptedTest(base.TestCase):
    def test_a_complete_document_is_parsed(self):
        text = textwrap.dedent("""\
            name: nightly
            on_failure: rollback
            max_parallel: 8
            actions:
            - name: drain
              action_type: http_request
              input_parameters: {method: POST, url: "http://127.0.0.1:8000/drain"}
            - name: restart
              action_type: command
              input_parameters: {argv: [/usr/bin/true]}
              parents: [drain]
              timeout: 30
              target: node-1
              not_before: 2030-01-31T23:00:00+01:00
            """)

        self.assertEqual(
            PlanDocument(
                name='nightly',
                on_failure='rollback',
                max_parallel=8,
                actions=(
                    ActionDocument(
                        name='drain',
                        action_type='http_request',
                        input_parameters={
                            'method': 'POST',
                            'url': 'http://127.0.0.1:8000/drain',
                        },
                    ),
                    ActionDocument(
                        name='restart',
                        action_type='command',
                        input_parameters={'argv': ['/usr/bin/true']},
                        parents=('drain',),
                        timeout=30,
                        target='node-1',
                        not_before=datetime.datetime(
                            2030, 1, 31, 22, tzinfo=datetime.UTC
                        ),
                    ),
                ),
            ),
            plan_document.parse(text, 'plan.yaml'),
        )

    def test_omitted_and_null_values_have_defaults(self):
        plain = PlanDocument(None, 'continue', None, (ActionDocument('a', 'nop'),))
        nulls = dict.fromkeys(
            ['input_parameters', 'parents', 'timeout', 'target', 'not_before']
        )

        self.assertEqual(
            plain, plan_document.parse('actions: [{name: a, action_type: nop}]', 'f')
        )
        self.assertEqual(
            plain,
            plan_document.from_mapping(
                {
                    'name': None,
                    'on_failure': None,
                    'max_parallel': None,
                    'actions': [{'name': 'a', 'action_type': 'nop', **nulls}],
                }
            ),
        )

    def test_json_is_the_same_whatever_its_white_space(self):
        value = {
            'actions': [
                {'name': 'ü😀/\\', 'action_type': 'nop', 'timeout': 1.5},
                {
                    'name': 'b',
                    'action_type': 'nop',
                    'parents': ['ü😀/\\'],
                    'input_parameters': {'a': [1, -2.5e3, True, None, '', {}]},
                },
            ]
        }
        expected = plan_document.from_mapping(value)

        for text in (
            json.dumps(value),
            json.dumps(value, indent='\t'),
            json.dumps(value, indent=2, ensure_ascii=False),
            '\ufeff \n' + json.dumps(value),
        ):
            self.assertEqual(expected, plan_document.parse(text, 'plan.json'))
            self.assertEqual(expected, plan_document.parse(text.encode(), 'plan.json'))

    def test_dates_in_inputs_stay_text_and_braces_of_yaml_are_no_broken_json(self):
        document = plan_document.parse(
            '{actions: [{name: a, action_type: nop, input_parameters: '
            '{since: 2026-01-02, count: 3, ratio: 1.5, gone: ~}}]}',
            'f',
        )

        self.assertEqual(
            {'since': '2026-01-02', 'count': 3, 'ratio': 1.5, 'gone': None},
            document.actions[0].input_parameters,
        )

    def test_anchors_aliases_and_merge_keys(self):
        document = plan_document.parse(
            textwrap.dedent("""\
                actions:
                - &first
                  name: a
                  action_type: nop
                  input_parameters: &inputs {message: hello, level: 1}
                - <<: *first
                  name: b
                - name: c
                  action_type: nop
                  input_parameters: {<<: [*inputs, {more: 2}], level: 3}
                """),
            'f',
        )

        self.assertEqual(
            [
                ActionDocument('a', 'nop', {'message': 'hello', 'level': 1}),
                ActionDocument('b', 'nop', {'message': 'hello', 'level': 1}),
                ActionDocument('c', 'nop', {'message': 'hello', 'level': 3, 'more': 2}),
            ],
            list(document.actions),
        )

    def test_a_time_in_each_of_its_forms(self):
        expected = datetime.datetime(2030, 1, 31, 22, tzinfo=datetime.UTC)

        for text in (
            '2030-01-31T22:00:00Z',
            '2030-01-31 22:00:00.0 +00:00',
            '2030-01-31t23:00:00+01:00',
            '2030-01-31 17:00:00 -5',
            '"20300131T220000Z"',
        ):
            document = plan_document.parse(
                f'actions: [{{name: a, action_type: nop, not_before: {text}}}]', 'f'
            )
            self.assertEqual(expected, document.actions[0].not_before)
        document = plan_document.from_mapping(
            {'actions': [{'name': 'a', 'action_type': 'nop', 'not_before': expected}]}
        )
        self.assertEqual(expected, document.actions[0].not_before)

    def test_fractions_of_seconds_are_rounded_up_and_never_to_the_default(self):
        timeouts = [0, 0.0, 0.2, 1, 1.0, 1.5]
        document = plan_document.from_mapping(
            {
                'actions': [
                    {'name': f'a{i}', 'action_type': 'nop', 'timeout': timeout}
                    for i, timeout in enumerate(timeouts)
                ]
            }
        )

        self.assertEqual([0, 0, 1, 1, 1, 2], [a.timeout for a in document.actions])

    def test_actions_in_the_order_in_which_they_can_run(self):
        document = plan_document.from_mapping(
            {
                'actions': [
                    {'name': 'last', 'action_type': 'nop', 'parents': ['mid']},
                    {'name': 'mid', 'action_type': 'nop', 'parents': ['first']},
                    {'name': 'other', 'action_type': 'nop'},
                    {'name': 'first', 'action_type': 'nop'},
                ]
            }
        )

        self.assertEqual([[1], [3], [], []], document.parents())
        self.assertEqual(
            ['first', 'mid', 'last', 'other'],
            [a.name for a in document.topological_order()],
        )


class TextTest(base.TestCase):
    """Syntax errors of a document."""

    def test_text_that_is_neither_yaml_nor_json_is_rejected_with_its_line(self):
        for text, expected in (
            ('name: a\nactions: [}\n', '2: {}: while parsing a flow '),
            ('{"actions": [\n{"name": "a",\n"action_type" "b"}]}', '3: {}: '),
        ):
            (problem,) = problems_of(text)
            begin = 'plan.yaml:' + expected.format('this is neither YAML nor JSON')
            self.assertEqual(begin, problem[: len(begin)])

    def test_text_that_is_no_plan_is_rejected_with_its_line(self):
        plan = 'actions: [{name: a, action_type: nop}]\n'
        with_inputs = 'actions: [{name: a, action_type: nop, input_parameters: %s}]'
        as_json = (
            '{"actions": [{"name": "a", "action_type": "nop", "input_parameters": %s}]}'
        )
        bomb = 'a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n' + '\n'.join(
            f'a{i}: &a{i} [{", ".join([f"*a{i - 1}"] * 10)}]' for i in range(1, 12)
        )
        no_character = 'there is a character that YAML does not allow, U+'
        twice = 'this key is duplicated; remove one of them'
        inputs = 'actions[0].input_parameters'
        for text, *expected in (
            ('name: a\n# fünf'.encode('latin-1'), ':2: this is not text in UTF-8'),
            ('name: a\n# \x07', f':2: {no_character}0007'),
            ('name: "\ud800"', f':1: {no_character}D800'),
            ('#' * (64 * 1024**2 + 1), ': is larger than 64 MiB; split the plan'),
            (
                f'---\n{plan}---\n{plan}',
                ':3: a second document starts here; a file contains one plan: remove '
                'the line of dashes, or use two files',
            ),
            (
                'actions:\n- name: a\n  action_type: nop\n  name: b\n'
                '  input_parameters: {a: {},\n    a: []}\n',
                f':4: actions[0].name: {twice}',
                f':6: {inputs}.a: {twice}',
            ),
            (
                '{"actions":\n\t[{"name": "a",\n\t"action_type": "nop",\n\t"name": "b",'
                ' "input_parameters":\n\t{"a": {},\n\t"a": []}}]}\n',
                f':4: actions[0].name: {twice}',
                f':6: {inputs}.a: {twice}',
            ),
            # JSON that is not YAML
            (
                as_json % '{"a": "\\ud83d\\ude00", "a": 1}',
                ": the key 'a' is duplicated",
            ),
            (
                '\n\n' + with_inputs % f'{{n: {"9" * 5000}}}',
                f':3: {inputs}.n: this number has too many digits; put it in quotes',
            ),
            ('{[a]: 1}', ':1: a mapping or a list cannot be a key'),
            (
                with_inputs % '{2: a,\n on: b}',
                f':1: {inputs}.2: a key must be text and this is a number; put it in '
                'quotes',
                f':2: {inputs}.True: a key must be text and this is true or false; put '
                'it in quotes',
            ),
            ('a: *b', ':1: there is no anchor &b for the alias *b'),
            ('a: &a\n  b: [*a]', ':2: the alias *a contains itself'),
            (bomb, ':6: aliases repeat more than 1000000 values; write fewer'),
            (
                'actions: []\n<<: [1]',
                ':1: actions: the plan has no actions; list at least one',
                ":2: '<<': only mappings can be merged; name an alias of one",
            ),
            (
                as_json % ('{"a": ' + '[' * 200 + ']' * 200 + '}'),
                f':1: {inputs}.a{"[0]" * 99}: this is nested deeper than 100 levels',
            ),
            *(
                (begin + '[' * 100_000, ':1: this is nested deeper than 200 levels')
                for begin in ('', '{"a": ')
            ),
        ):
            self.assertEqual(
                [f'plan.yaml{problem}' for problem in expected], problems_of(text)
            )

    def test_tags(self):
        self.assertEqual(
            [
                'plan.yaml:1: name: the tag !!python/name:os.system is not allowed; '
                'write a plain value',
                'plan.yaml:2: on_failure: the tag !secret is not allowed; write a '
                'plain value',
                "plan.yaml:3: max_parallel: 'many' is not of the type int",
                'plan.yaml:4: actions: the tag !!set is not allowed; write a plain '
                'value',
                'plan.yaml:4: actions: this is a mapping; it must be a list of actions',
            ],
            problems_of("""\
                name: !!python/name:os.system
                on_failure: !secret stop
                max_parallel: !!int many
                actions: !!set {a, b}
                """),
        )


class StructureTest(base.TestCase):
    """Semantic errors of a document."""

    def test_a_document_without_actions_is_rejected(self):
        for text in ('', '# only a comment\n', '---\n', 'null', b'\xef\xbb\xbf'):
            (problem,) = problems_of(text)
            self.assertRegex(
                problem,
                r'^plan\.yaml(:\d)?: the document is empty; a plan has actions$',
            )
        no_mapping = 'the document is %s; a plan is a mapping with the key actions'
        for text, expected in (
            ('- a', no_mapping % 'a list'),
            ('a', no_mapping % 'text'),
            ('1', no_mapping % 'a number'),
            *(
                (text, 'actions: the plan has no actions; list at least one')
                for text in ('name: a', 'actions:', 'actions: []')
            ),
        ):
            self.assertEqual([f'plan.yaml:1: {expected}'], problems_of(text))

    def test_all_problems_are_reported_in_order_of_lines(self):
        self.assertEqual(
            [
                'plan.yaml:1: nam: there is no such key; did you mean name?',
                "plan.yaml:2: on_failure: 'explode' is not one of continue, stop, "
                'rollback',
                'plan.yaml:3: max_parallel: 0 is not a whole number of actions from 1 '
                'to 2147483647; leave it out for no limit',
                'plan.yaml:5: actions[0].name: 7 is a number, not text; put it in '
                'quotes',
                'plan.yaml:6: actions[0].action_type: True is true or false, not text; '
                'put it in quotes',
                'plan.yaml:7: actions[0].input_parameters: this is a list; it must be '
                'a mapping',
                'plan.yaml:8: actions[1]: this action has no action_type',
                'plan.yaml:9: actions[1].parent: there is no such key; did you mean '
                'parents?',
                "plan.yaml:10: actions[1].timeout: 'soon' is not a number of seconds "
                'from 0 to 2147483647; 0 is the default',
                'plan.yaml:11: actions[1].parents: this is text; it must be a list of '
                'names of actions; write [drain]',
                'plan.yaml:12: actions[2]: this is text; an action is a mapping with '
                'the keys name and action_type',
                'plan.yaml:13: actions[3].name: this has 0 characters; it must have 1 '
                'to 255',
                'plan.yaml:15: actions[3].parents[0]: this is a mapping, not the '
                'name of an action',
                'plan.yaml:16: actions[3].parents[1]: 3 is a number, not the name of '
                'an action; put it in quotes',
                'plan.yaml:17: actions[3].not_before: '
                "'2030-01-31T22:00:00' is not a time with a zone; write it as "
                '2030-01-31T22:00:00Z, or with +01:00 for the Z',
                "plan.yaml:18: actions[3].target: ' node' starts or ends with a space",
            ],
            problems_of("""\
                nam: nightly
                on_failure: explode
                max_parallel: 0
                actions:
                - name: 7
                  action_type: yes
                  input_parameters: [a]
                - name: restart
                  parent: [drain]
                  timeout: soon
                  parents: drain
                - drain
                - name: ""
                  action_type: nop
                  parents: [{a: b},
                    3]
                  not_before: 2030-01-31T22:00:00
                  target: " node"
                """),
        )

    def test_values_at_the_limits_of_the_database(self):
        early = '0001-01-01T00:00:00+10:00'
        actions = [
            {'name': 'a', 'action_type': 'nop', 'timeout': 2**31 - 1},
            {'name': 'b' * 255, 'action_type': 'nop', 'timeout': 2**31},
            {'name': 'c' * 256, 'action_type': 'nop', 'timeout': float('nan')},
            {'name': 'd\x1b[2J', 'action_type': 'nop', 'timeout': True},
            {'name': 'e', 'action_type': 'nop', 'not_before': early},
        ]
        error = self.assertRaises(
            exceptions.InvalidDocument,
            plan_document.from_mapping,
            {'max_parallel': 2**31, 'actions': actions},
        )

        seconds = 'is not a number of seconds from 0 to 2147483647; 0 is the default'
        self.assertEqual(
            [
                'max_parallel: 2147483648 is not a whole number of actions from 1 to '
                '2147483647; leave it out for no limit',
                f'actions[1].timeout: 2147483648 {seconds}',
                'actions[2].name: this has 256 characters; it must have 1 to 255',
                f'actions[2].timeout: nan {seconds}',
                "actions[3].name: 'd\\x1b[2J' has a character that cannot be shown",
                f'actions[3].timeout: True {seconds}',
                f'actions[4].not_before: {early!r} is out of range',
            ],
            error.problems,
        )

    def test_names_are_unique_and_parents_are_other_actions_without_a_cycle(self):
        self.assertEqual(
            [
                "plan.yaml:3: actions[1].name: 'a' is the name of actions[0] already; "
                'each action needs its own',
                "plan.yaml:5: actions[2].parents[1]: there is no action 'drian'; did "
                'you mean drain?',
                'plan.yaml:5: actions[2].parents[2]: an action cannot wait for itself',
                "plan.yaml:5: actions[2].parents[3]: 'drain' is duplicated; name it "
                'once',
                "plan.yaml:5: actions[2].parents[4]: there is no action 'x'",
            ],
            sorted(
                problems_of("""\
                    actions:
                    - {name: a, action_type: nop}
                    - {name: a, action_type: nop}
                    - {name: restart, action_type: nop,
                       parents: [drain, drian, restart, drain, x]}
                    - {name: drain, action_type: nop}
                    """)
            ),
        )
        self.assertEqual(
            [
                'plan.yaml:3: actions[1].parents: these actions wait for each other: '
                'a -> b -> c -> a; remove one of them from the parents of the next',
                'plan.yaml:6: actions[4].parents: these actions wait for each other: '
                'd -> e -> d; remove one of them from the parents of the next',
            ],
            problems_of("""\
                actions:
                - {name: free, action_type: nop}
                - {name: a, action_type: nop, parents: [c, free]}
                - {name: b, action_type: nop, parents: [a]}
                - {name: c, action_type: nop, parents: [b]}
                - {name: d, action_type: nop, parents: [e]}
                - {name: e, action_type: nop, parents: [d]}
                """),
        )

    def test_many_problems_are_found_in_linear_time(self):
        text = 'actions:\n' + ''.join(
            f'- {{name: a{i}, action_type: nop, parents: [b{i}]}}\n'
            for i in range(5000)
        )

        problems = problems_of(text)

        self.assertEqual(101, len(problems))
        self.assertEqual('and 4900 more problems', problems[-1])
        self.assertEqual(
            "plan.yaml:101: actions[99].parents[0]: there is no action 'b99'",
            problems[-2],
        )


class InputsTest(base.TestCase):
    def validate(self, action_type, inputs):
        if action_type != 'nop':
            raise exceptions.PluginNotFound(f'There is no action type {action_type}')
        if 'message' not in inputs:
            raise exceptions.InvalidInput('input_parameters.message: is required')
        for i, line in enumerate(inputs.get('lines', [])):
            if not line:
                raise exceptions.InvalidInput(
                    f'input_parameters.lines.{i}: "" is too short; try again'
                )
        if inputs['message'] == 'bye':
            raise exceptions.InvalidInput('rejected by validate')

    def problems(self, document):
        return self.assertRaises(
            exceptions.InvalidDocument,
            *(plan_document.check_inputs, document, self.validate),
        ).problems

    def test_every_action_with_an_invalid_type_or_inputs_is_named(self):
        document = plan_document.parse(
            textwrap.dedent("""\
                actions:
                - name: good
                  action_type: nop
                  input_parameters: {message: hello}
                - name: unknown
                  action_type: scan
                - name: bad
                  action_type: nop
                  input_parameters:
                    message: hello
                    lines: [one,
                            ""]
                - name: none
                  action_type: nop
                - name: rejected
                  action_type: nop
                  input_parameters:
                    message: bye
                """),
            'plan.yaml',
        )

        self.assertEqual(
            [
                'plan.yaml:6: actions[1].action_type: action unknown: There is no '
                'action type scan',
                'plan.yaml:12: actions[2]: action bad: input_parameters.lines.1: "" is '
                'too short; try again',
                'plan.yaml:13: actions[3]: action none: input_parameters.message: is '
                'required',
                'plan.yaml:17: actions[4]: action rejected: rejected by validate',
            ],
            self.problems(document),
        )

    def test_input_problems_are_reported_with_all_others(self):
        draft = plan_document.draft(
            textwrap.dedent("""\
                actions:
                - name: bad
                  action_type: nop
                  timeout: soon
                - action_type: scan
                - name: bad
                  action_type: nop
                  input_parameters: {message: bye}
                  parents: [worse]
                """),
            'plan.yaml',
        )

        draft.check_inputs(self.validate)

        self.assertEqual(
            [
                'plan.yaml:2: actions[0]: action bad: input_parameters.message: is '
                'required',
                "plan.yaml:4: actions[0].timeout: 'soon' is not a number of seconds "
                'from 0 to 2147483647; 0 is the default',
                'plan.yaml:5: actions[1]: this action has no name',
                'plan.yaml:5: actions[1].action_type: There is no action type scan',
                "plan.yaml:6: actions[2].name: 'bad' is the name of actions[0] "
                'already; each action needs its own',
                'plan.yaml:8: actions[2]: action bad: rejected by validate',
                "plan.yaml:9: actions[2].parents[0]: there is no action 'worse'",
            ],
            self.assertRaises(exceptions.InvalidDocument, draft.finished).problems,
        )

    def test_unparsable_text_has_no_further_problems(self):
        draft = plan_document.draft(
            textwrap.dedent("""\
                actions:
                - name: misspelt
                  action_type: nop
                  inputs: {message: hello}
                - name: typed
                  action_type: scan
                  inputs: {message: hello}
                - name: text
                  action_type: nop
                  input_parameters: hello
                - name: twice
                  action_type: nop
                  input_parameters:
                    again: 1
                    again: 2
                - name: number
                  action_type: 7
                - nothing
                """),
            'plan.yaml',
        )

        draft.check_inputs(self.validate)

        known = 'name, action_type, input_parameters, parents, timeout, target, '
        known += 'not_before'
        self.assertEqual(
            [
                'plan.yaml:4: actions[0].inputs: there is no such key; known are '
                f'{known}',
                'plan.yaml:6: actions[1].action_type: action typed: There is no action '
                'type scan',
                'plan.yaml:7: actions[1].inputs: there is no such key; known are '
                f'{known}',
                'plan.yaml:10: actions[2].input_parameters: this is text; it must be a '
                'mapping',
                'plan.yaml:15: actions[3].input_parameters.again: this key is '
                'duplicated; remove one of them',
                'plan.yaml:17: actions[4].action_type: 7 is a number, not text; put '
                'it in quotes',
                'plan.yaml:18: actions[5]: this is text; an action is a mapping with '
                'the keys name and action_type',
            ],
            self.assertRaises(exceptions.InvalidDocument, draft.finished).problems,
        )

    def test_a_mapping_has_paths_instead_of_lines(self):
        actions = [{'name': 'bad', 'action_type': 'nop'}]

        self.assertEqual(
            ['actions[0]: action bad: input_parameters.message: is required'],
            self.problems(plan_document.from_mapping({'actions': actions})),
        )

    def test_valid_inputs_raise_nothing(self):
        document = plan_document.parse(
            'actions: [{name: good, action_type: nop, input_parameters: {message: a}}]',
            'f',
        )
        asked = []

        plan_document.check_inputs(document, lambda *call: asked.append(call))

        self.assertEqual([('nop', {'message': 'a'})], asked)
