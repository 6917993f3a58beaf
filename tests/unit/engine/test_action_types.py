"""The action types of a worker of the engine."""

from typing import Any

from tests import base
from tests.worlds import kind
from watcherlite import exceptions
from watcherlite.engine.action_types import EngineActionTypes
from watcherlite.engine.audits.runs import AuditAction
from watcherlite.engine.stacks.actions.resource_action import ResourceAction
from watcherlite.engine.stacks.actions.stack_action import StackAction
from watcherlite.plugins import loader


class TestEngineTypes(base.TestCase):
    def types(self, stacks: Any = None) -> EngineActionTypes:
        plugins = loader.Plugins.of(action_types={'nop': kind('nop')})
        return EngineActionTypes.of(
            plugins, lambda context: self.fail('no run'), stacks
        )

    def create_all(self, types: EngineActionTypes) -> list[str]:
        names = []
        for name in ('audit', 'stack', 'resource', 'nop'):
            try:
                names.append(type(types.make_action_type(name)).__name__)
            except exceptions.PluginNotFound:
                names.append('')
        return names

    def test_the_engine_executes_its_own_types_and_those_of_plugins(self) -> None:
        own = [one.__name__ for one in (AuditAction, StackAction, ResourceAction)]

        self.assertEqual([*own, 'nop'], self.create_all(self.types(stacks=object())))
        # Stack types need the services of stacks.
        self.assertEqual(['AuditAction', '', '', 'nop'], self.create_all(self.types()))
