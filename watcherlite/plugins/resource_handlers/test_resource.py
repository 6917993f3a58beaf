"""The resource for tests of stacks."""

import datetime
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.domain import resource_results
from watcherlite.domain.resource_results import (
    REPLACE,
    UPDATE,
    NotYet,
    Operation,
    Property,
    Ready,
    Result,
)
from watcherlite.plugins.base import ResourceContext, ResourceHandler
from watcherlite.plugins.resource_handlers.errors import ResourceFault

#: A negative wait: it never ends by itself.
_FOR_EVER = 3600.0
_SECONDS = {'type': 'number'}
#: Operations that repair it.
_REPAIRS = ('reboot', 'rebuild')
#: In its data: why it is unhealthy.
_BROKEN = 'broken'
_REASON: Mapping[str, Any] = {
    'type': 'object',
    'properties': {'reason': {'type': 'string', 'default': 'it was told to'}},
    'additionalProperties': False,
}


class TestResource(ResourceHandler):
    """Keeps a value, waits and fails as it is told.

    Waiting holds no thread. `fail` fails create and update after the wait, and
    never delete. A value that changes is updated in place, unless `update_replace`
    says that it replaces the resource.
    """

    #: It is no test itself, whatever looks for tests by name.
    __test__ = False
    description = 'Waits, fails and is replaced as a test of a stack wants it.'
    idempotent = True
    properties: ClassVar[Mapping[str, Property]] = {
        'value': Property(
            {'type': 'string', 'default': 'test_string'},
            'What the attribute `output` gives.',
            updatable=True,
        ),
        'fail': Property(
            {'type': 'boolean', 'default': False},
            'Whether create and update fail.',
            updatable=True,
        ),
        'update_replace': Property(
            {'type': 'boolean', 'default': False},
            'Whether a change of the value replaces the resource.',
            updatable=True,
        ),
        'update_replace_value': Property(
            {'type': 'string'}, 'A value whose change replaces the resource.'
        ),
        'wait_secs': Property(
            {**_SECONDS, 'default': 0},
            'How many seconds create, update and delete take; less than 0: they '
            'never end by themselves.',
            updatable=True,
        ),
        'action_wait_secs': Property(
            {
                'type': 'object',
                'properties': {
                    'create': _SECONDS,
                    'update': _SECONDS,
                    'delete': _SECONDS,
                },
                'additionalProperties': False,
            },
            'The same for each of them: what is given here goes before `wait_secs`.',
            updatable=True,
        ),
        'attr_wait_secs': Property(
            {'type': 'number', 'minimum': 0, 'default': 0},
            'How many seconds more it takes until its attributes are there.',
            updatable=True,
        ),
        'constraint_prop_secs': Property(
            {'type': 'number', 'minimum': 0, 'default': 0},
            'How many seconds more it takes to look at its properties.',
            updatable=True,
        ),
        'client_name': Property(
            {'type': 'string', 'default': ''},
            'Accepted, and not used.',
            updatable=True,
        ),
        'entity_name': Property(
            {'type': 'string', 'default': ''},
            'Accepted, and not used.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {'output': 'The value.'}
    operations: ClassVar[Mapping[str, Operation]] = {
        'reboot': Operation('Waits as `wait_secs` says, and is well then.'),
        'rebuild': Operation('Waits as `wait_secs` says, and is well then.'),
        'break': Operation('Makes a check find it unwell.', _REASON),
        'fail': Operation('Fails.', _REASON),
    }

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        """Replace it where `update_replace` says so."""
        decided = resource_results.decide(self, before, after, failed)
        if decided != UPDATE:
            return decided
        names = resource_results.changed(before, after)
        if after.get('update_replace') and {'value', 'update_replace'} & set(names):
            return REPLACE
        return UPDATE

    def create(self, context: ResourceContext) -> Result:
        """Wait, then succeed or fail."""
        name = None if context.properties['fail'] else context.physical_name
        return self._wait(context, 'create', name)

    def update(self, context: ResourceContext) -> Result:
        """Wait, then store the new value or fail."""
        return self._wait(context, 'update', None)

    def delete(self, context: ResourceContext) -> Result:
        """Wait, then succeed; at once if it does not exist."""
        if 'output' not in context.attributes:
            return None
        return self._wait(context, 'delete', None)

    def check(self, context: ResourceContext) -> Result:
        """Fail if it was broken."""
        broken = context.data.get(_BROKEN)
        if broken is not None:
            raise ResourceFault(f'{context.resource_name} is broken: {broken}')
        return super().check(context)

    def operate(
        self, context: ResourceContext, operation: str, parameters: Mapping[str, Any]
    ) -> Result:
        """Wait, break or fail."""
        reason = parameters.get('reason')
        if operation == 'fail':
            raise ResourceFault(f'Test Resource failed {operation}: {reason}')
        if operation == 'break':
            return Ready(data={**context.data, _BROKEN: reason})
        return self._wait(context, operation, None)

    def poll(self, context: ResourceContext, operation: str, token: Any) -> Result:
        """Continue after the wait."""
        if token['until'] is None:
            return NotYet(token, _FOR_EVER)
        until = datetime.datetime.fromisoformat(token['until'])
        left = (until - context.now()).total_seconds()
        return NotYet(token, left) if left > 0 else _done(context, operation)

    def _wait(
        self, context: ResourceContext, operation: str, physical_id: str | None
    ) -> Result:
        seconds = _seconds(context.properties, operation)
        if seconds < 0:
            return NotYet({'until': None}, _FOR_EVER, physical_id)
        if not seconds:
            return _done(context, operation)
        until = context.now() + datetime.timedelta(seconds=seconds)
        return NotYet({'until': until.isoformat()}, seconds, physical_id)


def _seconds(properties: Mapping[str, Any], operation: str) -> float:
    """Return the seconds that an operation waits; negative: for ever."""
    own = (properties.get('action_wait_secs') or {}).get(operation)
    seconds = float(properties.get('wait_secs', 0) if own is None else own)
    if seconds < 0 or operation == 'delete':
        return seconds
    more = ('attr_wait_secs', 'constraint_prop_secs')
    return seconds + sum(float(properties.get(name, 0)) for name in more)


def _done(context: ResourceContext, operation: str) -> Ready | None:
    if operation == 'delete':
        return None
    if operation in _REPAIRS:
        return Ready(data={k: v for k, v in context.data.items() if k != _BROKEN})
    if context.properties['fail']:
        raise ResourceFault(f'Test Resource failed {context.resource_name}')
    attributes = {'output': context.properties['value']}
    physical_id = context.physical_name if operation == 'create' else None
    return Ready(physical_id, attributes)
