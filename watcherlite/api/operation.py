"""Operations: one method on one URL each.

Routing, validation, policy checks, the OpenAPI documents and the tests are based on the
tables of operations.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from watcherlite.domain.creators import Creator

if TYPE_CHECKING:
    from watcherlite.api.services import Services

#: A microversion: (major, minor).
Version = tuple[int, int]
Schema = Mapping[str, Any]
#: First microversion -> JSON schema; (1, 0) is always present.
Versioned = Mapping[Version, Schema]

JSON = 'application/json'
EVENT_STREAM = 'text/event-stream'

#: The schemas of an operation without arguments, or without a body.
NOTHING: Versioned = {(1, 0): {'type': 'object', 'additionalProperties': False}}


def unversioned(schema: Schema) -> Versioned:
    """Return a schema for all microversions."""
    return {(1, 0): schema}


def at(schemas: Versioned, version: Version) -> Schema:
    """Return the schema for a microversion."""
    return schemas[max(since for since in schemas if since <= version)]


@dataclasses.dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated caller of a request.

    :param roles: the roles, in lower case
    :param role_names: the roles, as keystone spells them
    :param token: of keystone, by which authority can be delegated
    :param in_all_projects: authenticated without a project (noauth, http_basic): a
        member of all projects
    """

    user_id: str | None = None
    user_name: str | None = None
    project_id: str | None = None
    roles: frozenset[str] = frozenset()
    system_scope: str | None = None
    in_all_projects: bool = False
    role_names: tuple[str, ...] = ()
    token: str | None = dataclasses.field(default=None, repr=False)

    def is_in_project(self, project: str) -> bool:
        """Return whether the caller is authenticated for a project."""
        return self.in_all_projects or self.project_id == project


def _allows_nothing(rule: str) -> bool:
    return False


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """A validated request.

    :param path: the variables of the URL, as text
    :param query: the given arguments, converted to the types of their schema
    :param body: the JSON value; None for an operation without a body
    :param root_url: scheme, host and the prefix below which a proxy serves the API
    :param mount_url: the root with the prefix of the mount
    :param route_path: the path below the mount
    :param query_string: the unparsed arguments
    :param sees_all_projects: the rules allow the caller to see all projects
    :param plans_in_all_projects: the rules allow the caller's plans and audits to act
        on objects of all projects
    :param allows: (policy rule) -> whether it allows the caller
    :param show_deleted: the header X-Show-Deleted is true, on a mount that supports it
    :param last_event_id: the header Last-Event-ID, or None
    :param event_stream: text/event-stream is accepted, and supported by the operation
    """

    services: 'Services'
    version: Version
    caller: Caller
    path: Mapping[str, str]
    query: Mapping[str, Any]
    body: Any
    root_url: str
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
        """Return the caller in the format stored in actions, plans and audits."""
        who = {
            'user_id': self.caller.user_id,
            'user_name': self.caller.user_name,
            'project_id': self.caller.project_id,
            'request_id': self.request_id,
        }
        return {name: value for name, value in who.items() if value}

    @property
    def initiator(self) -> dict[str, Any]:
        """Return who sent the request, as its events record it."""
        return {**self.context, 'roles': sorted(self.caller.roles)}


@dataclasses.dataclass(frozen=True, slots=True)
class Response:
    """The response of an operation.

    :param body: a JSON value; None: no body
    :param data: the encoded body of type `content_type`, instead of `body`
    :param stream: an iterable of encoded parts (text/event-stream), instead of a body;
        its `close` method, if any, is always called
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


#: (request, kind -> uuid of the created objects) -> the response.
Restore = Callable[[Request, Mapping[str, str]], Response]

#: The empty response for clients that parse every body.
NULL = Response(data=b'null')


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """One method on one URL.

    :param call: the handler; may raise the exceptions in the table of `errors`
    :param rule: the policy rule that is checked first; None: public
    :param rules: returns the additional rules that depend on the request
    :param alternatives: the possible rules if they depend on the body, which is only
        read if one of them allows the caller
    :param summary: one sentence for the reference
    :param responses: status -> schema of the body; only the errors that are specific to
        this operation
    :param since: the microversion that introduced it
    :param too_early: the status for earlier microversions: 404, 406 or 400
    :param too_early_text: the message of that error; {version}: that of the request
    :param needs_body: whether an empty body is rejected
    :param streams: whether it supports text/event-stream as well
    :param webhook: whether the configuration may make it public
    :param public: whether it needs no authentication, because its address is a secret
    :param restore: returns the response of a repeated request; see `idempotency`
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
Handler = TypeVar('Handler', bound=Callable[[Request], Response])


class RouteTable(dict[str, dict[str, Operation]]):
    """Routes to which a decorator adds the handlers.

    :param query: the schema of the arguments of operations without another one
    """

    def __init__(self, query: Versioned = NOTHING) -> None:
        super().__init__()
        self._query = query

    def route(
        self,
        pattern: str,
        rule: str | None,
        responses: Mapping[int, Versioned | None],
        *,
        summary: str | None = None,
        **options: Any,
    ) -> Callable[[Handler], Handler]:
        """Return a decorator that adds the operation of a handler.

        :param pattern: the method and the template: 'GET /v1/audits/{audit}'
        :param summary: by default the first line of the docstring of the handler
        :param options: further attributes of the operation
        """
        method, _, template = pattern.partition(' ')
        options.setdefault('query', self._query)

        def add(call: Handler) -> Handler:
            text = summary or (call.__doc__ or '').partition('\n')[0]
            operation = Operation(call, rule, text, responses=responses, **options)
            self.add(template, method, operation)
            return call

        return add

    def add(self, template: str, method: str, operation: Operation) -> None:
        """Add an operation; ValueError if there is one."""
        operations = self.setdefault(template, {})
        if method in operations:
            raise ValueError(f'{method} {template} is defined twice')
        operations[method] = operation


def merge_routes(*tables: Routes) -> RouteTable:
    """Merge route tables; ValueError for an operation in several tables."""
    merged = RouteTable()
    for table in tables:
        for template, operations in table.items():
            for method, operation in operations.items():
                merged.add(template, method, operation)
    return merged
