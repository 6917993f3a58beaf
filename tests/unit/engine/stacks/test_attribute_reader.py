"""Attributes of resources that are read for a template."""

from typing import Any, ClassVar, cast

from tests import base
from watcherlite import exceptions
from watcherlite.db.credentials import REGION
from watcherlite.domain.stacks import Resource, Stack, StoredDefinition
from watcherlite.engine.stacks.attribute_reader import AttributeReader
from watcherlite.engine.stacks.resolution import RowReferences
from watcherlite.plugins.base import ResourceHandler
from watcherlite.plugins.resource_handlers.auto_scaling_group import AutoScalingGroup
from watcherlite.plugins.resource_handlers.resource_group import ResourceGroup

OUTER = Stack('u', 's', 't', 1, id=1)
INNER = Stack('v', 's-g', 't', 1, id=2, context={REGION: 'North'})


class Console(ResourceHandler):
    """A handler with a live attribute, whose service has a fault for the id `bad`."""

    attributes: ClassVar[Any] = {'name': 'The name.'}
    live_attributes: ClassVar[Any] = {'urls': 'The URLs.'}

    def read_attribute(self, context: Any, name: str) -> Any:
        if context.physical_id == 'bad':
            raise exceptions.ServiceUnavailable('the service is not available')
        # What is stored may be needed.
        read = [context.attributes['name'], context.physical_id, context.region]
        return {name: read}


class Handlers:
    """The handlers of a process; `made` are the names of those that were made."""

    kinds: ClassVar[Any] = {
        'Console': Console,
        'Group': ResourceGroup,
        'Scaled': AutoScalingGroup,
    }

    def __init__(self) -> None:
        self.made: list[str] = []

    def make_resource_handler(self, name: str) -> ResourceHandler:
        self.made.append(name)
        if name not in self.kinds:
            raise exceptions.PluginNotFound(f'no {name}')
        made: ResourceHandler = self.kinds[name](None)
        return made


class Members:
    """A store with the members of one group; `read` are the ids of stacks read."""

    def __init__(self, rows: list[Resource]) -> None:
        self.rows = rows
        self.read: list[int] = []

    def list_resources(self, stack_ids: list[int]) -> list[Resource]:
        self.read += stack_ids
        return self.rows

    def stacks_by_id(self, ids: Any) -> dict[int, Stack]:
        return {INNER.id: INNER}

    def get_definition(self, definition_id: int) -> StoredDefinition:
        return StoredDefinition({}, id=definition_id)


def resource(name: str, kind: str = 'Console', **values: Any) -> Resource:
    given: dict[str, Any] = {'stack_id': 2, 'physical_id': f'id-{name}', **values}
    stack_id = given.pop('stack_id')
    return Resource(
        name, stack_id, name, kind, kind, 'CREATE', 'COMPLETE', **{'id': 1, **given}
    )


class ReaderCase(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.handlers = Handlers()

    def references(self, *rows: Resource, members: Any = ()) -> RowReferences:
        self.store = Members(list(members))
        reader = AttributeReader(cast(Any, self.store), cast(Any, self.handlers), OUTER)
        return RowReferences({row.name: row for row in rows}, reader)


class TestLiveAttributes(ReaderCase):
    def server(self, physical_id: str | None = '1', kind: str = 'Console') -> Any:
        return self.references(
            resource(
                'server',
                kind,
                stack_id=1,
                physical_id=physical_id,
                attributes={'name': 'web'},
            )
        )

    def test_they_are_read_once_for_all_references(self) -> None:
        references = self.server()

        self.assertEqual('web', references.attribute('server', ['name']))
        self.assertEqual([], self.handlers.made)
        self.assertEqual('web', references.attribute('server', ['urls', 'urls', 0]))
        self.assertEqual('1', references.attribute('server', ['urls', 'urls', 1]))
        self.assertEqual(['Console'], self.handlers.made)

    def test_the_problem_of_the_service_is_that_of_the_reference(self) -> None:
        error = self.assertRaises(
            exceptions.Invalid, self.server('bad').attribute, 'server', ['urls']
        )

        self.assertEqual(
            'The attribute urls of server cannot be read: the service is not available',
            str(error),
        )

    def test_others_are_null(self) -> None:
        self.assertEqual(
            [None, None, None],
            [
                self.server().attribute('server', ['other']),
                self.server(None).attribute('server', ['urls']),
                self.server('1', 'Gone').attribute('server', ['urls']),
            ],
        )


class TestMembers(ReaderCase):
    """The attributes of the members of groups."""

    def group(self, kind: str = 'Group', **stored: Any) -> RowReferences:
        """Return the references to a group `g` of two members."""
        members = [
            resource(
                name, id=at, attributes={'name': f'web-{name}', 'ips': {'n': [at]}}
            )
            for at, name in enumerate(('0', '1'), 2)
        ]
        group = resource('g', kind, stack_id=1, nested_id=2, attributes=stored)
        return self.references(group, members=members)

    def test_the_members_of_a_group_are_read_once(self) -> None:
        references = self.group()

        self.assertEqual('id-0', references.attribute('g', ['resource.0']))
        self.assertEqual('web-1', references.attribute('g', ['resource.1', 'name']))
        self.assertEqual([3], references.attribute('g', ['resource.1.ips', 'n']))
        self.assertEqual([2], self.store.read)

    def test_a_live_attribute_of_a_member_is_read_in_its_region(self) -> None:
        references = self.group()

        self.assertEqual(
            ['web-1', 'id-1', 'North'],
            references.attribute('g', ['resource.1.urls', 'urls']),
        )
        self.assertEqual(
            {'name': 'web-0', 'ips': {'n': [2]}},
            references.attribute('g', ['resource.0', 'show']),
        )

    def test_a_path_leads_into_the_attribute_of_each_member(self) -> None:
        ips = {'0': {'n': ['a']}, '1': {'n': ['b']}}
        group = self.group(ips=list(ips.values()), attributes={'ips': ips})
        scaled = self.group(
            'Scaled', outputs={'ips': ips}, outputs_list={'ips': [*ips.values()]}
        )

        self.assertEqual(
            [
                ['a', 'b'],
                {'0': ['a'], '1': ['b']},
                {'ips': ips},
                {'0': 'a', '1': 'b'},
                ['a', 'b'],
            ],
            [
                group.attribute('g', ['ips', 'n', 0]),
                group.attribute('g', ['attributes', 'ips', 'n']),
                group.attribute('g', ['attributes']),
                scaled.attribute('g', ['outputs', 'ips', 'n', 0]),
                scaled.attribute('g', ['outputs_list', 'ips', 'n', 0]),
            ],
        )
        self.assertEqual([], self.store.read)

    def test_live_attributes_of_all_members_are_read_once(self) -> None:
        group, scaled = self.group(), self.group('Scaled')

        self.assertEqual(
            [
                ['id-0', 'id-1'],
                {'0': 'id-0', '1': 'id-1'},
                {'0': 'id-0', '1': 'id-1'},
                ['id-0', 'id-1'],
            ],
            [
                group.attribute('g', ['urls', 'urls', 1]),
                group.attribute('g', ['attributes', 'urls', 'urls', 1]),
                scaled.attribute('g', ['outputs', 'urls', 'urls', 1]),
                scaled.attribute('g', ['outputs_list', 'urls', 'urls', 1]),
            ],
        )
        self.assertEqual([2], self.store.read)

    def test_attributes_that_no_member_has_are_null(self) -> None:
        group, scaled = self.group(refs=['id-0', 'id-1']), self.group('Scaled')

        self.assertEqual(
            [None, 'id-1', None, None],
            [
                group.attribute('g', ['other']),
                group.attribute('g', ['refs', 1]),
                scaled.attribute('g', ['urls']),
                scaled.attribute('g', ['outputs', 'other']),
            ],
        )
