"""Resources with an external id, checked by that id alone."""

import os
import socket
import types
from collections.abc import Mapping
from typing import Any

from tests.stack_worlds import StackWorldCase, res
from watcherlite.plugins import loader
from watcherlite.plugins.base import CloudClient, NestedHandler
from watcherlite.plugins.resource_handlers import process_table
from watcherlite.plugins.resource_handlers.local_file import LocalFile


class TestExternal(StackWorldCase):
    def test_every_type_checks_an_external_resource_without_properties(self) -> None:
        path = self.home / 'a file'
        path.write_text('mine')
        allowed = types.SimpleNamespace(directories=[str(self.home)])
        me = process_table.read_process(os.getpid())
        assert me is not None
        ids = {
            'Local::File': str(path),
            'Local::Process': f'{socket.gethostname()}:{me.pid}:{me.start}',
        }
        kinds = loader.load().resource_types()
        # Those of OpenStack need a cloud.
        names = [
            name
            for name, kind in kinds.items()
            if not issubclass(kind, NestedHandler | CloudClient)
        ]

        class Allowed(LocalFile):
            """Files in the directory of the test."""

            def __init__(self, options: Any = None) -> None:
                super().__init__(options)
                self.options = allowed

        handlers: Mapping[str, Any] = {n: kinds[n] for n in names}
        world = self.create_stack_world({**handlers, 'Local::File': Allowed})
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
        self.assertTrue(path.exists())
