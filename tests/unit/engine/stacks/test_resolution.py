"""The resolution of templates."""

import functools
from typing import Any, ClassVar, cast

from tests import base
from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain.stacks import Definition, Resource, Stack, StoredDefinition
from watcherlite.engine.stacks import resolution
from watcherlite.engine.stacks.resolution import (
    Blueprints,
    RowReferences,
    definition_size,
)
from watcherlite.plugins.base import ResourceHandler

STACK = Stack('u', 's', 't', 1, id=1)


class Definitions:
    """A store of definitions, each with one text in it."""

    def __init__(self, length: int = 1) -> None:
        self.read: list[int] = []
        self._text = 'x' * length

    def get_definition(self, definition_id: int) -> StoredDefinition:
        self.read.append(definition_id)
        template = {'heat_template_version': '2021-04-16', 'description': self._text}
        return StoredDefinition(template, id=definition_id)


class TestBlueprints(base.TestCase):
    def make_cache(
        self, store: Definitions, ids: list[int], largest: int = resolution.MAX_SIZE
    ) -> list[int]:
        blueprints = Blueprints(cast(Store, store), largest)
        for definition_id in ids:
            made = blueprints.by_id(STACK, definition_id)
            self.assertEqual(definition_id, made.definition.id)
        return store.read

    def test_a_blueprint_is_cached(self) -> None:
        others = range(2, resolution.MAX_BLUEPRINTS + 10)
        ids = [one for other in others for one in (1, other)]

        self.assertEqual([1, *others], self.make_cache(Definitions(), ids))

    def test_large_blueprints_are_evicted(self) -> None:
        few = resolution.MIN_BLUEPRINTS
        again = [*range(few + 2), 0, few + 1]

        read = self.make_cache(Definitions(10_000), again, largest=20_000)

        self.assertEqual([*range(few + 2), 0], read)

    def test_the_cache_is_bounded_by_size(self) -> None:
        last = [*range(28, 40)]

        read = self.make_cache(
            Definitions(10_000), [*range(40), *last], largest=150_000
        )

        self.assertEqual([*range(40)], read)

    def test_the_size_of_a_definition_counts_texts_and_values(self) -> None:
        one = Definition({'a': ['bc', 1]}, {'d': None}, {'n.yaml': 'text'}, {'e': 'f'})
        values = 3 + 3 + 1 + 1

        self.assertEqual(values * 64 + len('abcdetextf'), definition_size(one))


class Members:
    """The members of every group; `read` are the groups whose members were read."""

    def __init__(self, rows: list[Resource]) -> None:
        self.rows = rows
        self.read: list[str] = []

    def __call__(self, row: Resource) -> list[Resource]:
        self.read.append(row.name)
        return self.rows


class TestMembers(base.TestCase):
    def test_the_members_of_a_group_are_read_once(self) -> None:
        group = Resource('g', 1, 'g', 'G', 'G', 'CREATE', 'COMPLETE', nested_id=2, id=1)
        member = Resource(
            'm', 2, 'm', 'T', 'T', attributes={'a': 1}, reference='r', id=2
        )
        members = Members([member])
        references = RowReferences({'g': group}, members)

        self.assertEqual('r', references.attribute('g', ['resource.m']))
        self.assertEqual(1, references.attribute('g', ['resource.m', 'a']))
        self.assertEqual(['g'], members.read)

    def test_the_attribute_show_is_the_record_of_the_service_or_all_attributes(
        self,
    ) -> None:
        server = {'name': 'web', 'show': {'id': 'u', 'status': 'ACTIVE'}}
        rows = {
            name: Resource(
                name, 1, name, 'T', 'T', 'CREATE', 'COMPLETE', attributes=known, id=1
            )
            for name, known in (('server', server), ('value', {'value': 1}))
        }
        references = RowReferences(rows)

        self.assertEqual(
            ['ACTIVE', server, {'value': 1}, 1],
            [
                references.attribute('server', ['show', 'status']),
                references.attribute('server', []),
                references.attribute('value', ['show']),
                references.attribute('value', ['show', 'value']),
            ],
        )


class Console(ResourceHandler):
    """A handler with a live attribute, whose service has a fault for the id `bad`."""

    attributes: ClassVar[Any] = {'name': 'The name.'}
    live_attributes: ClassVar[Any] = {'urls': 'The URLs.'}

    def read_attribute(self, context: Any, name: str) -> Any:
        if context.physical_id == 'bad':
            raise exceptions.ServiceUnavailable('the service is not available')
        return {name: [context.physical_id, context.tenant]}


class Handlers:
    """Counts the handlers that were made."""

    made = 0

    def make_resource_handler(self, name: str) -> ResourceHandler:
        self.made += 1
        if name != 'Console':
            raise exceptions.PluginNotFound(f'no {name}')
        return Console()


class TestLiveAttributes(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.handlers = Handlers()

    def references(self, physical_id: str | None, kind: str = 'Console') -> Any:
        row = Resource(
            *('u', 1, 'server', kind, kind, 'CREATE', 'COMPLETE'),
            physical_id=physical_id,
            attributes={'name': 'web'},
            id=1,
        )
        read = functools.partial(
            resolution.read_live_attribute, cast(Any, self.handlers), STACK
        )
        return RowReferences({'server': row}, read=read)

    def test_they_are_read_once_for_all_references(self) -> None:
        references = self.references('1')

        self.assertEqual('web', references.attribute('server', ['name']))
        self.assertEqual(0, self.handlers.made)
        self.assertEqual('1', references.attribute('server', ['urls', 'urls', 0]))
        self.assertEqual('t', references.attribute('server', ['urls', 'urls', 1]))
        self.assertEqual(1, self.handlers.made)

    def test_the_problem_of_the_service_is_that_of_the_reference(self) -> None:
        error = self.assertRaises(
            exceptions.Invalid, self.references('bad').attribute, 'server', ['urls']
        )

        self.assertEqual(
            'The attribute urls of server cannot be read: the service is not available',
            str(error),
        )

    def test_others_are_null(self) -> None:
        self.assertEqual(
            [None, None, None],
            [
                self.references('1').attribute('server', ['other']),
                self.references(None).attribute('server', ['urls']),
                self.references('1', 'Gone').attribute('server', ['urls']),
            ],
        )
