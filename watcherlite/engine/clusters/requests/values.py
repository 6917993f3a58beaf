"""The values of requests on clusters, and their validation."""

import dataclasses
import datetime
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, TypeVar

from watcherlite import exceptions
from watcherlite.clock import EPOCH
from watcherlite.db.credentials import AUTHORITY, reference_to
from watcherlite.domain.clusters import Cluster, Node, Owner, Receiver
from watcherlite.domain.documents import json_values

#: (value, field) -> the value as it is stored; raises BadRequest
Parser = Callable[[Any, str], Any]
Row = TypeVar('Row', Cluster, Node, Cluster | Node)

#: Letters (Chinese ones too), digits and . _ ~ - as clients know them.
_NAME = re.compile(r'[a-zA-Z\u4e00-\u9fa5\d._~-]{1,255}\Z')
#: Most characters of a role.
MAX_ROLE_LENGTH = 255
#: Largest number that columns take.
MAX_INTEGER = 2**31 - 1


@dataclasses.dataclass(frozen=True, slots=True)
class RequestContext:
    """The context of a request.

    :param owner: of the objects that the request creates
    :param everywhere: whether it sees the objects of all projects
    :param context: stored with the requested actions; never credentials
    :param delegate: called for a valid request that creates an object: stores the
        authority of its user for the object; returns the uuid of the credential
    :param connect: returns a connection to OpenStack with the authority of the user,
        for a region or that of the configuration; None: there is none
    :param wait: queue the requested actions behind the running actions of their
        targets, instead of rejecting them
    """

    owner: Owner
    everywhere: bool = False
    context: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    wait: bool = False
    delegate: Callable[[], str] | None = None
    connect: Callable[[str | None], Any] | None = None

    @property
    def tenant(self) -> str | None:
        """Return the project whose objects the request sees; None: all projects."""
        return None if self.everywhere else self.owner.tenant

    def delegated(self, owner: str) -> tuple['RequestContext', str | None]:
        """Delegate the authority of the user for a new object.

        :param owner: uuid of the object
        :returns: the context with a reference to the credential, and its uuid; None
            without authority
        """
        if self.delegate is None:
            return self, None
        uuid = self.delegate()
        context = {**self.context, AUTHORITY: reference_to(owner, uuid)}
        return dataclasses.replace(self, context=context, delegate=None), uuid

    def within(self, tenant: str) -> 'RequestContext':
        """Return the context restricted to one project."""
        owner = dataclasses.replace(self.owner, tenant=tenant)
        return dataclasses.replace(self, owner=owner, everywhere=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Accepted(Generic[Row]):
    """An accepted request, which an action executes.

    :param action: uuid of the action
    :param row: the cluster or node as it is now
    """

    action: str
    row: Row


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterRequest:
    """The values of a new cluster.

    :param profile: uuid, name or short id
    :param desired_capacity: None: `min_size`
    :param max_size: below 0: any number
    :param timeout: seconds; None: the option `cluster_action_timeout`
    """

    name: Any
    profile: str
    desired_capacity: Any = None
    min_size: Any = None
    max_size: Any = None
    timeout: Any = None
    metadata: Mapping[str, Any] | None = None
    config: Mapping[str, Any] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class NodeRequest:
    """The values of a new node.

    :param profile, cluster: uuid, name or short id; no cluster: it is in none
    """

    name: Any
    profile: str
    cluster: str | None = None
    role: str | None = None
    metadata: Mapping[str, Any] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class AdoptionRequest:
    """The values of an adoption.

    :param identity: what it is called outside
    :param type: of a profile: `local.process-1.0`
    :param overrides: properties instead of those that are found
    :param snapshot: supported by no profile type
    """

    identity: str
    type: str
    name: Any = None
    role: str | None = None
    metadata: Mapping[str, Any] | None = None
    overrides: Mapping[str, Any] | None = None
    snapshot: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class ReceiverRequest:
    """The values of a new receiver.

    :param type: 'webhook'
    :param cluster: uuid, name or short id
    :param action: CLUSTER_SCALE_OUT, ...
    :param params: inputs of that action
    :param actor: kept, and shown
    """

    name: Any
    type: str
    cluster: str | None = None
    action: str | None = None
    params: Mapping[str, Any] | None = None
    actor: Mapping[str, Any] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class IssuedReceiver:
    """A receiver with the token that triggers it, which is stored nowhere.

    :param token: None: it has the one that was issued before
    """

    receiver: Receiver
    token: str | None = dataclasses.field(default=None, repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class NewClusterAction:
    """The values of a new action (microversion 1.15).

    :param action: an action type: `command`, or CLUSTER_SCALE_OUT, ...
    :param target: a cluster or node: uuid, name or short id
    :param inputs: that fit the schema of the type
    :param interval: seconds between the starts of two runs; 0 or less: one run
    :param not_before: aware; None: at once
    :param timeout: seconds; None: that of the cluster, or the default
    """

    action: str
    target: str
    name: Any = None
    inputs: Mapping[str, Any] | None = None
    interval: Any = None
    not_before: Any = None
    timeout: Any = None


def parse_name(value: Any, field: str = 'name') -> str:
    """Return a name that fits into URLs and columns; BadRequest."""
    if isinstance(value, str) and _NAME.match(value):
        return value
    shown = f'{value!r}'[:80] if isinstance(value, str) else json_values.kind(value)
    raise exceptions.BadRequest(
        f'The value for the {field} ({shown}) contains illegal characters or has not '
        '1 to 255 of them: letters, digits and . _ ~ - are allowed.'
    )


def parse_role(value: Any, field: str = 'role') -> str:
    """Return the role of a node; BadRequest."""
    if value is None:
        return ''
    if not isinstance(value, str) or len(value) > MAX_ROLE_LENGTH:
        raise exceptions.BadRequest(
            f"The value for '{field}' must be text of at most {MAX_ROLE_LENGTH} "
            'characters.'
        )
    return value


def parse_mapping(value: Any, field: str) -> dict[str, Any]:
    """Return an object of the request as it is stored; null is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise exceptions.BadRequest(
            f"The value for '{field}' must be a map, not {json_values.kind(value)}."
        )
    wrong = next(iter(json_values.problems(dict(value))), None)
    if wrong is not None:
        place = '.'.join(str(part) for part in (field, *wrong[0]))
        raise exceptions.BadRequest(f'{place}: {wrong[1]}')
    return dict(value)


def parse_integer(
    value: Any, field: str, least: int | None = None, most: int = MAX_INTEGER
) -> int:
    """Return a whole number, which clients may have sent as text; BadRequest."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).strip()
    whole = isinstance(value, int | str) and not isinstance(value, bool)
    if not whole or not re.fullmatch(r'[+-]?[0-9]{1,99}', text, re.ASCII):
        raise exceptions.BadRequest(
            f"The value for {field} must be an integer: '{text[:40]}'."
        )
    number = int(text)
    if least is not None and number < least:
        raise exceptions.BadRequest(f"Value must be >= {least} for field '{field}'.")
    if not -MAX_INTEGER <= number <= most:
        raise exceptions.BadRequest(f"Value must be <= {most} for field '{field}'.")
    return number


def parse_size(value: Any, field: str, least: int, most: int, default: int) -> int:
    """Return a size, as `parse_integer` does; None: the default."""
    return default if value is None else parse_integer(value, field, least, most)


def parse_boolean(value: Any, field: str) -> bool:
    """Return true or false, which clients may have sent as text; BadRequest."""
    if isinstance(value, bool):
        return value
    text = value.strip().lower() if isinstance(value, str) else ''
    if text in ('true', 'false'):
        return text == 'true'
    raise exceptions.BadRequest(f"Invalid value '{value}' specified for '{field}'")


def parse_time(value: Any) -> datetime.datetime:
    """Return a time in UTC, which may come as text; BadRequest."""
    if value is None:
        return EPOCH
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value)
        except ValueError:
            raise exceptions.BadRequest(
                f"The value for not_before is no time in ISO 8601: '{value[:40]}'."
            ) from None
    if not isinstance(value, datetime.datetime):
        what = json_values.kind(value)
        raise exceptions.BadRequest(
            f'The value for not_before must be a time, not {what}.'
        )
    if value.tzinfo is None:
        value = value.replace(tzinfo=datetime.UTC)
    try:
        # The store does not look for times before EPOCH.
        return max(value.astimezone(datetime.UTC), EPOCH)
    except OverflowError:
        raise exceptions.BadRequest(
            f'The value for not_before is out of range: {value}.'
        ) from None


def parse_changes(
    changes: Mapping[str, Any], parsers: Mapping[str, Parser]
) -> dict[str, Any]:
    """Return the fields that a request changes, parsed; null leaves one as it is."""
    return {
        field: parse(changes[field], field)
        for field, parse in parsers.items()
        if changes.get(field) is not None
    }


def check_known_keys(given: Mapping[str, Any], known: Collection[str]) -> None:
    """Raise BadRequest for unknown keys."""
    unknown = sorted(str(key) for key in given if key not in known)
    if unknown:
        raise exceptions.BadRequest(
            f'Action parameter {unknown} is not recognizable; known are '
            f'{", ".join(sorted(known))}.'
        )
