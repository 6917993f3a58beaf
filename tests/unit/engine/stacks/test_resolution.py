"""The resolution of templates."""

from typing import cast

from tests import base
from watcherlite.db.api import Store
from watcherlite.domain.stacks import Definition, Resource, Stack, StoredDefinition
from watcherlite.engine.stacks import resolution
from watcherlite.engine.stacks.resolution import (
    Blueprints,
    RowReferences,
    definition_size,
)

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


class TestReferences(base.TestCase):
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
