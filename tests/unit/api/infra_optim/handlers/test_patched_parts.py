"""A patch of a part of an attribute preserves concurrent changes."""

from typing import Any

from tests.audit_worlds import AuditCase, strategy
from tests.unit.api.infra_optim import fakes
from watcherlite import exceptions
from watcherlite.api.infra_optim.handlers import ROUTES
from watcherlite.domain.audits import AuditTemplateRequest

SCHEMA = {
    'type': 'object',
    'properties': {'a': {'type': 'integer'}, 'b': {'type': 'integer'}},
}


class InterruptedOperations:
    """Operations whose first `times` updates are preceded by another change."""

    def __init__(self, operations: Any, others: Any, times: int = 1) -> None:
        self._operations = operations
        self._others = others
        self._left = times

    def update(self, *arguments: Any) -> Any:
        if self._left:
            self._left -= 1
            self._others(self._left)
        return self._operations.update(*arguments)


class TestPartialPatches(AuditCase):
    def setUp(self) -> None:
        super().setUp()
        made = strategy(schema=SCHEMA)
        self.world = self.create_audit_world(strategies={'made': made})

    def patch(self, noun: str, name: str, path: str, **parts: Any) -> Any:
        services = fakes.services(
            store=self.world.store, clock=self.world.clock, **parts
        )
        variable = noun.removesuffix('s')
        operation = ROUTES[f'/v1/{noun}/{{{variable}}}']['PATCH']
        request = fakes.request(
            services,
            version=(1, 7),
            path={variable: name},
            body=[{'op': 'replace', 'path': path, 'value': 7}],
        )
        return operation.call(request).body

    def test_patch_of_audit_parameter_preserves_concurrent_change(self) -> None:
        world = self.world
        audit = world.audit(strategy='made', parameters={'a': 1, 'b': 1})

        def other(left: int) -> None:
            world.audits.update(audit.uuid, {'parameters': {'a': 1, 'b': 2}})

        shown = self.patch(
            'audits',
            audit.uuid,
            '/parameters/a',
            audits=InterruptedOperations(world.audits, other),
        )

        self.assertEqual({'a': 7, 'b': 2}, shown['parameters'])

    def test_patch_of_template_parameter_preserves_concurrent_change(self) -> None:
        world = self.world
        new = AuditTemplateRequest(
            name='nightly',
            goal='dummy',
            strategy='made',
            default_parameters={'a': 1, 'b': 1},
        )
        world.templates.create(new)

        def other(left: int) -> None:
            values = {'default_parameters': {'a': 1, 'b': 2}}
            world.templates.update('nightly', values)

        shown = self.patch(
            'audit_templates',
            'nightly',
            '/default_parameters/a',
            templates=InterruptedOperations(world.templates, other),
        )

        self.assertEqual({'a': 7, 'b': 2}, shown['default_parameters'])

    def test_patch_of_constantly_changing_row_is_rejected(self) -> None:
        world = self.world
        audit = world.audit(strategy='made', parameters={'a': 1, 'b': 1})

        def other(left: int) -> None:
            world.audits.update(audit.uuid, {'parameters': {'a': 1, 'b': left}})

        error = self.assertRaises(
            exceptions.OutOfDate,
            self.patch,
            'audits',
            audit.uuid,
            '/parameters/a',
            audits=InterruptedOperations(world.audits, other, 100),
        )

        self.assertIn('try again', str(error))
