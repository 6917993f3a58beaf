"""The base of resource types on openstacksdk.

A type declares its service and noun, its properties and attributes, and overrides a few
hooks. Creation, recovery, polling, updates, checks and deletion are here.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import resource_results
from watcherlite.domain.resource_results import Ready, ResourceInProgress, Result
from watcherlite.plugins.base import CloudClient, ResourceContext, ResourceHandler
from watcherlite.plugins.openstack import delays, errors
from watcherlite.plugins.openstack.resources.fields import OWN, Field
from watcherlite.plugins.openstack.resources.markers import Marker, NameMarker
from watcherlite.plugins.openstack.resources.references import (
    MissingReference,
    missing_as_none,
)
from watcherlite.plugins.redaction import is_secret_name
from watcherlite.plugins.resource_handlers.errors import ResourceFault

#: The longest pause between two polls, in seconds.
_LONGEST = 10.0
#: Repetitions of a deletion that other objects still prevent.
_MOST_CONFLICTS = 30

# The steps of a token
_WAIT, _DELETE, _GONE = 'wait', 'delete', 'gone'

Call = Callable[[Any], Result]


class CloudResource(CloudClient, ResourceHandler):
    """A resource that is one object of a service.

    :cvar service: the attribute of the connection
    :cvar noun: of the methods of the service: `create_<noun>`
    :cvar plural: the method that lists them; the default is the noun and an s
    :cvar label: of the object in messages; the default is the noun
    :cvar needs: the properties that are required under one of their names
    :cvar aliases: older names of properties, and the present ones
    :cvar marker: by which its creation is recognised
    :cvar settled: the statuses in which it can be used; empty: it has no status to wait
        for
    :cvar failed: the statuses in which it cannot be used
    :cvar interval: the first pause between two polls, in seconds
    :cvar waits_for_deletion: its deletion takes time
    """

    idempotent = True
    modified_by_signals = False
    blocking = True
    service: ClassVar[str]
    noun: ClassVar[str]
    plural: ClassVar[str] = ''
    label: ClassVar[str] = ''
    needs: ClassVar[Collection[str]] = ()
    aliases: ClassVar[Mapping[str, str]] = {}
    marker: ClassVar[Marker] = NameMarker()
    settled: ClassVar[Collection[str]] = ()
    failed: ClassVar[Collection[str]] = frozenset({'ERROR'})
    interval: ClassVar[float] = 1.0
    waits_for_deletion: ClassVar[bool] = False

    # the hooks of a type

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        """Return the problems that the schemas cannot express.

        :param values: under their present names; unknown ones are None
        """
        return ()

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        """Return the attributes of the request that creates the object."""
        values = self.values(context.properties)
        return self.sent(context, connection, values, [*values, 'name'])

    def changes(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> dict[str, Any]:
        """Return the attributes of the request that updates the object.

        :param names: of the changed properties
        """
        return self.sent(context, connection, self.values(context.properties), names)

    def finish(self, context: ResourceContext, connection: Any, found: Any) -> None:
        """Complete the creation of an object that can be used; may be repeated."""

    def is_finished(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        """Return whether `finish` has nothing to do for a created object."""
        return type(self).finish is CloudResource.finish

    def apply(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> ResourceInProgress | None:
        """Apply changes that need requests of their own; may be repeated."""
        return None

    def attributes_of(self, connection: Any, record: Mapping[str, Any]) -> Any:
        """Return the attributes from a record of the object."""
        return {name: record.get(name) for name in self.attributes}

    def problem_of(self, record: Mapping[str, Any]) -> str:
        """Return the reason of the service for a failed status, if it has one."""
        return ''

    def status_of(self, record: Mapping[str, Any]) -> str:
        """Return the status in upper case."""
        return str(record.get('status') or '').upper()

    def live_value(self, context: ResourceContext, connection: Any, name: str) -> Any:
        """Return the present value of a live attribute."""
        raise ResourceFault(f'{context.resource_name}: there is no attribute {name}')

    # the methods of the service

    def connect(self, context: ResourceContext) -> Any:
        """Return the connection for the stack."""
        region = self.region_of(context)
        if context.cloud_secret is None:
            return self.clouds.connection_for(context.credential, region)
        return self.clouds.remote_connection(
            context.credential, context.cloud_secret, region
        )

    def region_of(self, context: ResourceContext) -> str | None:
        """Return the region of the object; None: that of the configuration."""
        return context.region

    def proxy(self, connection: Any) -> Any:
        """Return the service of the connection."""
        return getattr(connection, self.service)

    def make(self, connection: Any, body: Mapping[str, Any]) -> Any:
        """Create the object."""
        return getattr(self.proxy(connection), f'create_{self.noun}')(**body)

    def get(self, connection: Any, physical_id: str) -> Any:
        """Return the object, or None."""
        get = getattr(self.proxy(connection), f'get_{self.noun}')
        return missing_as_none(lambda: get(physical_id))

    def change(self, connection: Any, physical_id: str, body: dict[str, Any]) -> Any:
        """Update the object."""
        update = getattr(self.proxy(connection), f'update_{self.noun}')
        return update(physical_id, **body)

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        """Delete the object; succeed if it does not exist."""
        delete = getattr(self.proxy(connection), f'delete_{self.noun}')
        delete(context.physical_id, ignore_missing=True)

    def search(self, connection: Any, filters: Mapping[str, Any]) -> Any:
        """Return the objects that match."""
        listing = getattr(self.proxy(connection), self.plural or f'{self.noun}s')
        return listing(**filters)

    # the contract

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Validate that the required properties are given, under one name each."""
        problems = [
            f'properties.{old}: cannot be combined with {new}'
            for old, new in self.aliases.items()
            if old in properties and new in properties
        ]
        values = self.values(properties)
        problems += [
            f'properties.{name}: is required'
            for name in self.needs
            if name not in values
        ]
        problems += self.problems(values)
        if problems:
            raise exceptions.StackValidationFailed(problems)

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        """Decide by the present names of the properties."""
        return resource_results.decide(
            self, self.values(before), self.values(after), failed
        )

    def create(self, context: ResourceContext) -> Result:
        """Create the object."""
        return self._run(context, 'create', lambda c: self._create(context, c))

    def find(self, context: ResourceContext) -> Result:
        """Return the object with the mark of the resource."""
        return self._run(context, 'create', lambda c: self._find(context, c))

    def check(self, context: ResourceContext) -> Result:
        """Check that the object exists, and has not failed."""

        def check(connection: Any) -> Result:
            found = self.existing(context, connection)
            self._refuse_failed(context, record_of(found))
            return self._ready(connection, found)

        return self._run(context, 'check', check)

    def update(self, context: ResourceContext) -> Result:
        """Apply the changed properties."""
        return self._run(context, 'update', lambda c: self._update(context, c))

    def delete(self, context: ResourceContext) -> Result:
        """Delete the object."""
        return self._run(context, 'delete', lambda c: self._delete(context, c, 0))

    def poll(self, context: ResourceContext, operation: str, token: Any) -> Result:
        def step(inner: Any) -> Result:
            with self._translated(context):
                connection = self.connect(context)
                return self._poll(context, connection, operation, inner)

        return delays.attempt_resource(context, step, token)

    def read_attribute(self, context: ResourceContext, name: str) -> Any:
        """Read an attribute from the service."""
        with self._translated(context):
            return self.live_value(context, self.connect(context), name)

    # values

    def values(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        """Return the properties under their present names."""
        return {
            self.aliases.get(name, name): value for name, value in properties.items()
        }

    def sent(
        self,
        context: ResourceContext,
        connection: Any,
        values: Mapping[str, Any],
        names: Collection[str],
    ) -> dict[str, Any]:
        """Return these properties as attributes of a request.

        :param values: the properties; those that are missing were removed
        """
        body: dict[str, Any] = {}
        for name, declared in self.properties.items():
            if name not in names or not isinstance(declared, Field):
                continue
            if declared.sent == OWN:
                continue
            value = values[name] if name in values else declared.removed()
            if declared.reference is not None:
                value = declared.reference.ids_of(connection, value)
            body[declared.sent or name] = value
        if 'name' in self.properties and 'name' in names:
            body['name'] = self.name_of(context)
        # Extensions of the service may override any attribute.
        if 'value_specs' in names:
            body.update(values.get('value_specs') or {})
        return body

    def name_of(self, context: ResourceContext) -> str:
        """Return the name that the object is to have."""
        return str(context.properties.get('name') or context.physical_name)

    # operations

    def _create(self, context: ResourceContext, connection: Any) -> Result:
        body = self.body(context, connection)
        self.marker.add(body, context)
        context.fence()
        return self._created(context, connection, self.make(connection, body))

    def _created(
        self, context: ResourceContext, connection: Any, made: Any
    ) -> ResourceInProgress | Ready:
        """Return that the object has to be waited for, or is complete."""
        if self._is_complete(context, record_of(made)):
            return self._ready(connection, made)
        delay = self.interval if self.settled else 0.0
        return ResourceInProgress({'step': _WAIT}, delay, str(made.id))

    def _is_complete(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        """Return whether nothing is left to do after the request."""
        if not self.is_finished(context, record):
            return False
        if self._is_to_be_named(context, record):
            return False
        return not self.settled or self.status_of(record) in self.settled

    def _is_to_be_named(
        self, context: ResourceContext, record: Mapping[str, Any]
    ) -> bool:
        by_name = isinstance(self.marker, NameMarker)
        return by_name and record.get('name') != self.name_of(context)

    def _find(self, context: ResourceContext, connection: Any) -> Result:
        body = {'name': self.name_of(context)}
        for found in self.search(connection, self.marker.filters(body, context)):
            if self.marker.matches(record_of(found), context):
                return ResourceInProgress({'step': _WAIT}, 0.0, str(found.id))
        return None

    def _update(self, context: ResourceContext, connection: Any) -> Result:
        names = resource_results.changed(
            self.values(context.before), self.values(context.properties)
        )
        body = self.changes(context, connection, names)
        context.fence()
        if body:
            self.change(connection, str(context.physical_id), body)
        waiting = self.apply(context, connection, names)
        if waiting is not None:
            return waiting
        return self._wait(context, connection, 'update', {'step': _WAIT})

    def _delete(self, context: ResourceContext, connection: Any, tries: int) -> Result:
        if context.physical_id is None:
            try:
                with self._translated(context):
                    found = self._find(context, connection)
            except (MissingReference, errors.NotInCatalog):
                # It cannot exist without its service and what it refers to.
                return None
            if isinstance(found, ResourceInProgress):
                return ResourceInProgress({'step': _DELETE}, 0.0, found.physical_id)
            return None
        context.fence()
        try:
            with self._translated(context):
                self.destroy(connection, context)
        except exceptions.Conflict as error:
            if tries >= _MOST_CONFLICTS:
                raise ResourceFault(str(error)) from None
            return ResourceInProgress(
                {'step': _DELETE, 'tries': tries + 1}, self._pause(tries)
            )
        if self.waits_for_deletion:
            return ResourceInProgress({'step': _GONE}, self.interval)
        return None

    def _poll(
        self, context: ResourceContext, connection: Any, operation: str, token: Any
    ) -> Result:
        if token is None:
            return self._repeat(context, connection, operation)
        step = token['step']
        if step == _WAIT:
            return self._wait(context, connection, operation, token)
        if step == _DELETE:
            return self._delete(context, connection, token.get('tries', 0))
        if step == _GONE:
            return self._wait_for_deletion(context, connection, token)
        return self.step(context, connection, operation, token)

    def step(
        self, context: ResourceContext, connection: Any, operation: str, token: Any
    ) -> Result:
        """Continue with a step of the type."""
        raise ResourceFault(f'{context.resource_name}: there is no step {token}')

    def _repeat(
        self, context: ResourceContext, connection: Any, operation: str
    ) -> Result:
        """Repeat an operation whose service was unavailable."""
        if operation == 'create':
            # The request may have arrived.
            found = self._find(context, connection)
            return found or self._create(context, connection)
        if operation == 'update':
            return self._update(context, connection)
        if operation == 'delete':
            return self._delete(context, connection, 0)
        result: Result = getattr(self, operation)(context)
        return result

    def _wait(
        self, context: ResourceContext, connection: Any, operation: str, token: Any
    ) -> Result:
        """Return Ready once the object can be used."""
        found = self.existing(context, connection)
        record = record_of(found)
        if operation in ('create', 'update', 'adopt'):
            self._refuse_failed(context, record)
        if self.settled and self.status_of(record) not in self.settled:
            return self.later(token)
        if operation == 'create':
            if self._is_to_be_named(context, record):
                found = self.change(
                    connection, str(found.id), {'name': self.name_of(context)}
                )
            if not self.is_finished(context, record):
                self.finish(context, connection, found)
                found = self.existing(context, connection)
        return self._ready(connection, found)

    def _wait_for_deletion(
        self, context: ResourceContext, connection: Any, token: Any
    ) -> Result:
        found = self.get(connection, str(context.physical_id))
        if found is None or self.is_deleted(record_of(found)):
            return None
        if self.status_of(record_of(found)) in self.failed and token.get('polls', 0):
            self._refuse_failed(context, record_of(found))
        return self.later(token)

    def is_deleted(self, record: Mapping[str, Any]) -> bool:
        """Return whether an object that the service still shows is deleted."""
        return self.status_of(record) in ('DELETED', 'SOFT_DELETED')

    def existing(self, context: ResourceContext, connection: Any) -> Any:
        """Return the object; raises ResourceFault if it does not exist."""
        found = self.get(connection, str(context.physical_id))
        if found is None or self.is_deleted(record_of(found)):
            raise ResourceFault(
                f'{self._label(context)} {context.physical_id} no longer exists'
            )
        return found

    def later(self, token: Any) -> ResourceInProgress:
        """Return that the token is to be polled again, after growing pauses."""
        polls = token.get('polls', 0) + 1
        return ResourceInProgress({**token, 'polls': polls}, self._pause(polls))

    def _pause(self, times: int) -> float:
        return min(_LONGEST, self.interval * 1.3 ** min(times, 20))

    def _ready(self, connection: Any, found: Any) -> Ready:
        record = record_of(found)
        attributes = {
            **self.attributes_of(connection, record),
            'show': public_record(record),
        }
        return Ready(str(found.id), attributes)

    def _refuse_failed(
        self, context: ResourceContext, record: Mapping[str, Any]
    ) -> None:
        status = self.status_of(record)
        if status in self.failed:
            reason = self.problem_of(record)
            raise ResourceFault(
                f'{self._label(context)} {record.get("id")} has the status {status}'
                f'{": " if reason else ""}{reason}'
            )

    def _label(self, context: ResourceContext) -> str:
        label = self.label or self.noun.replace('_', ' ')
        return f'{context.resource_name}: {label}'

    def _run(self, context: ResourceContext, operation: str, call: Call) -> Result:
        """Start an operation; `poll` repeats it if its service is unavailable."""

        def step(_: Any) -> Result:
            with self._translated(context):
                return call(self.connect(context))

        if operation != 'check':
            return delays.attempt_resource(context, step)
        try:
            return step(None)
        except exceptions.ServiceUnavailable as error:
            raise exceptions.StateUnknown(str(error)) from None

    def _translated(self, context: ResourceContext) -> AbstractContextManager[None]:
        service = self.service.replace('_', '-')
        region = self.region_of(context)
        name = context.resource_name
        target = name if region is None else f'{name} in region {region}'
        return errors.translated(service, target)


def record_of(found: Any) -> dict[str, Any]:
    """Return an object under the names of its service."""
    record: dict[str, Any] = found.to_dict(computed=False, original_names=True)
    return record


def public_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attribute `show`: what is known, without credentials."""
    return {
        name: value
        for name, value in record.items()
        if value is not None and not is_secret_name(name)
    }
