"""The stack that a definition describes."""

from tests import base
from tests.unit.domain.templates.worlds import CreatedResources, blueprint, parsed
from watcherlite import exceptions
from watcherlite.domain.stacks import Definition
from watcherlite.domain.templates import nodes
from watcherlite.domain.templates.blueprint import Blueprint, NoReferences, OutputValue
from watcherlite.domain.templates.scope import EvaluationBudget

SHOP = """
    heat_template_version: 2021-04-16
    parameters:
      size: {type: number, default: 1}
      password: {type: string, default: hunter2, hidden: true}
      token: {type: string, default: t}
      tags: {type: comma_delimited_list, default: 'a,b'}
    conditions:
      large: {not: {equals: [{get_param: size}, 1]}}
      spare: {and: [large, {or: [false, {contains: [a, {get_param: tags}]}]}]}
    resources:
      web:
        type: OS::Heat::Value
        properties:
          value: [{get_attr: [db, value]}, {get_resource: cache}]
          size: {if: [large, {get_resource: disk}]}
        metadata: {log: {get_resource: log}}
        update_policy: {batch: {get_param: size}}
        depends_on: [log, disk]
      db: {type: Alias}
      cache: {type: OS::Heat::None, depends_on: db}
      log: {type: OS::Heat::None}
      disk: {type: OS::Heat::None, condition: large}
      standby: {type: OS::Heat::None, condition: {not: {not: spare}}}
    outputs:
      value: {value: {get_attr: [web, value]}, description: The value}
      disk: {value: {get_resource: disk}, condition: large}
      broken: {value: {str_split: [{get_attr: [db, value]}, x]}}
    """


class BlueprintTest(base.TestCase):
    def assert_refused(self, expected, template, kind=None, **given):
        error = self.assertRaises(
            exceptions.StackValidationFailed, blueprint, template, **given
        )
        self.assertIs(kind or exceptions.StackValidationFailed, type(error))
        self.assertEqual(expected, error.problems)

    def test_conditions_select_resources(self):
        environment = {'resource_registry': {'Alias': 'db.yaml'}}
        small = blueprint(SHOP, environment=environment)
        large = blueprint(SHOP, environment=environment, parameters={'size': '2'})
        requires = {
            'web': ('cache', 'db', 'log'),
            'db': (),
            'cache': ('db',),
            'log': (),
        }

        self.assertEqual(
            [
                requires,
                {
                    **requires,
                    'web': ('cache', 'db', 'disk', 'log'),
                    'disk': (),
                    'standby': (),
                },
            ],
            [dict(small.requires), dict(large.requires)],
        )
        self.assertEqual(
            [list(small.requires), list(large.requires)],
            [list(small.resources), list(large.resources)],
        )
        self.assertEqual(
            [{'large': False, 'spare': False}, {'large': True, 'spare': True}],
            [small.conditions, large.conditions],
        )
        self.assertEqual(
            ('db.yaml', 'OS::Heat::None'), (small.handlers['db'], small.handlers['log'])
        )

    def test_references_have_the_values_of_created_resources_only(self):
        small, large = blueprint(SHOP), blueprint(SHOP, parameters={'size': 2})
        made = CreatedResources(db={'value': ['x']}, web={'value': 'v'})

        self.assertEqual(
            [
                {'value': [None, None]},
                {'log': None},
                {'batch': 1},
                {},
                {'value': [['x'], 'id-of-cache'], 'size': 'id-of-disk'},
            ],
            [
                small.properties('web', NoReferences()),
                small.metadata('web', NoReferences()),
                small.update_policy('web', NoReferences()),
                small.properties('log', NoReferences()),
                large.properties('web', made),
            ],
        )
        text = 'outputs.broken.value.str_split: its delimiter is a number'
        self.assertEqual(
            [
                OutputValue('value', 'v', 'The value'),
                OutputValue('broken', None, error=text),
            ],
            small.outputs(CreatedResources(db={'value': 5}, web={'value': 'v'})),
        )

    def test_hidden_parameters_are_masked(self):
        made = blueprint(SHOP, environment={'encrypted_param_names': ['token', 'x']})

        self.assertEqual(frozenset({'password', 'token'}), made.hidden)
        self.assertEqual(
            {
                'OS::stack_name': 'teapot',
                'OS::stack_id': '1-2-3',
                'OS::project_id': 'tenant-1',
                'size': '1',
                'password': '******',
                'token': '******',
                'tags': 'a,b',
            },
            made.shown_parameters(),
        )

    def test_invalid_references_are_reported_with_lines(self):
        self.assert_refused(
            [
                'template:7: resources.a.properties.b.get_resource: the condition of '
                'resource gone does not hold; use if around this',
                'template:8: resources.a.properties.c.get_attr: there is no resource '
                'of that name; name one of the template',
                'template:9: resources.a.properties.d.get_file: No content found in '
                'the "files" section for get_file path: run.sh; send its text in files',
                'template:11: resources.typo.type: resource_registry: the type Closed '
                'is disabled; map it to another type',
                'template:13: outputs.o.value.get_resource: the condition of resource '
                'gone does not hold; use if around this',
                'template:14: outputs.p.condition: this is text; a condition must be '
                'true or false',
            ],
            """
            heat_template_version: 2021-04-16
            parameters: {which: {type: string, default: missing}}
            resources:
              a:
                type: T
                properties:
                  b: {get_resource: gone}
                  c: {get_attr: [{get_param: which}, x]}
                  d: {get_file: run.sh}
              gone: {type: Closed, condition: false}
              typo: {type: Closed}
            outputs:
              o: {value: {get_resource: gone}}
              p: {value: {get_resource: gone}, condition: {get_param: which}}
            """,
            environment={'resource_registry': {'Closed': None}},
        )

    def test_circular_dependencies_are_reported_completely(self):
        self.assert_refused(
            [
                'template:3: resources.a: Circular Dependency Found: c needs b needs a '
                'needs c; remove one of these dependencies',
                'template:6: resources.self: Circular Dependency Found: self needs '
                'self; remove one of these dependencies',
            ],
            """
            heat_template_version: 2021-04-16
            resources:
              a: {type: T, depends_on: c}
              b: {type: T, metadata: {x: {get_resource: a}}}
              c: {type: T, properties: {x: [{get_attr: [b, y]}]}}
              self: {type: T, properties: {x: {get_resource: self}}}
              fine: {type: T, depends_on: c}
            """,
            exceptions.CircularDependency,
        )

    def test_non_boolean_condition_is_reported(self):
        self.assert_refused(
            ['conditions.a: this is a number; a condition must be true or false'],
            {
                'parameters': {'n': {'type': 'number', 'default': 1}},
                'conditions': {'a': {'get_param': 'n'}, 'b': {'not': 'a'}},
            },
        )

    def test_omitted_value_removes_its_element_and_properties_are_a_mapping(self):
        written = {'if': [False, 1]}
        made = blueprint(
            {
                'resources': {
                    'a': {'type': 'T', 'properties': {'x': written, 'y': [1, written]}},
                    'b': {'type': 'T', 'properties': written},
                    'c': {'type': 'T', 'properties': {'if': [True, {'x': None}, {}]}},
                    'd': {'type': 'T', 'properties': {'if': [True, 'x', {}]}},
                },
                'outputs': {'o': {'value': written}},
            }
        )

        self.assertEqual(
            [{'y': [1]}, {}, {'x': None}],
            [made.properties(name, NoReferences()) for name in 'abc'],
        )
        self.assertEqual([OutputValue('o', None)], made.outputs(NoReferences()))
        error = self.assertRaises(
            exceptions.StackValidationFailed, made.properties, 'd', NoReferences()
        )
        self.assertEqual(
            'resources.d.properties: this becomes text; it must become a mapping',
            str(error),
        )

    def test_a_stack_without_an_id_can_be_evaluated(self):
        made = blueprint({'resources': {}})

        self.assertEqual(
            (None, {}),
            (
                type(made)
                .of(made.definition, name='x', uuid=None, tenant='t')
                .parameters['OS::stack_id'],
                dict(made.requires),
            ),
        )

    def test_parts_of_large_and_small_templates_are_visited_equally_often(self):
        def looks(count):
            seen = []
            add_references = nodes.Call.add_references
            nodes.Call.add_references = lambda *args: (
                seen.append(1),
                add_references(*args),
            )[1]
            try:
                made = blueprint(
                    {
                        'resources': {
                            f'r{i}': {
                                'type': 'T',
                                'properties': {'v': {'get_resource': f'r{i + 1}'}},
                            }
                            for i in range(count)
                        }
                        | {f'r{count}': {'type': 'T'}}
                    }
                )
            finally:
                nodes.Call.add_references = add_references
            self.assertEqual(count + 1, len(made.requires))
            return len(seen) / count

        self.assertEqual(looks(10), looks(3000))


class TemplateOfTextTest(base.TestCase):
    def test_a_stored_template_differs_only_in_its_lines(self):
        template = parsed(SHOP)

        self.assertEqual(
            blueprint(template).requires, blueprint(dict(template)).requires
        )


#: A short text with a very long value.
LONG = {
    'list_join': [
        '',
        {
            'repeat': {
                'template': '%x%',
                'for_each': {'%x%': [{'get_param': 'text'}] * 30},
            }
        },
    ]
}


class BudgetTest(base.TestCase):
    """The budget of a request."""

    def large(self, **sections):
        template = {
            'parameters': {'text': {'type': 'string', 'default': 'x' * 10_000}},
            **sections,
        }
        return blueprint(template)

    def test_outputs_have_a_total_size_limit_but_are_available_one_by_one(self):
        made = self.large(outputs={f'o{n}': {'value': LONG} for n in range(60)})
        text = (
            'The outputs of the stack have more than 1000000 bytes together; request '
            'a single output, or reduce their size.'
        )

        found = made.outputs(NoReferences(), most=1_000_000)
        alone = made.outputs(NoReferences(), 'o59', 1_000_000)

        self.assertEqual([None] * 3 + [text] * 57, [one.error for one in found])
        self.assertEqual(
            [300_000] * 3 + [0] * 57, [len(one.value or '') for one in found]
        )
        self.assertEqual(
            [('o59', 300_000)], [(one.key, len(one.value)) for one in alone]
        )

    def test_constant_and_repeated_values_count_towards_the_size(self):
        values = {'1': {'get_param': 'text'}}
        many = {'map_replace': [{f'k{n}': 1 for n in range(1000)}, {'values': values}]}
        made = self.large(
            outputs={
                'a': {'value': 'x' * 500},
                'b': {'value': {'map_replace': [{}, {}]}},
                'c': {'value': 'x' * 500},
                'd': {'value': many},
            }
        )

        found = made.outputs(NoReferences(), most=1000)
        (repeated,) = made.outputs(NoReferences(), 'd')

        self.assertEqual(['a', 'b'], [one.key for one in found if one.error is None])
        self.assertIn('makes more than 4194304 characters', str(repeated.error))

    def test_evaluations_of_a_request_share_a_budget(self):
        template = parsed("""
            heat_template_version: 2021-04-16
            parameters: {text: {type: string}}
            conditions:
              long: {equals: [{get_param: text}, '']}
              longer: {equals: [{get_param: text}, ' ']}
            """)
        definition = Definition(template, parameters={'text': 'x' * 1000})

        def make(budget):
            return Blueprint.of(
                definition, name='a', uuid='1', tenant='t', budget=budget
            )

        make(EvaluationBudget(2000))
        error = self.assertRaises(
            exceptions.RequestLimitExceeded, make, EvaluationBudget(1999)
        )

        self.assertEqual(
            'the functions of the template make more than 1999 characters and values '
            'for one request; make less',
            str(error),
        )

    def test_the_number_of_outputs_is_limited(self):
        error = self.assertRaises(
            exceptions.StackValidationFailed,
            self.large,
            outputs={f'o{n}': {'value': 1} for n in range(1001)},
        )

        self.assertEqual(
            ['outputs: there are 1001 outputs; a template has at most 1000'],
            error.problems,
        )
