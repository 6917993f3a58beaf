"""The problems of a template have their locations."""

from tests.stack_worlds import VERSION, res, template
from tests.unit.engine.stacks.requests.test_template_validator import (
    CheckingCase,
    inner,
)
from watcherlite.domain.stacks import Definition
from watcherlite.domain.templates import document


class TestAttributes(CheckingCase):
    """References to attributes that a type does not have."""

    def test_an_unknown_attribute_is_reported_with_its_place_and_the_known_ones(
        self,
    ) -> None:
        text = (
            f'heat_template_version: {VERSION}\n'
            'resources:\n'
            '  a:\n'
            '    type: Sample\n'
            '  b:\n'
            '    type: AnyPropertyHandler\n'
            '    properties:\n'
            '      value: {get_attr: [a, outptu]}\n'
            'outputs:\n'
            '  one:\n'
            '    value:\n'
            '      - {get_attr: [a, output, 0]}\n'
            '      - {get_attr: [b, anything]}\n'
        )

        found = self.problems_of(Definition(document.parse(text)))

        self.assertEqual(
            [
                'template:8: resources.b.properties.value.get_attr: The Referenced '
                'Attribute (a outptu) is incorrect: Sample has no such attribute; it '
                'has output',
                'template:13: outputs.one.value[1].get_attr: The Referenced Attribute '
                '(b anything) is incorrect: AnyPropertyHandler has no such attribute; '
                'it has none',
            ],
            found,
        )

    def test_a_stack_has_the_outputs_of_its_template(self) -> None:
        files = {'n.yaml': inner({'a': res()}, outputs={'o': {'value': 'x'}})}
        resources = {name: res('n.yaml') for name in 'nm'} | {
            'right': res(value={'get_attr': ['n', 'o']}),
            'all': res(value={'get_attr': ['n', 'show']}),
            'member': res(value={'get_attr': ['n', 'resource.a', 'output']}),
        }

        self.assertEqual([], self.check(resources, files))
        resources['wrong'] = res(value={'get_attr': ['m', 'p']})
        (problem,) = self.check(resources, files)
        self.assertIn('(m p) is incorrect: n.yaml has no such attribute', problem)

    def test_only_stacks_have_members(self) -> None:
        resources = {'a': res(), 'b': res(value={'get_attr': ['a', 'resource.0']})}

        (problem,) = self.check(resources)

        self.assertIn('(a resource.0) is incorrect', problem)

    def test_some_types_have_any_attribute(self) -> None:
        asked = {'get_attr': ['g', 'anything']}

        for of in (res('Group', count=1), res('AnyAttributeHandler')):
            self.assertEqual([], self.check({'g': of, 'a': res(value=asked)}))

    def test_a_name_from_a_parameter_is_not_shown(self) -> None:
        declared = {'p': {'type': 'string', 'hidden': True, 'default': 'secret'}}
        asked = {'get_attr': ['a', {'get_param': 'p'}]}

        definition = Definition(
            template({'a': res(), 'b': res(value=asked)}, parameters=declared)
        )
        (problem,) = self.problems_of(definition)

        self.assertIn('(a of that name) is incorrect', problem)
        self.assertNotIn('secret', problem)

    def test_attributes_of_an_invalid_resource_are_not_reported(self) -> None:
        asked = {'get_attr': ['a', 'anything']}

        members = {'a': res(valeu='x'), 'b': res(value=asked)}
        self.assert_problem('resources.a.properties.valeu', members)


class TestLines(CheckingCase):
    """The problems that handlers report have the lines of the template."""

    def test_problems_of_properties_policies_and_types_have_lines(self) -> None:
        text = (
            f'heat_template_version: {VERSION}\n'
            'resources:\n'
            '  a:\n'
            '    type: Sample\n'
            '    properties:\n'
            '      value: x\n'
            '      wait: often\n'
            '  b: {type: Sampel}\n'
            '  c:\n'
            '    type: PolicyRejectingGroup\n'
            '    properties: {count: 1}\n'
            '    update_policy:\n'
            '      rolling: {}\n'
            '  d:\n'
            '    type: Sample\n'
            '    properties:\n'
            '      value: {str_split: [",", {get_param: "OS::stack_name"}, 7]}\n'
        )
        found = self.problems_of(Definition(document.parse(text, 'web.yaml')))

        self.assertEqual(
            [
                'web.yaml:7: resources.a.properties.wait',
                'web.yaml:8: resources.b.type',
                'web.yaml:12: resources.c.update_policy.batch',
                'web.yaml:13: resources.c.update_policy.rolling',
                'web.yaml:17: resources.d.properties.value.str_split',
            ],
            sorted(
                (': '.join(text.split(': ')[:2]) for text in found),
                key=lambda problem: int(problem.split(':')[1]),
            ),
            found,
        )

    def test_problems_of_group_members_have_the_line_of_the_group(self) -> None:
        text = (
            f'heat_template_version: {VERSION}\n'
            'resources:\n'
            '  deep:\n'
            '    type: Wrapper\n'
            '    properties:\n'
            '      resources: {m: {type: Sampel}}\n'
        )
        start = 'resources.n: n.yaml:3: resources.deep: resources.m.type: '
        self.assert_problem(start, {'n': res('n.yaml')}, {'n.yaml': text})

    def test_a_template_is_parsed_once_for_all_its_problems(self) -> None:
        many = '\n'.join(f'  r{at}: {{type: Sampel}}' for at in range(500))
        text = f'heat_template_version: {VERSION}\nresources:\n{many}\n'

        found = self.check({'n': res('n.yaml')}, {'n.yaml': text})

        self.assertEqual(101, len(found))
        self.assertIn('n.yaml:102: resources.r99.type', found[99])
        self.assertEqual('and 400 more problems', found[100])
