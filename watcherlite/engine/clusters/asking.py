"""Who asks for something of clusters, and with what values."""

import dataclasses
import re
from collections.abc import Collection, Mapping
from typing import Any, Generic, TypeVar

from watcherlite import exceptions
from watcherlite.domain import json_values
from watcherlite.domain.clusters import Cluster, Node, Owner

Row = TypeVar('Row', Cluster, Node, Cluster | Node)

#: Letters (Chinese ones too), digits and . _ ~ - as clients know them.
_NAME = re.compile(r'[a-zA-Z\u4e00-\u9fa5\d._~-]{1,255}\Z')
#: Most characters of a role.
LONGEST_ROLE = 255
#: Largest number that columns take.
LARGEST = 2**31 - 1


@dataclasses.dataclass(frozen=True, slots=True)
class Asker:
    """Who asks.

    :param owner: what they make belongs to it
    :param everywhere: they see the objects of all projects
    :param context: kept with the actions that they ask for; never credentials
    """

    owner: Owner
    everywhere: bool = False
    context: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def tenant(self) -> str | None:
        """Return the project whose objects they see; None: of all."""
        return None if self.everywhere else self.owner.tenant

    def within(self, tenant: str) -> 'Asker':
        """Return who asks, as one who sees the objects of one project alone."""
        owner = dataclasses.replace(self.owner, tenant=tenant)
        return dataclasses.replace(self, owner=owner, everywhere=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Begun(Generic[Row]):
    """Something that was asked for, and that an action does.

    :param action: uuid of the action
    :param row: the cluster or node as it is now
    """

    action: str
    row: Row


@dataclasses.dataclass(frozen=True, slots=True)
class NewCluster:
    """A cluster as a user asks for it.

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
class NewNode:
    """A node as a user asks for it.

    :param profile, cluster: uuid, name or short id; no cluster: it is in none
    """

    name: Any
    profile: str
    cluster: str | None = None
    role: str | None = None
    metadata: Mapping[str, Any] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Adoption:
    """Something that is there, and that is to be a node.

    :param identity: what it is called outside
    :param type: of a profile: `local.process-1.0`
    :param overrides: properties instead of those that are found
    :param snapshot: asked for by clients; no type here makes any
    """

    identity: str
    type: str
    name: Any = None
    role: str | None = None
    metadata: Mapping[str, Any] | None = None
    overrides: Mapping[str, Any] | None = None
    snapshot: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class NewReceiver:
    """A receiver as a user asks for it.

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
class NewAction:
    """An action as a user asks for it (microversion 1.15).

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


def name_of(value: Any) -> str:
    """Return a name that fits into URLs and columns; BadRequest."""
    if isinstance(value, str) and _NAME.match(value):
        return value
    shown = f'{value!r}'[:80] if isinstance(value, str) else json_values.kind(value)
    raise exceptions.BadRequest(
        f'The value for the name ({shown}) contains illegal characters or has not 1 to '
        '255 of them: letters, digits and . _ ~ - are allowed.'
    )


def role_of(value: Any) -> str:
    """Return the role of a node; BadRequest."""
    if value is None:
        return ''
    if not isinstance(value, str) or len(value) > LONGEST_ROLE:
        raise exceptions.BadRequest(
            f"The value for 'role' must be text of at most {LONGEST_ROLE} characters."
        )
    return value


def mapping_of(value: Any, field: str) -> dict[str, Any]:
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


def number_of(
    value: Any, field: str, least: int | None = None, most: int = LARGEST
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
    if not -LARGEST <= number <= most:
        raise exceptions.BadRequest(f"Value must be <= {most} for field '{field}'.")
    return number


def size_of(value: Any, field: str, least: int, most: int) -> int | None:
    """Return a size, None as it is; see `number_of`."""
    return None if value is None else number_of(value, field, least, most)


def flag_of(value: Any, field: str) -> bool:
    """Return true or false, which clients may have sent as text; BadRequest."""
    if isinstance(value, bool):
        return value
    text = value.strip().lower() if isinstance(value, str) else ''
    if text in ('true', 'false'):
        return text == 'true'
    raise exceptions.BadRequest(f"Invalid value '{value}' specified for '{field}'")


def known_keys(given: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse what nobody would look at; BadRequest."""
    unknown = sorted(str(key) for key in given if key not in known)
    if unknown:
        raise exceptions.BadRequest(
            f'Action parameter {unknown} is not recognizable; known are '
            f'{", ".join(sorted(known))}.'
        )
