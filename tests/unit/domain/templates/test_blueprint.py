"""The stack that a definition describes."""

from tests import base
from tests.unit.domain.templates.worlds import Made, blueprint, parsed
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
    def refused(self, kind, template, **given):
        error = self.assertRaises(
            exceptions.StackValidationFailed, blueprint, template, **given
        )
        self.assertIs(kind, type(error))
        return error.problems

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

    def test_references_to_missing_resources_are_none(self):
        made = blueprint(SHOP)

        self.assertEqual(
            ({'value': [None, None]}, {'log': None}, {'batch': 1}, {}),
            (
                made.properties('web', NoReferences()),
                made.metadata('web', NoReferences()),
                made.update_policy('web', NoReferences()),
                made.properties('log', NoReferences()),
            ),
        )

    def test_references_to_created_resources_have_values(self):
        made = blueprint(SHOP, parameters={'size': 2})
        references = Made(db={'value': ['x']}, web={'value': 'v'})

        self.assertEqual(
            {'value': [['x'], 'id-of-cache'], 'size': 'id-of-disk'},
            made.properties('web', references),
        )

    def test_failed_outputs_have_an_error(self):
        made = blueprint(SHOP)
        references = Made(db={'value': 5}, web={'value': 'v'})

        self.assertEqual(
            [
                OutputValue('value', 'v', 'The value'),
                OutputValue(
                    'broken',
                    None,
                    error='outputs.broken.value.str_split: its delimiter is a number',
                ),
            ],
            made.outputs(references),
        )

    def test_hidden_parameters_are_masked(self):
        made = blueprint(SHOP, environment={'encrypted_param_names': ['token', 'x']})

        self.assertEqual(frozenset({'password', 'token'}), made.hidden)
        self.assertEqual(
            {
                'OS::stack_name': 'teapot',
                'OS::stack_id': '1-2-3',
                'OS::project_id': 'kitchen',
                'size': '1',
                'password': '******',
                'token': '******',
                'tags': 'a,b',
            },
            made.shown_parameters(),
        )

    def test_invalid_references_are_reported_with_lines(self):
        text = """
            heat_template_version: 2021-04-16
            parameters: {which: {type: string, default: nowhere}}
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
            """

        self.assertEqual(
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
            self.refused(
                exceptions.StackValidationFailed,
                text,
                environment={'resource_registry': {'Closed': None}},
            ),
        )

    def test_circular_dependencies_are_reported_completely(self):
        self.assertEqual(
            [
                'template:3: resources.a: Circular Dependency Found: c needs b needs a '
                'needs c; remove one of these dependencies',
                'template:6: resources.self: Circular Dependency Found: self needs '
                'self; remove one of these dependencies',
            ],
            self.refused(
                exceptions.CircularDependency,
                """
                heat_template_version: 2021-04-16
                resources:
                  a: {type: T, depends_on: c}
                  b: {type: T, metadata: {x: {get_resource: a}}}
                  c: {type: T, properties: {x: [{get_attr: [b, y]}]}}
                  self: {type: T, properties: {x: {get_resource: self}}}
                  fine: {type: T, depends_on: c}
                """,
            ),
        )

    def test_non_boolean_condition_is_reported(self):
        self.assertEqual(
            ['conditions.a: this is a number; a condition must be true or false'],
            self.refused(
                exceptions.StackValidationFailed,
                {
                    'parameters': {'n': {'type': 'number', 'default': 1}},
                    'conditions': {'a': {'get_param': 'n'}, 'b': {'not': 'a'}},
                },
            ),
        )

    def test_omitted_value_removes_its_element(self):
        written = {'if': [False, 1]}
        made = blueprint(
            {
                'resources': {
                    'a': {'type': 'T', 'properties': {'x': written, 'y': [1, written]}},
                    'b': {'type': 'T', 'properties': written},
                    'c': {'type': 'T', 'properties': {'if': [True, {'x': None}, {}]}},
                },
                'outputs': {'o': {'value': written}},
            }
        )

        self.assertEqual(
            [{'y': [1]}, {}, {'x': None}],
            [made.properties(name, NoReferences()) for name in 'abc'],
        )
        self.assertEqual([OutputValue('o', None)], made.outputs(NoReferences()))

    def test_properties_must_evaluate_to_a_mapping(self):
        made = blueprint(
            {'resources': {'a': {'type': 'T', 'properties': {'if': [True, 'x', {}]}}}}
        )

        error = self.assertRaises(
            exceptions.StackValidationFailed, made.properties, 'a', NoReferences()
        )
        self.assertEqual(
            'resources.a.properties: this becomes text; it must become a mapping',
            str(error),
        )

    def test_a_stack_without_an_id_can_be_looked_at(self):
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

    def test_each_part_of_a_large_template_is_looked_at_as_often_as_of_a_small_one(
        self,
    ):
        def looks(count):
            seen = []
            refer = nodes.Call.refer
            nodes.Call.refer = lambda *args: (seen.append(1), refer(*args))[1]
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
                nodes.Call.refer = refer
            self.assertEqual(count + 1, len(made.requires))
            return len(seen) / count

        self.assertEqual(looks(10), looks(3000))


class TemplateOfTextTest(base.TestCase):
    def test_a_template_that_was_stored_has_no_lines_and_is_the_same_otherwise(self):
        template = parsed(SHOP)

        self.assertEqual(
            blueprint(template).requires, blueprint(dict(template)).requires
        )


#: A short text that makes a very long one.
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
            'The outputs of the stack have more than 1000000 bytes together; ask for '
            'one of them, or have them give less.'
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

    def test_constant_parts_count_towards_the_size(self):
        made = self.large(
            outputs={
                'a': {'value': 'x' * 500},
                'b': {'value': {'map_replace': [{}, {}]}},
                'c': {'value': 'x' * 500},
            }
        )

        found = made.outputs(NoReferences(), most=1000)

        self.assertEqual(['a', 'b'], [one.key for one in found if one.error is None])

    def test_a_value_that_replaces_many_counts_each_time(self):
        keys = {f'k{n}': 1 for n in range(1000)}
        made = self.large(
            outputs={
                'a': {
                    'value': {
                        'map_replace': [keys, {'values': {'1': {'get_param': 'text'}}}]
                    }
                }
            }
        )

        (found,) = made.outputs(NoReferences())

        self.assertIn('makes more than 4194304 characters', str(found.error))

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

    def test_a_template_has_no_more_outputs_than_it_may(self):
        error = self.assertRaises(
            exceptions.StackValidationFailed,
            self.large,
            outputs={f'o{n}': {'value': 1} for n in range(1001)},
        )

        self.assertEqual(
            ['outputs: there are 1001 outputs; a template has at most 1000'],
            error.problems,
        )
