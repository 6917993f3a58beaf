"""Operations: one method on one URL each.

Routes are a table of operations, which routing, validation, policy checks, the OpenAPI
documents and the tests read.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from watcherlite.domain.creators import Creator

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


def unversioned(schema: Schema) -> Versioned:
    """Return a schema that holds at every microversion."""
    return {(1, 0): schema}


def at(schemas: Versioned, version: Version) -> Schema:
    """Return the schema that holds at a microversion."""
    return schemas[max(since for since in schemas if since <= version)]


@dataclasses.dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated caller of a request.

    :param roles: lower case; never taken from the request itself
    :param in_all_projects: authenticated without a project (noauth, http_basic), and so
        a member of every project
    """

    user_id: str | None = None
    user_name: str | None = None
    project_id: str | None = None
    roles: frozenset[str] = frozenset()
    system_scope: str | None = None
    in_all_projects: bool = False

    def is_in_project(self, project: str) -> bool:
        """Return whether the caller is authenticated for a project."""
        return self.in_all_projects or self.project_id == project


def _allows_nothing(rule: str) -> bool:
    return False


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """A request whose caller, version, arguments and body are valid.

    :param path: the variables of the URL, as text
    :param query: the arguments, converted as their schema says (integers,
        booleans); absent ones are absent
    :param body: the JSON value, None for operations without one
    :param host_url: scheme and host, without the mount
    :param mount_url: the same with the prefix of the mount
    :param route_path: the path as the routes have it, with the variables filled in
    :param query_string: the arguments as they were sent
    :param sees_all_projects: the rules let the caller look into every project
    :param plans_in_all_projects: the rules let the caller's plans and audits act on the
        objects of every project
    :param allows: (name of a policy rule): whether it lets the caller
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
    route_path: str = ''
    query_string: str = ''
    sees_all_projects: bool = False
    plans_in_all_projects: bool = False
    allows: Callable[[str], bool] = _allows_nothing

    @property
    def page_size(self) -> int:
        """Return the maximum number of rows of a page; 0: no rows are requested."""
        most = self.services.max_limit
        limit: int = self.query.get('limit', most)
        return min(limit, most)

    @property
    def creator(self) -> Creator:
        """Return the creator of the plans and audits of this request."""
        return Creator(
            self.caller.user_id, self.caller.project_id, self.plans_in_all_projects
        )

    @property
    def context(self) -> dict[str, str]:
        """Return the caller as it is stored with actions, plans and audits."""
        who = {
            'user_id': self.caller.user_id,
            'user_name': self.caller.user_name,
            'project_id': self.caller.project_id,
            'request_id': self.request_id,
        }
        return {name: value for name, value in who.items() if value}


@dataclasses.dataclass(frozen=True, slots=True)
class Response:
    """The response of an operation.

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

    def with_header(self, name: str, value: str) -> 'Response':
        """Return a copy with one more header."""
        return dataclasses.replace(self, headers={**self.headers, name: value})


#: (request, kind -> uuid of the objects that it created): the response
Restore = Callable[[Request, Mapping[str, str]], Response]

#: The empty response for clients that parse every body.
NULL = Response(data=b'null')


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """One method on one URL.

    :param call: the handler; raises exceptions that `errors` has a status for
    :param rule: the policy rule that is checked first; None: public
    :param rules: returns the rules if they depend on the request; `rule` is one of
        them, or the most usual of the alternatives
    :param alternatives: the possible rules if they depend on the body, which is read
        only if one of them allows the caller
    :param summary: one sentence for the reference
    :param responses: status -> schema of the body; of errors, only those that are
        particular to this operation
    :param since: the first microversion that has it
    :param too_early: the status for callers of an earlier one: 404, 406 or 400
    :param too_early_text: the error, with {version} of the request
    :param needs_body: whether an empty body is refused
    :param streams: whether it offers text/event-stream besides JSON
    :param webhook: whether an operator may make it public
    :param public: needs no authentication: its address is a secret
    :param restore: returns the response to a repeated request; see `idempotency`
    """

    call: Callable[[Request], Response]
    rule: str | None
    summary: str
    query: Versioned = dataclasses.field(default_factory=lambda: NOTHING)
    body: Versioned | None = None
    responses: Mapping[int, Versioned | None] = dataclasses.field(
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
    alternatives: tuple[str, ...] = ()
    restore: Restore | None = None


#: URL template -> method -> operation.
Routes = Mapping[str, Mapping[str, Operation]]


def merge_routes(*tables: Routes) -> dict[str, dict[str, Operation]]:
    """Merge tables; ValueError for an operation that two of them have."""
    found: dict[str, dict[str, Operation]] = {}
    for table in tables:
        for template, operations in table.items():
            there = found.setdefault(template, {})
            for method, operation in operations.items():
                if method in there:
                    raise ValueError(f'{method} {template} is defined twice')
                there[method] = operation
    return found
