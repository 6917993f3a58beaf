"""One method on one URL: what every part of the API knows of it.

The routes are a table of operations. Routing, the validation of arguments, the
policy check, the OpenAPI document and the tests all read the same rows.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from watcherlite.api.services import Services

#: A microversion: (major, minor).
Version = tuple[int, int]
Schema = Mapping[str, Any]
#: JSON schemas by the microversion from which on they hold; (1, 0) is always there.
Versioned = Mapping[Version, Schema]

JSON = 'application/json'
EVENT_STREAM = 'text/event-stream'

#: For an operation without arguments, or without a body.
NOTHING: Versioned = {(1, 0): {'type': 'object', 'additionalProperties': False}}


def always(schema: Schema) -> Versioned:
    """Return a schema that holds at every microversion."""
    return {(1, 0): schema}


def at(schemas: Versioned, version: Version) -> Schema:
    """Return the schema that holds at a microversion."""
    return schemas[max(since for since in schemas if since <= version)]


@dataclasses.dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, as the authentication made sure.

    :param roles: lower case; never taken from the request itself
    :param in_all_projects: whoever says who they are here says nothing of projects, so
        that each is as good as another
    """

    user_id: str | None = None
    user_name: str | None = None
    project_id: str | None = None
    roles: frozenset[str] = frozenset()
    system_scope: str | None = None
    in_all_projects: bool = False

    def may_be_in(self, project: str) -> bool:
        """Say whether the caller has proved to be in a project."""
        return self.in_all_projects or self.project_id == project


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """A request whose caller, version, arguments and body are known to be right.

    :param path: the variables of the URL, as text
    :param query: the arguments, converted as their schema says (integers,
        booleans); absent ones are absent
    :param body: the JSON value, None for operations without one
    :param host_url: scheme and host, without the mount
    :param mount_url: the same with the prefix of the mount that was asked
    :param place: the path as the routes have it, with the variables filled in
    :param query_string: the arguments as they were sent
    :param everywhere: the rules let the caller look into every project
    :param show_deleted: the header X-Show-Deleted was true, on a mount where it counts
    :param last_event_id: the header Last-Event-ID, or None
    :param event_stream: the header Accept asks for text/event-stream; only where
        `Operation.streams`
    """

    services: 'Services'
    version: Version
    caller: Caller
    path: Mapping[str, str]
    query: Mapping[str, Any]
    body: Any
    host_url: str
    mount_url: str
    request_id: str
    show_deleted: bool = False
    last_event_id: str | None = None
    event_stream: bool = False
    place: str = ''
    query_string: str = ''
    everywhere: bool = False

    @property
    def context(self) -> dict[str, str]:
        """Return who asks, as it is kept with what they ask for."""
        who = {
            'user_id': self.caller.user_id,
            'user_name': self.caller.user_name,
            'project_id': self.caller.project_id,
            'request_id': self.request_id,
        }
        return {name: value for name, value in who.items() if value}


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """What an operation answers.

    :param body: a JSON value; None: no body
    :param data: instead of it, the body as it is sent, of the type `content_type`
    :param stream: instead of a body, what is sent as it comes (text/event-stream);
        its `close`, if it has one, is called at the end, however that comes
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    stream: Iterator[bytes] | None = None
    data: bytes | None = None
    content_type: str = JSON


#: What clients that parse every answer read where there is nothing to say.
NULL = Answer(data=b'null')


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """One method on one URL.

    :param call: does it; raises what `errors` has a status for
    :param rule: the policy rule that is asked before, None: open to everybody
    :param rules: where it depends on the request which ones are asked, returns these;
        then `rule` is the most usual one, for the reference
    :param summary: one sentence for the reference
    :param answers: status -> schema of the body; errors need not be named, except
        those that are particular to this operation
    :param since: the first microversion that has it
    :param too_early: the status for callers of an earlier one: 404, 406 or 400
    :param too_early_text: what they are told, {version} being that of the request
    :param needs_body: whether an empty body is refused
    :param streams: whether it can answer text/event-stream as well as JSON
    :param webhook: whether an operator may open it to everybody
    :param public: whether it is open to everybody: its address is a secret
    """

    call: Callable[[Request], Answer]
    rule: str | None
    summary: str
    query: Versioned = dataclasses.field(default_factory=lambda: NOTHING)
    body: Versioned | None = None
    answers: Mapping[int, Versioned | None] = dataclasses.field(
        default_factory=lambda: {200: None}
    )
    since: Version = (1, 0)
    too_early: int = 404
    too_early_text: str | None = None
    needs_body: bool = True
    streams: bool = False
    webhook: bool = False
    public: bool = False
    rules: Callable[[Request], Iterable[str]] | None = None


#: URL template -> method -> operation.
Routes = Mapping[str, Mapping[str, Operation]]


def merged(*tables: Routes) -> dict[str, dict[str, Operation]]:
    """Return one table of several; ValueError for what two of them have."""
    found: dict[str, dict[str, Operation]] = {}
    for table in tables:
        for template, operations in table.items():
            there = found.setdefault(template, {})
            for method, operation in operations.items():
                if method in there:
                    raise ValueError(f'{method} {template} is there twice')
                there[method] = operation
    return found
