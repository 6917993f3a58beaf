"""Resources with an external id, checked by that id alone."""

import os
import socket
from collections.abc import Mapping
from typing import Any

import fixtures

from tests.stack_worlds import StackWorldCase, res
from watcherlite.plugins import loader
from watcherlite.plugins.base import NestedHandler
from watcherlite.plugins.resource_handlers import process_table
from watcherlite.plugins.resource_handlers.local_file import LocalFile


class TestExternal(StackWorldCase):
    def test_every_type_looks_at_what_is_there_without_properties(self) -> None:
        directory = self.useFixture(fixtures.TempDir()).path
        path = os.path.join(directory, 'a file')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('mine')
        me = process_table.read_process(os.getpid())
        assert me is not None
        ids = {
            'Local::File': path,
            'Local::Process': f'{socket.gethostname()}:{me.pid}:{me.start}',
        }
        types = loader.load().resource_types()
        names = [n for n, t in types.items() if not issubclass(t, NestedHandler)]

        class Allowed(LocalFile):
            """Files of the directory of the test."""

            def __init__(self, options: Any = None) -> None:
                super().__init__(options)
                self.options = _Options([directory])

        handlers: Mapping[str, Any] = {n: types[n] for n in names}
        world = self.a_stack_world({**handlers, 'Local::File': Allowed})
        resources = {
            name.replace(':', '-'): res(name, _external_id=ids.get(name, 'there'))
            for name in names
        }
        stack = world.make(resources)

        self.assertEqual(
            dict.fromkeys(resources, 'ADOPT_COMPLETE'),
            world.states(stack),
            stack.status_reason,
        )
        world.act(stack, 'DELETE')
        self.assertTrue(os.path.exists(path))


class _Options:
    def __init__(self, directories: list[str]) -> None:
        self.directories = directories
