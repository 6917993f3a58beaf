"""The profile type of nodes that are stacks."""

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.db.credentials import AUTHORITY, REGION
from watcherlite.domain import placement
from watcherlite.domain.resource_results import (
    Operation,
    Property,
    Ready,
    ResourceInProgress,
    Result,
)
from watcherlite.domain.stacks import Stack, StackRequest
from watcherlite.engine.stacks.queries import StackQueries
from watcherlite.engine.stacks.requests.operations import StackOperations
from watcherlite.plugins.base import ResourceContext, ResourceHandler
from watcherlite.states import stack as states

#: Delay of the first poll of a stack, and maximum delay, in seconds; it doubles.
FIRST_POLL_DELAY = 0.05
MAX_POLL_DELAY = 2.0
_OTHER = re.compile(r'[^a-zA-Z0-9_.-]')
_MAP: Mapping[str, Any] = {'type': 'object', 'default': {}}
_ABANDON = 'abandon'


@dataclasses.dataclass(frozen=True, slots=True)
class StackBackend:
    """The services for nodes that are stacks."""

    store: Store
    operations: StackOperations
    reading: StackQueries


class StackProfile(ResourceHandler):
    """Creates a root stack, whose unique name is derived from that of the node.

    :param stacks: None for an instance that only declares properties
    """

    description = 'A stack of a template.'
    # The stack exists when the creation is repeated.
    idempotent = True
    profile_type = 'os.heat.stack'
    properties: ClassVar[Mapping[str, Property]] = {
        'template': Property(
            {'type': 'object'}, 'The template.', required=True, updatable=True
        ),
        'context': Property(
            {
                **_MAP,
                'properties': {placement.REGION: {'type': 'string'}},
                'additionalProperties': False,
            },
            'Only `region_name`: the region of the resources, unless a policy selects '
            'one.',
        ),
        'parameters': Property(_MAP, 'The parameters of the template.', updatable=True),
        'files': Property(
            {**_MAP, 'additionalProperties': {'type': 'string'}},
            'The files that the template refers to, by name.',
            updatable=True,
        ),
        'timeout': Property(
            {'type': 'integer', 'minimum': 1},
            'The timeout of operations on the stack, in minutes.',
            updatable=True,
        ),
        'disable_rollback': Property(
            {'type': 'boolean', 'default': True},
            'Whether what a failed operation has done is left as it is.',
            updatable=True,
        ),
        'environment': Property(
            _MAP, 'The environment of the template.', updatable=True
        ),
    }
    operations: ClassVar[Mapping[str, Operation]] = {
        _ABANDON: Operation('Abandon the stack: it is deleted, but not its resources.')
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'stack_name': 'The name of the stack.',
        'outputs': 'The outputs of the stack by name.',
    }

    def __init__(self, options: Any = None, stacks: StackBackend | None = None) -> None:
        super().__init__(options)
        self._made_with = stacks

    @property
    def _stacks(self) -> StackBackend:
        if self._made_with is None:
            raise exceptions.PluginError('This process cannot create stacks')
        return self._made_with

    def create(self, context: ResourceContext) -> Result:
        try:
            stack = self._stacks.operations.create(
                self._stack_request(context, _name(context)),
                context.tenant,
                context=_authority(context),
            )
        except exceptions.StackExists:
            # The stack was created before the loss of a worker.
            return self.find(context)
        return _in_progress(stack)

    def find(self, context: ResourceContext) -> Result:
        """Return the stack of an earlier `create`; None: there is none."""
        try:
            stack = self._find(_name(context), context)
        except exceptions.NotFound:
            return None
        return _in_progress(stack)

    def check(self, context: ResourceContext) -> Result:
        stack = self._stacks.operations.start_operation(
            self._id(context), context.tenant, states.CHECK
        )
        return _in_progress(stack)

    def update(self, context: ResourceContext) -> Result:
        stack = self._find(self._id(context), context)
        desired = self._stack_request(context, stack.name)
        return _in_progress(
            self._stacks.operations.update(stack.uuid, context.tenant, desired)
        )

    def delete(self, context: ResourceContext) -> Result:
        """Delete the stack; one that is gone is deleted."""
        name = context.physical_id or _name(context)
        try:
            stack = self._stacks.operations.delete(name, context.tenant)
        except exceptions.NotFound:
            return None
        return _in_progress(stack)

    def operate(
        self, context: ResourceContext, operation: str, parameters: Mapping[str, Any]
    ) -> Result:
        """Abandon the stack; one that is gone is abandoned."""
        try:
            self._stacks.operations.abandon(self._id(context), context.tenant)
        except exceptions.NotFound:
            return None
        return Ready(reason='The stack was abandoned')

    def poll(self, context: ResourceContext, operation: str, token: Any) -> Result:
        try:
            stack = self._find(token['stack'], context)
        except exceptions.NotFound:
            if operation == 'delete':
                return None
            raise
        if stack.state.busy:
            delay = min(2 * token['delay'], MAX_POLL_DELAY)
            return ResourceInProgress({**token, 'delay': delay}, delay)
        if stack.status == states.FAILED:
            raise exceptions.Invalid(
                f'Stack {stack.name} is {stack.state.name}: {stack.status_reason}'
            )
        outputs = self._stacks.reading.outputs(stack)
        return Ready(
            stack.uuid,
            {
                'stack_name': stack.name,
                'outputs': {o.key: o.value for o in outputs if o.error is None},
            },
        )

    def _id(self, context: ResourceContext) -> str:
        if context.physical_id is None:
            raise exceptions.Invalid(f'{context.resource_name} has no stack')
        return context.physical_id

    def _find(self, name: str, context: ResourceContext) -> Stack:
        return self._stacks.store.find_stack(name, context.tenant)

    def _stack_request(self, context: ResourceContext, name: str) -> StackRequest:
        given = context.properties
        return StackRequest(
            name,
            given['template'],
            environment=given.get('environment') or {},
            files=given.get('files') or {},
            parameters=given.get('parameters') or {},
            timeout_mins=given.get('timeout'),
            disable_rollback=given.get('disable_rollback'),
        )


def _name(context: ResourceContext) -> str:
    """Return the name of the stack, in the characters allowed for stacks."""
    name = _OTHER.sub('-', context.physical_name)
    return name if name[0].isalpha() else f's{name}'


def _authority(context: ResourceContext) -> dict[str, Any]:
    """Return the context of the stack: its authority and its region."""
    given = context.properties.get('context') or {}
    values = {
        AUTHORITY: context.credential,
        REGION: context.region or given.get(placement.REGION),
    }
    return {key: value for key, value in values.items() if value}


def _in_progress(stack: Stack) -> ResourceInProgress:
    return ResourceInProgress(
        {'stack': stack.uuid, 'delay': FIRST_POLL_DELAY}, FIRST_POLL_DELAY, stack.uuid
    )
