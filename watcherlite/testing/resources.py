"""The operations of one resource as by the engine, without engine or store."""

import dataclasses
import json
import uuid as uuids
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.destinations import WITH_LOOPBACK, Destinations
from watcherlite.domain import outcomes
from watcherlite.domain.resource_results import (
    KEEP,
    REPLACE,
    UPDATE,
    PassOn,
    Ready,
    ResourceInProgress,
)
from watcherlite.engine.stacks.handler_calls import call_handler
from watcherlite.engine.stacks.resource_context import HandlerContext, unique_name
from watcherlite.execution.coroutines.steps import Steps
from watcherlite.plugins import options as plugin_options
from watcherlite.plugins import properties as fitting
from watcherlite.plugins.base import CloudClient, Clouds, ResourceHandler
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.context import FakeContext
from watcherlite.testing.coroutines import run_steps_of_core

COMPLETE, FAILED = 'COMPLETE', 'FAILED'
TENANT = '00000000000040008000000000000001'
STACK = '00000000-0000-4000-8000-0000000000aa'
MAX_POLLS = 10_000
#: The start of an operation: (handler, its context) -> its result.
Begin = Callable[[ResourceHandler, HandlerContext], Steps[Any]]


@dataclasses.dataclass(frozen=True, slots=True)
class Settled:
    """The result of an operation on a resource.

    :param action: CREATE, UPDATE and so on
    :param status: COMPLETE or FAILED
    :param reason: of the handler, or for an exception
    :param polls: number of polls
    :param seconds: its duration, by the clock
    :param change: for an update: KEEP, UPDATE or REPLACE of `domain.resource_results`
    :param passed_on: for a signal that is forwarded to another resource
    """

    action: str
    status: str
    reason: str = ''
    polls: int = 0
    seconds: float = 0.0
    change: str = ''
    passed_on: PassOn | None = None


class ResourceRun:
    """One resource of one type, managed by its handler.

    Waits of the handler advance the clock and take no time, unless another clock is
    passed in. Each call gets a new instance, and results are stored as JSON in between,
    as by the engine: attributes of the handler are lost.

    :param options: values of the handler's options; the others have their defaults
    :param timeout: seconds for each operation
    :param uuid: of the resource
    :param files: submitted with the template
    :param destinations: the allowed servers; those of this machine are allowed by
        default, unlike in production
    :param clouds: for a `CloudClient`, usually with fake connections
    :param credential: of the stack
    :param cloud_secret: of another cloud in which the stack is
    :param dependencies: the attributes of other resources, by their references
    :param clouds: for a type that uses OpenStack
    :ivar lease_lost: set it to make the lease of the worker expired in each operation
    :ivar history: each operation as `CREATE_COMPLETE`
    :ivar physical_id, attributes, data, properties: as the engine would store them
    """

    def __init__(
        self,
        handler: type[ResourceHandler],
        *,
        options: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        timeout: float | None = None,
        uuid: str | None = None,
        name: str = 'resource',
        stack_name: str = 'stack',
        files: Mapping[str, str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        destinations: Destinations = WITH_LOOPBACK,
        clouds: Clouds | None = None,
        dependencies: Mapping[str, Mapping[str, Any]] | None = None,
        credential: str | None = None,
        cloud_secret: str | None = None,
    ) -> None:
        wrong = fitting.declaration_problem(handler)
        if wrong:
            raise exceptions.PluginError(f'{handler.__qualname__}: {wrong}')
        self._type = handler
        self._options = plugin_options.standalone_group(handler, options)
        self._destinations = destinations
        self._clouds = clouds
        self._dependencies = dict(dependencies or {})
        self._clouds, self._credential = clouds, credential
        self._cloud_secret = cloud_secret
        self._clock: Clock = clock if clock is not None else ManualClock()
        self._timeout = timeout
        self._name, self._stack_name = name, stack_name
        self._files, self._metadata = dict(files or {}), dict(metadata or {})
        self.history: list[str] = []
        self.lease_lost = False
        self._start(uuid or str(uuids.uuid4()))

    def _start(self, uuid: str) -> None:
        self.uuid = uuid
        self.physical_id: str | None = None
        self.attributes: dict[str, Any] = {}
        self.data: dict[str, Any] = {}
        self.properties: dict[str, Any] = {}
        self.failed = False

    @property
    def reference(self) -> str:
        """Return the value of get_resource."""
        return self._instance().reference(self._context(self._action(1)))

    # the interface for tests

    def fit(self, properties: Mapping[str, Any], known: bool = True) -> dict[str, Any]:
        """Return properties as passed to the handler.

        :param known: False: as before the creation of a stack, when None represents
            unknown values
        :raises Invalid: they are not valid
        """
        fitted = fitting.fit(self._type, properties, known=known)
        self._instance().validate(fitted)
        return fitted

    def create(self, properties: Mapping[str, Any], *, attempt: int = 1) -> Settled:
        """Create it.

        :param attempt: 2: a worker was lost that had started it; `find` is called first
        :raises Invalid: the properties are not valid
        """
        desired = self.fit(properties)

        async def start(handler: ResourceHandler, context: HandlerContext) -> Any:
            found = None
            if context.attempt > 1:
                found = await call_handler(handler, 'find', context)
            if found is None:
                found = await call_handler(handler, 'create', context)
            return found

        return self._operate('create', start, desired, attempt)

    def adopt(self, left: 'ResourceRun') -> Settled:
        """Adopt the resource of an abandoned stack.

        :param left: its last state there
        """
        self.physical_id, self.data = left.physical_id, dict(left.data)
        adopts = self._type.supports('adopt')
        start = _caller('adopt' if adopts else 'check')
        return self._operate('adopt', start, dict(left.properties))

    def update(self, properties: Mapping[str, Any], *, attempt: int = 1) -> Settled:
        """Apply other properties: update it, replace it, or leave it unchanged.

        The old resource of a replacement is deleted once the new one exists.

        :raises Invalid: the properties are not valid, or the change is refused
        """
        desired = self.fit(properties)
        handler = self._instance()
        decided = handler.decide(self.properties, desired, self.failed)
        if decided == UPDATE and not handler.supports('update'):
            decided = REPLACE if handler.replaces_failed else KEEP
        if decided == KEEP:
            # A FAILED resource of a type with nothing to repair becomes healthy.
            self.failed = False
            return Settled('UPDATE', COMPLETE, change=KEEP)
        if decided == REPLACE:
            return self._replace(properties)
        settled = self._operate('update', _caller('update'), desired, attempt)
        return dataclasses.replace(settled, change=UPDATE)

    def check(self, *, attempt: int = 1) -> Settled:
        """Check it."""
        return self._operate('check', _caller('check'), attempt=attempt)

    def check_health(self, *, attempt: int = 1) -> Settled:
        """Check whether it works, as for a node."""
        return self._operate('check_health', _caller('check_health'), attempt=attempt)

    def check_host(self, *, attempt: int = 1) -> Settled:
        """Check whether its host works, as for a node."""
        return self._operate('check_host', _caller('check_host'), attempt=attempt)

    def delete(self, *, attempt: int = 1, is_fenced: bool = False) -> Settled:
        """Delete it.

        :param is_fenced: by force, see `RunningResource`
        """

        async def start(handler: ResourceHandler, context: HandlerContext) -> Any:
            context.is_fenced = is_fenced
            return await call_handler(handler, 'delete', context)

        return self._operate('delete', start, attempt=attempt)

    def suspend(self, *, attempt: int = 1) -> Settled:
        """Suspend the resource."""
        return self._operate('suspend', _caller('suspend'), attempt=attempt)

    def resume(self, *, attempt: int = 1) -> Settled:
        """Resume the resource."""
        return self._operate('resume', _caller('resume'), attempt=attempt)

    def lock(self, *, attempt: int = 1) -> Settled:
        """Protect it."""
        return self._operate('lock', _caller('lock'), attempt=attempt)

    def unlock(self, *, attempt: int = 1) -> Settled:
        """Remove the protection."""
        return self._operate('unlock', _caller('unlock'), attempt=attempt)

    def operate(
        self,
        operation: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        attempt: int = 1,
    ) -> Settled:
        """Perform one of its operations, as for a node."""
        start = _caller('operate', operation, dict(parameters or {}))
        return self._operate(operation, start, attempt=attempt)

    def signal(self, details: Mapping[str, Any]) -> Settled:
        """Send it a signal."""
        return self._operate('signal', _caller('signal', details))

    def read_attribute(self, name: str) -> Any:
        """Return the present value of a live attribute."""
        return self._instance().read_attribute(self._context(self._action(1)), name)

    # implementation

    def _replace(self, properties: Mapping[str, Any]) -> Settled:
        old = dict(vars(self))
        self._start(str(uuids.uuid4()))
        settled = self.create(properties)
        new = dict(vars(self))
        if settled.status == COMPLETE:
            vars(self).update(old)
            deleted = self.delete()
            vars(self).update(new)
            if deleted.status == FAILED:
                settled = deleted
        return dataclasses.replace(settled, change=REPLACE)

    def _operate(
        self,
        operation: str,
        begin: Begin,
        desired: dict[str, Any] | None = None,
        attempt: int = 1,
    ) -> Settled:
        action = self._action(attempt)
        started = self._clock.monotonic()
        progress = _Progress(self, operation, action, desired)
        try:
            ready = progress.run_to_end(begin)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.failed = True
            if desired is not None and operation == 'create':
                self.properties = desired
            settled = Settled(operation.upper(), FAILED, _reason(error))
        else:
            settled = self._settle(operation, ready, desired)
        self.history.append(f'{settled.action}_{settled.status}')
        seconds = round(self._clock.monotonic() - started, 6)
        return dataclasses.replace(settled, polls=progress.polls, seconds=seconds)

    def _settle(
        self, operation: str, result: Any, desired: dict[str, Any] | None
    ) -> Settled:
        if isinstance(result, PassOn):
            return Settled(operation.upper(), COMPLETE, passed_on=result)
        ready = result if isinstance(result, Ready) else Ready()
        self.failed = False
        self.physical_id = ready.physical_id or self.physical_id
        if ready.attributes is not None:
            self.attributes = dict(ready.attributes)
        if ready.data is not None:
            self.data = dict(ready.data)
        if desired is not None:
            self.properties = desired
            self.physical_id = self.physical_id or self.physical_name
        return Settled(operation.upper(), COMPLETE, ready.reason)

    @property
    def physical_name(self) -> str:
        """Return the unique name for it."""
        return unique_name(self._stack_name, self._name, self.uuid)

    def _instance(self) -> ResourceHandler:
        made = self._type(self._options)
        made.read_destinations = lambda: self._destinations
        if isinstance(made, CloudClient) and self._clouds is not None:
            made.clouds = self._clouds
        if isinstance(made, CloudClient) and self._clouds is not None:
            made.clouds = self._clouds
        return made

    def _action(self, attempt: int) -> FakeContext:
        context = FakeContext(
            clock=self._clock,
            timeout=self._timeout,
            uuid=str(uuids.uuid4()),
            name=self._name,
            attempt=attempt,
        )
        context.lease_lost = self.lease_lost
        return context

    def _context(
        self, action: FakeContext, desired: Mapping[str, Any] | None = None
    ) -> Any:
        return HandlerContext(
            tenant=TENANT,
            stack_name=self._stack_name,
            stack_uuid=STACK,
            resource_name=self._name,
            resource_uuid=self.uuid,
            physical_name=self.physical_name,
            physical_id=self.physical_id,
            properties=self.properties if desired is None else desired,
            before=self.properties,
            attributes=self.attributes,
            metadata=self._metadata,
            data=self.data,
            files=self._files,
            action=action,
            dependencies=self._dependencies,
            credential=self._credential,
            cloud_secret=self._cloud_secret,
        )


class _Progress:
    """One operation, from its start to its end."""

    def __init__(
        self,
        run: ResourceRun,
        operation: str,
        action: FakeContext,
        desired: Mapping[str, Any] | None,
    ) -> None:
        self._run = run
        self._operation = operation
        self._action = action
        self._desired = desired
        self.polls = 0

    def run_to_end(self, begin: Begin) -> Any:
        """Return the final result of the handler; raise its exceptions."""
        result = self._call(begin)
        while isinstance(result, ResourceInProgress):
            result = self._poll(result)
        if result is None or isinstance(result, Ready | PassOn):
            return result
        raise exceptions.PluginError(
            f'{self._operation} returned {type(result).__name__}, which is not a result'
        )

    def _poll(self, progress: ResourceInProgress) -> Any:
        if self.polls == MAX_POLLS:
            raise AssertionError(
                f'it is in progress after {MAX_POLLS} polls: {progress}'
            )
        self._run.physical_id = progress.physical_id or self._run.physical_id
        if progress.data is not None:
            self._run.data = dict(progress.data)
        try:
            self._action.pass_time(progress.delay)
        except (exceptions.Cancelled, exceptions.TimedOut):
            self._call(_caller('cancel', self._operation, progress.token))
            raise
        self.polls += 1
        return self._call(_caller('poll', self._operation, progress.token))

    def _call(self, begin: Begin) -> Any:
        """Return the result of a call of a new instance of the handler."""
        context = self._run._context(self._action, self._desired)
        steps = begin(self._run._instance(), context)
        return _stored(run_steps_of_core(self._action, steps))


def _caller(hook: str, *arguments: Any) -> Begin:
    return lambda handler, context: call_handler(handler, hook, context, *arguments)


def _stored(result: Any) -> Any:
    """Return a result as it is read from the store."""
    if not isinstance(result, Ready | ResourceInProgress):
        return result
    kept = {
        field.name: getattr(result, field.name) for field in dataclasses.fields(result)
    }
    try:
        return type(result)(**json.loads(json.dumps(kept, allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        name = type(result).__name__
        raise exceptions.PluginError(
            f'its {name} contains values that are not JSON: {error}'
        ) from None


def _reason(error: BaseException) -> str:
    if isinstance(error, AssertionError):
        raise error
    if isinstance(error, exceptions.Cancelled):
        return 'Cancelled'
    if isinstance(error, exceptions.TimedOut):
        return 'Timed out'
    return outcomes.public_text(error)
