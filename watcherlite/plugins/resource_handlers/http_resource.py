"""`Http::Resource`: a resource managed by requests to an HTTP server."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from oslo_config import cfg

from watcherlite import exceptions
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
from watcherlite.plugins import base, options
from watcherlite.plugins.action_types import http_parts
from watcherlite.plugins.base import (
    ResourceCoroutineContext,
    ResourceHandler,
    RunningResource,
)
from watcherlite.plugins.capture import storable_json
from watcherlite.plugins.http_messages import (
    DestinationRefused,
    ExchangeFailed,
    HttpRequestMessage,
)
from watcherlite.plugins.redaction import redact_url
from watcherlite.plugins.resource_handlers import http_calls
from watcherlite.plugins.resource_handlers.errors import ResourceFault
from watcherlite.plugins.resource_handlers.http_calls import CallResult

NAME = 'Http::Resource'
_GROUP = options.group_name(base.RESOURCE_HANDLERS, NAME)
_SUCCESS = frozenset(range(200, 300))
#: The operation that performs one of the calls in `operations`.
CALL = 'call'
#: Further properties that are calls, with their descriptions.
_FURTHER_CALLS = {
    'suspend': 'The call that suspends it.',
    'resume': 'The call that resumes it.',
    'lock': 'The call that protects it against changes by others.',
    'unlock': 'The call that removes the protection.',
    'reboot': 'The call that restarts it, for the recovery of nodes by REBOOT.',
    'rebuild': 'The call that recreates it in place, for the recovery of nodes by '
    'REBUILD.',
}
#: Properties that are calls.
CALLS = ('create', 'find', 'read', 'update', 'delete', *_FURTHER_CALLS)
#: The step of a `delete` that has found the result of a failed `create`.
_FOUND = 'found'
#: Properties whose change must be sent to the server.
_SENT_PROPERTIES = frozenset({'create', 'update'})


class HttpResource(ResourceHandler):
    """Create, read, update and delete an object by calls that the template defines.

    `{id}` in a URL is the id of the resource, which `id_path` selects in the response
    of `create`. Each call carries the uuid of its action as idempotency key. A call
    that may have reached the server before its worker was lost is repeated only if that
    is harmless: by its method, or because of `key_is_honoured`.
    """

    description = 'An object that a server creates on request over HTTP.'
    # Each call checks this itself, see `_check_repeatable`.
    idempotent = True
    modified_by_signals = False
    properties: ClassVar[Mapping[str, Property]] = {
        'create': Property(
            http_calls.call_schema('POST'),
            'The call that creates it. A call has `method` (POST here), `url`, '
            '`headers`, `body` (text) or `json`, `expected_statuses` (200 to 299), '
            '`timeout` (60 seconds), and `done`: the values of `status` to wait for.',
            required=True,
            updatable=True,
        ),
        'read': Property(
            http_calls.call_schema('GET'),
            'The call that checks it; without it, and without `status`, checks are '
            'not supported.',
            updatable=True,
        ),
        'update': Property(
            http_calls.call_schema('PUT'),
            'The call that updates it, made when this or `create` has changed; '
            'without it such a change replaces the resource.',
            updatable=True,
        ),
        'delete': Property(
            http_calls.call_schema('DELETE'),
            'The call that deletes it; 404 and 410 count as success. Without it, the '
            'object is not deleted.',
            updatable=True,
        ),
        'find': Property(
            http_calls.FIND_SCHEMA,
            'The call that finds the result of a `create` whose worker was lost: its '
            'own `id_path` selects the id; no id, 404 or 410 mean that nothing was '
            'created.',
            updatable=True,
        ),
        **{
            name: Property(http_calls.call_schema('POST'), text, updatable=True)
            for name, text in _FURTHER_CALLS.items()
        },
        'operations': Property(
            {'type': 'object', 'additionalProperties': http_calls.call_schema('POST')},
            'Further calls by name, for the operation `call` of nodes.',
            updatable=True,
        ),
        'status': Property(
            http_calls.STATUS_SCHEMA,
            'The request for its status: `url`, `headers`, `path` of the value in '
            'the response, the values that mean `done` and `failed`, and the '
            '`interval` in seconds (2). Create and update wait for `done`, delete '
            'waits until it does not exist, other calls wait if they have a `done` '
            'of their own.',
            updatable=True,
        ),
        'id_path': Property(
            {**http_calls.PATH_SCHEMA, 'default': 'id'},
            'The path of its id in the response of `create`: keys and indexes '
            'separated by dots, `server.id`.',
        ),
        'outputs': Property(
            {'type': 'object', 'additionalProperties': http_calls.PATH_SCHEMA},
            'Attributes, each with its path in the response of the last `create`, '
            '`update` or `read`.',
            updatable=True,
        ),
        'headers': Property(
            http_parts.HEADERS, 'Headers of all calls.', updatable=True
        ),
        'private_headers': Property(
            http_parts.HEADERS,
            'Secret headers of all calls, such as tokens; take them from a hidden '
            'parameter. They appear in no attribute, log or error.',
            updatable=True,
        ),
        'key_header': Property(
            {
                'type': 'string',
                'pattern': '^[A-Za-z0-9-]+$',
                'default': http_parts.KEY_HEADER,
            },
            'The header of the idempotency key.',
            updatable=True,
        ),
        'key_is_honoured': Property(
            {'type': 'boolean', 'default': False},
            'Whether the server executes calls with the same key only once.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'id': 'Its id at the server; the property `outputs` adds more attributes.'
    }
    operations: ClassVar[Mapping[str, Operation]] = {
        'reboot': Operation('Performs the call in the property `reboot`.'),
        'rebuild': Operation('Performs the call in the property `rebuild`.'),
        CALL: Operation(
            'Performs a call of the property `operations`.',
            {
                'type': 'object',
                'properties': {
                    'name': {'type': 'string', 'description': 'the name of the call'}
                },
                'required': ['name'],
                'additionalProperties': False,
            },
        ),
    }

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return http_parts.OPTIONS

    def validate(self, properties: Mapping[str, Any]) -> None:
        more = properties.get('operations') or {}
        problems = list(http_calls.problems(properties, CALLS, more))
        if problems:
            raise exceptions.StackValidationFailed(problems)

    def attribute_names(self, properties: Mapping[str, Any]) -> Collection[str] | None:
        """Return its id, and the names in `outputs`."""
        outputs = properties.get('outputs', {})
        return None if outputs is None else {*self.attributes, *outputs}

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        """Replace it if its creation changes and there is no call to update it."""
        decided = resource_results.decide(self, before, after, failed)
        if decided != UPDATE or 'create' not in resource_results.changed(before, after):
            return decided
        places = [(p['create']['method'], p['create']['url']) for p in (before, after)]
        return UPDATE if 'update' in after and places[0] == places[1] else REPLACE

    async def create(self, context: ResourceCoroutineContext) -> Result:
        called = await self._call(context, 'create')
        return self._created(context, called.content, context.properties['id_path'])

    async def find(self, context: ResourceCoroutineContext) -> Result:
        """Return the result of an earlier `create`; None: it can be repeated."""
        if 'find' not in context.properties:
            _check_repeatable(context, 'create', context.properties['create'])
            return None
        found, content, path = await self._search(context)
        return None if found is None else self._created(context, content, path)

    async def _search(self, context: ResourceCoroutineContext) -> tuple[Any, Any, str]:
        """Return the id that `find` selects or None, the response, and the path."""
        called = await self._call(context, 'find', also=http_calls.GONE)
        desired = context.properties
        path = desired['find'].get('id_path', desired['id_path'])
        if called.status in http_calls.GONE:
            return None, None, path
        return http_calls.value_at(called.content, path), called.content, path

    async def check(self, context: ResourceCoroutineContext) -> Result:
        """Check that it exists, and has not failed."""
        desired = context.properties
        if 'read' not in desired and 'status' not in desired:
            return base.unsupported_check(context)
        if 'status' in desired:
            state = await self._state(context)
            if state is None:
                raise ResourceFault(f'{context.resource_name} no longer exists')
            _refuse_failed(context, state)
        if 'read' not in desired:
            return Ready()
        called = await self._call(context, 'read')
        return Ready(attributes=self._attributes(context, called.content))

    async def check_external(self, context: ResourceCoroutineContext) -> Result:
        """Check that it exists, if there is a call to read it."""
        if 'read' not in context.properties:
            return base.unsupported_check(context)
        call = {'method': 'GET', **context.properties['read']}
        called = await self._call(context, 'read', call)
        return Ready(attributes=self._attributes(context, called.content))

    async def update(self, context: ResourceCoroutineContext) -> Result:
        """Update it, if a property for the server has changed."""
        changes = set(resource_results.changed(context.before, context.properties))
        if 'update' not in context.properties or not changes & _SENT_PROPERTIES:
            return None
        if context.attempt > 1:
            _check_repeatable(context, 'update', context.properties['update'])
        called = await self._call(context, 'update')
        ready = Ready(attributes=self._attributes(context, called.content))
        return self._poll_or_finish(context, 'update', ready)

    async def delete(self, context: ResourceCoroutineContext) -> Result:
        """Delete it; find it first if its creation has failed."""
        if 'delete' not in context.properties:
            return None
        if context.physical_id is None:
            if 'find' not in context.properties:
                return None
            found, _, _ = await self._search(context)
            if found in (None, ''):
                return None
            return ResourceInProgress({'step': _FOUND}, 0.0, str(found))
        called = await self._call(context, 'delete', also=http_calls.GONE)
        if called.status in http_calls.GONE:
            return None
        return self._poll_or_finish(context, 'delete', Ready())

    async def suspend(self, context: ResourceCoroutineContext) -> Result:
        return await self._call_optional(context, 'suspend')

    async def resume(self, context: ResourceCoroutineContext) -> Result:
        return await self._call_optional(context, 'resume')

    async def lock(self, context: ResourceCoroutineContext) -> Result:
        return await self._call_optional(context, 'lock')

    async def unlock(self, context: ResourceCoroutineContext) -> Result:
        """Remove the protection; a missing object counts as unprotected."""
        return await self._call_optional(context, 'unlock', also=http_calls.GONE)

    def protects(self, context: RunningResource) -> bool:
        return 'lock' in context.properties

    async def operate(
        self,
        context: ResourceCoroutineContext,
        operation: str,
        parameters: Mapping[str, Any],
    ) -> Result:
        calls, name = context.properties, operation
        if operation == CALL:
            calls, name = context.properties.get('operations') or {}, parameters['name']
        if name not in calls:
            raise ResourceFault(f'{context.resource_name} has no call for {name}')
        if context.attempt > 1:
            _check_repeatable(context, name, calls[name])
        await self._call(context, name, calls[name])
        return self._awaited_statuses(context, calls[name].get('done'), Ready())

    async def poll(
        self, context: ResourceCoroutineContext, operation: str, token: Any
    ) -> Result:
        if operation == 'delete' and token.get('step') == _FOUND:
            return await self.delete(context)
        state = await self._state(context)
        if state is None:
            if operation == 'delete':
                return None
            raise ResourceFault(f'{context.resource_name} no longer exists')
        if state[0] in token['done']:
            return await self._ready(context, operation, token)
        _refuse_failed(context, state)
        return ResourceInProgress(token, context.properties['status']['interval'])

    # calls

    async def _call_optional(
        self,
        context: ResourceCoroutineContext,
        name: str,
        also: frozenset[int] = frozenset(),
    ) -> Result:
        """Make an optional call."""
        if name not in context.properties:
            return None
        if context.attempt > 1:
            _check_repeatable(context, name, context.properties[name])
        called = await self._call(context, name, also=also)
        if called.status in also:
            return None
        return self._poll_or_finish(context, name, Ready())

    async def _call(
        self,
        context: ResourceCoroutineContext,
        name: str,
        call: Mapping[str, Any] | None = None,
        also: frozenset[int] = frozenset(),
    ) -> CallResult:
        """Make a call; raise unless the response is as expected.

        :param call: None: the property of that name
        :param also: further expected statuses
        """
        call = context.properties[name] if call is None else call
        called = await self._exchange(context, call)
        expected = frozenset(call.get('expected_statuses', _SUCCESS))
        if called.status not in expected | also:
            raise ResourceFault(
                f'{name}: {call["method"]} {_redact(context, call["url"])} answered '
                f'{called.status}, not {http_parts.ranges(expected)}'
            )
        return called

    async def _state(self, context: ResourceCoroutineContext) -> list[Any] | None:
        """Return the status at the server, in a list; None: it does not exist."""
        status = context.properties['status']
        called = await self._exchange(context, {'method': 'GET', **status})
        if called.status in http_calls.GONE:
            return None
        if called.status not in _SUCCESS:
            raise ResourceFault(
                f'status: GET {_redact(context, status["url"])} answered '
                f'{called.status}, not {http_parts.ranges(_SUCCESS)}'
            )
        return [http_calls.value_at(called.content, status['path'])]

    async def _exchange(
        self, context: ResourceCoroutineContext, call: Mapping[str, Any]
    ) -> CallResult:
        # Slow to import and not needed without HTTP.
        from watcherlite.plugins import http_client

        desired = context.properties
        request = HttpRequestMessage(
            call['method'],
            http_calls.expand_id(call['url'], context.physical_id),
            http_parts.headers(
                context,
                call,
                desired.get('headers') or {},
                call.get('headers') or {},
                desired.get('private_headers') or {},
                key_header=desired.get('key_header', http_parts.KEY_HEADER),
            ),
            http_parts.body(call),
        )
        seconds = call.get('timeout', http_parts.DEFAULT_TIMEOUT)
        left = context.remaining()
        settings = http_parts.settings(self.options, _GROUP, self.destinations)
        try:
            answer = await http_client.exchange(
                context,
                request,
                settings,
                seconds if left is None else max(0.001, min(seconds, left)),
            )
        except DestinationRefused as error:
            # It reveals nothing about the object.
            raise exceptions.StateUnknown(
                f'{call["method"]} {_redact(context, call["url"])}: {error}'
            ) from None
        except ExchangeFailed as error:
            raise ResourceFault(
                f'{call["method"]} {_redact(context, call["url"])}: {error}'
            ) from None
        try:
            return CallResult(answer.status, storable_json(answer.body.text()))
        except ValueError:
            return CallResult(answer.status, None)

    # results

    def _created(self, context: RunningResource, content: Any, path: str) -> Result:
        found = http_calls.value_at(content, path)
        if isinstance(found, bool) or not isinstance(found, str | int) or found == '':
            raise ResourceFault(
                f'{context.resource_name}: the response has no id at {path}; set '
                'id_path to its path'
            )
        physical_id = str(found)
        attributes = self._attributes(context, content) | {'id': physical_id}
        ready = Ready(physical_id, attributes)
        return self._poll_or_finish(context, 'create', ready)

    def _attributes(self, context: RunningResource, content: Any) -> dict[str, Any]:
        """Return the attributes; those missing in a response are unchanged."""
        known = dict(context.attributes)
        return known | http_calls.attributes(context.properties, content)

    def _poll_or_finish(
        self, context: RunningResource, name: str, ready: Ready
    ) -> Result:
        """Return the result of a call, or that it has to be polled."""
        desired = context.properties
        status = desired.get('status')
        waits = name in ('create', 'update', 'delete')
        done = desired[name].get('done') if name in desired else None
        if status is not None and done is None and waits:
            done = [] if name == 'delete' else status['done']
        return self._awaited_statuses(context, done, ready)

    def _awaited_statuses(
        self, context: RunningResource, done: Any, ready: Ready
    ) -> Result:
        """Return that these values of the status have to be waited for, if any."""
        status = context.properties.get('status')
        if status is None or done is None:
            return ready
        attributes = None if ready.attributes is None else dict(ready.attributes)
        token = {'done': done, 'attributes': attributes}
        return ResourceInProgress(token, status['interval'], ready.physical_id)

    async def _ready(
        self, context: ResourceCoroutineContext, operation: str, token: Any
    ) -> Ready:
        attributes = token['attributes']
        if operation in ('create', 'update') and 'read' in context.properties:
            called = await self._call(context, 'read')
            kept = self._attributes(context, called.content)
            attributes = {**(attributes or {}), **kept}
        return Ready(attributes=attributes)


def _refuse_failed(context: RunningResource, state: list[Any]) -> None:
    """Raise if the server reports a failure."""
    if state[0] in context.properties['status']['failed']:
        raise ResourceFault(
            f'{context.resource_name}: the server reports the status {state[0]}'
        )


def _redact(context: RunningResource, url: str) -> str:
    return redact_url(http_calls.expand_id(url, context.physical_id))


def _check_repeatable(
    context: RunningResource, name: str, call: Mapping[str, Any]
) -> None:
    """Raise if a call that a lost worker may have made cannot be repeated."""
    repeatable = call['method'] in http_parts.IDEMPOTENT
    if not repeatable and not context.properties['key_is_honoured']:
        raise ResourceFault(
            f'{name}: outcome unknown: a worker was lost during the call, which cannot '
            'be repeated; define find, or set key_is_honoured'
        )
