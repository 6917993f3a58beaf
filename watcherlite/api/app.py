"""The WSGI application, which turns requests into calls of operations.

In this order: mount and version, route, policy, media type, arguments, body. Every
exception becomes a response in the error format of the mount; see `errors`.
"""

import functools
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import falcon
from falcon import routing

from watcherlite import exceptions
from watcherlite.api import arguments, errors, microversions
from watcherlite.api.errors import Environ
from watcherlite.api.idempotency import HEADER as HEADER_OF_KEYS
from watcherlite.api.idempotency import Idempotency
from watcherlite.api.microversions import HEADER
from watcherlite.api.mounts import Mount, Mounts, decode_slashes, proxy_prefix
from watcherlite.api.operation import (
    EVENT_STREAM,
    NOTHING,
    Caller,
    Operation,
    Request,
    Response,
    Version,
    Versioned,
    at,
)
from watcherlite.api.policy import AccessPolicy
from watcherlite.api.services import Services
from watcherlite.domain.documents import json_values

LOG = logging.getLogger(__name__)

#: Keys of the WSGI environment: the `Caller`, set by the authentication, and the
#: request id, set by oslo.middleware.
CALLER = 'watcherlite.caller'
REQUEST_ID = 'openstack.request_id'
#: The template of the route, for the metrics.
ROUTE = 'watcherlite.route'
#: The route template, for the log, of an address that contains a secret.
HIDDEN_ADDRESS = 'watcherlite.hidden_address'

#: The rule for callers who see all projects.
ADMIN = 'admin_api'
#: The rule for callers whose plans and audits may act on objects of all projects.
PLANS_EVERYWHERE = 'action_plan:all_projects'
#: Maximum length of a project that an error repeats.
SHOWN = 64

_TRUE = frozenset({'1', 't', 'true', 'on', 'y', 'yes'})


class Application:
    """The part of the application behind authentication, as a WSGI callable.

    :param idempotency: None: idempotency keys are ignored
    :raises ValueError: an operation names an unknown policy rule
    """

    def __init__(
        self,
        services: Services,
        policy: AccessPolicy,
        mounts: Sequence[Mount],
        max_body_size: int,
        idempotency: Idempotency | None = None,
    ) -> None:
        self.services = services
        self.idempotency = idempotency
        self.policy = policy
        self.max_body_size = max_body_size
        for mount in mounts:
            for operations in mount.routes.values():
                for operation in operations.values():
                    if operation.rule is not None:
                        policy.check_name(operation.rule)
        app = falcon.App(
            middleware=[_Routing(self, mounts)], router=_router(tuple(mounts))
        )
        app.add_error_handler(Exception, self._fail)
        app.add_error_handler(falcon.HTTPError, self._fail)
        self._app = app

    def __call__(self, environ: Environ, start_response: Any) -> Any:
        return self._app(environ, start_response)

    def _fail(
        self,
        request: falcon.Request,
        response: falcon.Response,
        error: Exception,
        params: Mapping[str, Any],
    ) -> None:
        request_id = request.env.get(REQUEST_ID, '')
        fault = errors.fault_of(error, request_id)
        if fault.is_hidden:
            log_failure(request, request_id, fault.status, error)
        response.status = fault.status
        response.set_headers(dict(fault.headers))
        response.content_type = falcon.MEDIA_JSON
        mount: Mount | None = getattr(request.context, 'mount', None)
        shape = errors.ERROR_MESSAGE if mount is None else mount.errors
        response.data = shape.data(fault)


def log_failure(
    request: falcon.Request, request_id: str, status: int, error: Exception
) -> None:
    """Log an error whose details the client does not get.

    Only unexpected errors have a traceback.
    """
    LOG.error(
        'Request %s, %s %s, failed with %d: %s',
        request_id,
        request.method,
        logged_address(request.env),
        status,
        error,
        exc_info=error if status == 500 else None,
    )


def logged_address(environ: Environ) -> str:
    """Return the address of a request for the log, without secrets."""
    return str(environ.get(HIDDEN_ADDRESS) or environ.get('PATH_INFO', ''))


@functools.cache
def _router(mounts: tuple[Mount, ...]) -> routing.CompiledRouter:
    """Return the router of some mounts, which all their applications share."""
    router = routing.CompiledRouter()
    for number, mount in enumerate(mounts):
        for template, operations in mount.routes.items():
            path = f'/{number}{template}'.rstrip('/').removesuffix(mount.suffix)
            router.add_route(path, Endpoint(mount, template, operations))
    return router


class _Routing:
    """Middleware that sets the application, mount, version and path of a request."""

    def __init__(self, application: Application, mounts: Sequence[Mount]) -> None:
        self._application = application
        self._mounts = Mounts(mounts)
        self._numbers = {mount: number for number, mount in enumerate(mounts)}

    def process_request(
        self, request: falcon.Request, response: falcon.Response
    ) -> None:
        """Set the context of the request, and its path for the router."""
        found = self._mounts.find(request.path)
        if found is None:
            raise falcon.HTTPNotFound
        mount, prefix, path = found
        context = request.context
        context.application = self._application
        context.mount, context.prefix = mount, prefix
        context.version = mount.versions.minimum
        if path:
            response.set_headers(mount.versions.headers())
            context.version = mount.versions.negotiate(request.get_header(HEADER))
            response.set_headers(mount.versions.response_headers(context.version))
        request.path = f'/{self._numbers[mount]}{path}'


class Endpoint:
    """The falcon resource of one URL: `on_get`, `on_post` and so on."""

    def __init__(
        self, mount: Mount, template: str, operations: Mapping[str, Operation]
    ) -> None:
        self._mount = mount
        self._template = template
        for method, operation in operations.items():
            schemas = _Schemas(operation, method, mount.texts)
            call = functools.partial(self._respond, operation, schemas)
            setattr(self, f'on_{method.lower()}', call)

    def _respond(
        self,
        operation: Operation,
        schemas: '_Schemas',
        request: falcon.Request,
        response: falcon.Response,
        **path: str,
    ) -> None:
        # Mounts may have equal templates.
        request.env[ROUTE] = self._mount.prefixes[0] + self._template
        # The server keeps slashes in names encoded.
        path = {name: decode_slashes(text) for name, text in path.items()}
        validated = self._validated(operation, schemas, request, path)
        self._render(self._call(operation, validated, request), response)

    def _validated(
        self,
        operation: Operation,
        schemas: '_Schemas',
        request: falcon.Request,
        path: Mapping[str, str],
    ) -> Request:
        """Return a request after the checks of version, roles, arguments and rules."""
        version: Version = request.context.version
        if version < operation.since:
            raise _too_early(operation, version)
        application: Application = request.context.application
        policy = application.policy
        caller: Caller = request.env.get(CALLER) or Caller()
        project = path.get(self._mount.project or '')
        _check_project(policy, caller, project)
        _check_role(policy, operation, caller, project)
        event_stream = _form(operation, request)
        for text in path.values():
            problem = json_values.text_problem(text)
            if problem:
                raise exceptions.Invalid(f'In the address, {problem}')
        query = schemas.query(version).query(request.params)
        root_url = f'{request.scheme}://{request.netloc}{proxy_prefix(request.env)}'
        validated = Request(
            services=application.services,
            version=version,
            caller=caller,
            path=path,
            query=query,
            body=self._body(operation, schemas, request, version),
            root_url=root_url,
            mount_url=root_url + request.context.prefix,
            request_id=request.env.get(REQUEST_ID, ''),
            show_deleted=self._mount.shows_deleted
            and _is_true(request.get_header('X-Show-Deleted')),
            last_event_id=request.get_header('Last-Event-ID'),
            event_stream=event_stream,
            # After the number of the mount.
            route_path='/' + request.path.lstrip('/').partition('/')[2],
            query_string=request.query_string,
            sees_all_projects=policy.allows(ADMIN, caller),
            plans_in_all_projects=policy.allows(PLANS_EVERYWHERE, caller),
            allows=lambda rule: policy.allows(rule, caller, project),
        )
        for rule in operation.rules(validated) if operation.rules else ():
            policy.check(rule, caller, project)
        return validated

    def _call(
        self, operation: Operation, validated: Request, request: falcon.Request
    ) -> Response:
        idempotency: Idempotency | None = request.context.application.idempotency
        if idempotency is None:
            return operation.call(validated)
        return idempotency.call(
            operation,
            validated,
            request.method,
            self._mount.prefixes[0],
            request.get_header(HEADER_OF_KEYS),
        )

    def _body(
        self,
        operation: Operation,
        schemas: '_Schemas',
        request: falcon.Request,
        version: Version,
    ) -> Any:
        if request.method == 'DELETE' and operation.body is None:
            return None
        data = _read(request, request.context.application.max_body_size)
        if data and not arguments.accepts_json(request.content_type or ''):
            raise falcon.HTTPUnsupportedMediaType(
                description='The body must be application/json, not '
                f'{request.content_type}'
            )
        checker = schemas.body(version)
        if checker is None:
            return None
        if not data:
            if operation.needs_body:
                raise checker.no_body()
            return None
        return checker.body(arguments.parse(data))

    def _render(self, answer: Response, response: falcon.Response) -> None:
        response.status = answer.status
        if answer.stream is not None:
            response.content_type = EVENT_STREAM
            response.set_header('Cache-Control', 'no-store')
            # Otherwise proxies may buffer events.
            response.set_header('X-Accel-Buffering', 'no')
            response.stream = answer.stream
        elif answer.body is not None:
            response.content_type = falcon.MEDIA_JSON
            response.data = json.dumps(answer.body, ensure_ascii=False).encode()
        elif answer.data is not None:
            response.content_type = answer.content_type
            response.data = answer.data
        response.set_headers(dict(answer.headers))


class _Schemas:
    """The validators of an operation by version, created when first needed."""

    def __init__(
        self, operation: Operation, method: str, texts: arguments.Texts
    ) -> None:
        self._texts = texts
        self._query = operation.query or NOTHING
        self._body = operation.body
        self._name = arguments.PATCH if method == 'PATCH' else arguments.BODY
        self._made: dict[tuple[int, Version], arguments.Checker] = {}

    def query(self, version: Version) -> arguments.Checker:
        return self._checker(self._query, version)

    def body(self, version: Version) -> arguments.Checker | None:
        return None if self._body is None else self._checker(self._body, version)

    def _checker(self, schemas: Versioned, version: Version) -> arguments.Checker:
        key = (id(schemas), version)
        if key not in self._made:
            schema = at(schemas, version)
            self._made[key] = arguments.Checker(schema, self._name, self._texts)
        return self._made[key]


def _check_project(policy: AccessPolicy, caller: Caller, project: str | None) -> None:
    """Raise Forbidden if the caller is not in the project of the address."""
    if project is None or caller.is_in_project(project):
        return
    if not policy.allows(ADMIN, caller):
        raise exceptions.Forbidden(
            f'The caller is not a member of project {project[:SHOWN]}'
        )


def _check_role(
    policy: AccessPolicy, operation: Operation, caller: Caller, project: str | None
) -> None:
    """Raise Forbidden if no rule of the operation allows the caller."""
    if operation.rule is None:
        return
    rules = operation.alternatives or (operation.rule,)
    if not any(policy.allows(rule, caller, project) for rule in rules):
        policy.check(operation.rule, caller, project)


def _too_early(operation: Operation, version: Version) -> Exception:
    text = operation.too_early_text
    if text is None:
        since = microversions.text(operation.since)
        text = f'API microversion {since} or higher is required.'
    text = text.format(version=microversions.text(version))
    kinds: Mapping[int, Callable[[str], Exception]] = {
        400: exceptions.VersionTooEarly,
        404: exceptions.NotFound,
        406: exceptions.NotAcceptable,
    }
    return kinds[operation.too_early](text)


def _form(operation: Operation, request: falcon.Request) -> bool:
    """Return whether an event stream is requested; NotAcceptable for other types."""
    forms = [falcon.MEDIA_JSON]
    if operation.streams:
        forms.append(EVENT_STREAM)
    accepted = request.accept
    if accepted == '*/*' or accepted == falcon.MEDIA_JSON:
        return False
    chosen = request.client_prefers(forms)
    if chosen is None:
        raise exceptions.NotAcceptable(
            f'Supported media types: {", ".join(forms)}; the request accepts {accepted}'
        )
    return chosen == EVENT_STREAM


def _read(request: falcon.Request, most: int) -> bytes:
    """Return the body; HTTPContentTooLarge if it exceeds the limit."""
    length = request.content_length
    chunked = request.get_header('Transfer-Encoding') is not None
    if length is None and not chunked:
        return b''
    if length is not None and length > most:
        raise _too_large(most)
    # The server joins the chunks of a body.
    stream = request.bounded_stream if length is not None else request.stream
    try:
        data: bytes = stream.read(most + 1)
    except (OSError, OverflowError, ValueError):
        # The client disconnected, or the chunks are malformed.
        raise exceptions.Invalid('The body cannot be read completely') from None
    if len(data) > most:
        raise _too_large(most)
    if length is not None and len(data) < length:
        raise exceptions.Invalid(
            f'The body has {len(data)} bytes; Content-Length announces {length}'
        )
    return data


def _too_large(most: int) -> falcon.HTTPError:
    return falcon.HTTPContentTooLarge(
        description=f'The body is too large; the limit is {most} bytes'
    )


def _is_true(text: str | None) -> bool:
    return text is not None and text.strip().lower() in _TRUE
