"""The resource for tests of stacks."""

import datetime
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.domain import resource_results
from watcherlite.domain.resource_results import (
    REPLACE,
    UPDATE,
    Operation,
    Property,
    Ready,
    ResourceInProgress,
    Result,
)
from watcherlite.plugins.base import ResourceContext, ResourceHandler, unsupported_check
from watcherlite.plugins.resource_handlers.errors import ResourceFault

#: A negative wait: it never ends.
_FOR_EVER = 3600.0
_SECONDS = {'type': 'number'}
#: Operations that repair it.
_REPAIRS = ('reboot', 'rebuild')
#: In its data: why it is unhealthy.
_BROKEN = 'broken'
_REASON: Mapping[str, Any] = {
    'type': 'object',
    'properties': {'reason': {'type': 'string', 'default': 'as requested'}},
    'additionalProperties': False,
}


class TestResource(ResourceHandler):
    """Store a value; wait and fail as its properties specify.

    Waiting occupies no thread. `fail` lets create and update fail after the wait, but
    not delete. A changed value updates it in place, unless `update_replace` is set.
    """

    #: Not a test class, although its name looks like one.
    __test__ = False
    description = 'A resource that waits, fails and is replaced for tests of stacks.'
    idempotent = True
    properties: ClassVar[Mapping[str, Property]] = {
        'value': Property(
            {'type': 'string', 'default': 'test_string'},
            'The value of the attribute `output`.',
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
            'The duration of create, update and delete in seconds; less than 0: '
            'infinite.',
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
            'The duration of each of them, which takes precedence over `wait_secs`.',
            updatable=True,
        ),
        'attr_wait_secs': Property(
            {'type': 'number', 'minimum': 0, 'default': 0},
            'The additional seconds until its attributes are available.',
            updatable=True,
        ),
        'constraint_prop_secs': Property(
            {'type': 'number', 'minimum': 0, 'default': 0},
            'The additional seconds for reading its properties.',
            updatable=True,
        ),
        'client_name': Property(
            {'type': 'string', 'default': ''}, 'Accepted and ignored.', updatable=True
        ),
        'entity_name': Property(
            {'type': 'string', 'default': ''}, 'Accepted and ignored.', updatable=True
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {'output': 'The value.'}
    operations: ClassVar[Mapping[str, Operation]] = {
        'reboot': Operation('Waits for `wait_secs`, and is then healthy.'),
        'rebuild': Operation('Waits for `wait_secs`, and is then healthy.'),
        'break': Operation('Makes checks find it unhealthy.', _REASON),
        'fail': Operation('Fails.', _REASON),
    }

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        """Replace it if `update_replace` is set."""
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
        """Wait, then succeed; succeed at once if it does not exist."""
        if 'output' not in context.attributes:
            return None
        return self._wait(context, 'delete', None)

    def check(self, context: ResourceContext) -> Result:
        broken = context.data.get(_BROKEN)
        if broken is not None:
            raise ResourceFault(f'{context.resource_name} is broken: {broken}')
        return unsupported_check(context)

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
        if token['until'] is None:
            return ResourceInProgress(token, _FOR_EVER)
        until = datetime.datetime.fromisoformat(token['until'])
        left = (until - context.now()).total_seconds()
        return (
            ResourceInProgress(token, left)
            if left > 0
            else _ready_when_done(context, operation)
        )

    def _wait(
        self, context: ResourceContext, operation: str, physical_id: str | None
    ) -> Result:
        seconds = _seconds(context.properties, operation)
        if seconds < 0:
            return ResourceInProgress({'until': None}, _FOR_EVER, physical_id)
        if not seconds:
            return _ready_when_done(context, operation)
        until = context.now() + datetime.timedelta(seconds=seconds)
        return ResourceInProgress({'until': until.isoformat()}, seconds, physical_id)


def _seconds(properties: Mapping[str, Any], operation: str) -> float:
    """Return the seconds that an operation waits; negative: infinite."""
    own = (properties.get('action_wait_secs') or {}).get(operation)
    seconds = float(properties.get('wait_secs', 0) if own is None else own)
    if seconds < 0 or operation == 'delete':
        return seconds
    more = ('attr_wait_secs', 'constraint_prop_secs')
    return seconds + sum(float(properties.get(name, 0)) for name in more)


def _ready_when_done(context: ResourceContext, operation: str) -> Ready | None:
    if operation == 'delete':
        return None
    if operation in _REPAIRS:
        return Ready(data={k: v for k, v in context.data.items() if k != _BROKEN})
    if context.properties['fail']:
        raise ResourceFault(f'Test Resource failed {context.resource_name}')
    attributes = {'output': context.properties['value']}
    physical_id = context.physical_name if operation == 'create' else None
    return Ready(physical_id, attributes)
