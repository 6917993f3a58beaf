"""The WSGI pipeline: the application and its middleware.

From the outermost to the innermost: request ids; error format; request log and metrics;
headers of proxies; CORS, whose preflight requests have no credentials; logins of the
dashboard; authentication; the dashboard; /healthcheck and /metrics; the API.
"""

import dataclasses
import functools
import operator
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from oslo_config import cfg
from oslo_middleware import cors, http_proxy_to_wsgi, request_id

from watcherlite import bootstrap, exceptions
from watcherlite.api import authentication, openapi
from watcherlite.api.app import HIDDEN_ADDRESS, Application
from watcherlite.api.basic_auth import PasswordFile
from watcherlite.api.clustering.handlers import ROUTES as CLUSTERING_ROUTES
from watcherlite.api.clustering.texts import SenlinTexts
from watcherlite.api.clustering.versions import CLUSTERING
from watcherlite.api.errors import HEAT_ERRORS, SENLIN_ERRORS, Environ, Wsgi
from watcherlite.api.event_streams import EventStreams
from watcherlite.api.idempotency import HEADER as IDEMPOTENCY_KEY
from watcherlite.api.idempotency import REPLAYED, Idempotency
from watcherlite.api.infra_optim.handlers import ROUTES
from watcherlite.api.infra_optim.versions import INFRA_OPTIM
from watcherlite.api.microversions import HEADER, MAXIMUM, MINIMUM
from watcherlite.api.monitoring import health
from watcherlite.api.monitoring.health import BrokerProbe, Health
from watcherlite.api.monitoring.metrics import Metrics
from watcherlite.api.monitoring.request_log import RequestContextFilter, RequestLog
from watcherlite.api.mounts import ErrorFormatSelector, Mount, Mounts, normalize_path
from watcherlite.api.operation import Operation
from watcherlite.api.orchestration.handlers import ROUTES as ORCHESTRATION_ROUTES
from watcherlite.api.orchestration.handlers.root import ORCHESTRATION
from watcherlite.api.policy import AccessPolicy
from watcherlite.api.services import Services
from watcherlite.api.settings import HTTP_BASIC, KEYSTONE, NOAUTH, ApiSettings
from watcherlite.domain import commands
from watcherlite.settings import payload_settings

_REQUEST_ID = 'X-OpenStack-Request-ID'
#: Default CORS headers that pages of other origins may send and read.
_CORS_HEADERS = {
    'allow_headers': [
        'Authorization',
        'Content-Type',
        'Last-Event-ID',
        'X-Auth-Token',
        HEADER,
        'X-Show-Deleted',
        _REQUEST_ID,
        IDEMPOTENCY_KEY,
    ],
    'expose_headers': [
        'Location',
        'Retry-After',
        HEADER,
        MINIMUM,
        MAXIMUM,
        _REQUEST_ID,
        REPLAYED,
    ],
}


def infra_optim() -> Mount:
    """Return the mount of the API of Watcher."""
    return openapi.with_openapi(
        Mount(
            ('', '/infra-optim'),
            INFRA_OPTIM,
            ROUTES,
            suffix='.json',
            shows_deleted=True,
        )
    )


def orchestration() -> Mount:
    """Return the mount of the API of Heat."""
    return openapi.with_openapi(
        Mount(
            ('/orchestration',),
            ORCHESTRATION,
            ORCHESTRATION_ROUTES,
            errors=HEAT_ERRORS,
            project='tenant',
        ),
        'stacks:openapi',
    )


def clustering() -> Mount:
    """Return the mount of the API of Senlin."""
    return openapi.with_openapi(
        Mount(
            ('/clustering',),
            CLUSTERING,
            CLUSTERING_ROUTES,
            errors=SENLIN_ERRORS,
            texts=SenlinTexts(),
        ),
        'clusters:openapi',
    )


@functools.cache
def served() -> tuple[Mount, ...]:
    """Return all mounts, those of the whole process; the first one is at the root."""
    return infra_optim(), orchestration(), clustering()


def settings_of(conf: cfg.ConfigOpts) -> ApiSettings:
    """Return the settings in a configuration."""
    group = conf.api
    return ApiSettings(
        auth_strategy=group.auth_strategy,
        noauth_on_any_address=group.noauth_on_any_address,
        max_body_size=group.max_body_size,
        idempotency_key_lifetime=group.idempotency_key_lifetime,
        request_retention=group.request_retention,
        password_file=group.http_basic_auth_user_file,
        user_roles={
            user: tuple(role.strip() for role in roles.split('+') if role.strip())
            for user, roles in group.http_basic_user_roles.items()
        },
        default_roles=tuple(group.http_basic_default_roles),
        webhooks_need_authentication=group.enable_webhooks_auth,
        healthcheck_details=group.healthcheck_details,
        healthcheck_disable_file=group.healthcheck_disable_file,
        metrics=group.metrics,
        allowed_hosts=frozenset(
            name.lower()
            for name in (*group.allowed_hosts, conf.host, socket.gethostname())
        ),
    )


def services_of(runtime: bootstrap.Runtime) -> Services:
    """Return the dependencies of operations from the runtime of a process."""
    group = runtime.conf.api
    streams = group.max_event_streams
    return Services(
        store=runtime.store,
        plans=runtime.plans,
        audits=runtime.audits,
        templates=runtime.templates,
        data_models=runtime.data_models,
        datasources=runtime.datasources,
        stacks=runtime.stacks,
        reading=runtime.reading,
        software=runtime.software,
        clusters=runtime.clusters,
        plugins=runtime.plugins,
        clock=runtime.clock,
        notifications=payload_settings(runtime.conf),
        delegations=runtime.delegations,
        max_limit=group.max_limit,
        max_event_streams=group.threads // 2 if streams is None else streams,
    )


class Frontend(Protocol):
    """Pages that are served beside the API, with its authentication."""

    def wrap_authentication(self, application: Wsgi) -> Wsgi:
        """Return an application around the authentication, for its logins."""

    def wrap_api(self, application: Wsgi, policy: AccessPolicy) -> Wsgi:
        """Return an application around the API, for requests with a `Caller`."""


def application_of(
    runtime: bootstrap.Runtime, services: Services, frontend: Frontend | None = None
) -> Wsgi:
    """Return the application of a process.

    :param services: from `services_of`; the process ends its streams when it stops
    :raises ConfigurationError: an option has an invalid value
    """
    settings = settings_of(runtime.conf)
    return make_application(services, settings, runtime.conf, frontend=frontend)


def wake_streams(runtime: bootstrap.Runtime, streams: EventStreams) -> None:
    """Wake the streams of a process when any process stores events."""
    if runtime.worker is not None:
        runtime.add_listener(lambda stored: streams.wake())

    def on_message(message: Mapping[str, Any]) -> None:
        if isinstance(bootstrap.decode_message(message), commands.EventsStored):
            streams.wake()

    runtime.bus.start((), _ignore, on_message)


def _ignore(lane: str, message: Mapping[str, Any]) -> None:
    """Ignore a command: the API serves no lane."""


def make_application(
    services: Services,
    settings: ApiSettings,
    conf: cfg.ConfigOpts,
    *,
    mounts: Sequence[Mount] = (),
    broker_probe: BrokerProbe | None = None,
    frontend: Frontend | None = None,
) -> Wsgi:
    """Return the WSGI application.

    :param conf: for libraries with their own options: oslo.policy, oslo.middleware,
        keystonemiddleware
    :param mounts: instead of those of `served`
    :raises ConfigurationError: an option has an invalid value
    """
    mounts = mounts or served()
    _set_cors_defaults(conf, mounts)
    policy = AccessPolicy(conf)
    metrics = Metrics(services.store, services.clock.now) if settings.metrics else None
    if not settings.webhooks_need_authentication:
        mounts = [_with_open_webhooks(mount) for mount in mounts]
    checks = Health(
        services.store,
        services.clock,
        broker_probe
        or BrokerProbe(lambda: bootstrap.check_broker(conf, 'watcherlite-api')),
        settings.healthcheck_disable_file,
    )
    application: Any = Application(
        services,
        policy,
        mounts,
        settings.max_body_size,
        Idempotency(
            services.store,
            services.clock,
            settings.idempotency_key_lifetime,
            settings.request_retention,
        ),
    )
    application = health.HealthEndpoints(
        application,
        checks,
        lambda caller: (
            settings.healthcheck_details or policy.allows('healthcheck:detail', caller)
        ),
        metrics,
    )
    if frontend is not None:
        application = frontend.wrap_api(application, policy)
    application = authentication.Gate(
        RequestContextFilter(application),
        _strategy(settings, conf),
        _make_is_public(settings, mounts),
        lambda application: authentication.HostHeaderCheck(
            application, settings.allowed_hosts, _needs_host_check(settings, mounts)
        ),
    )
    if frontend is not None:
        application = frontend.wrap_authentication(application)
    return _with_outer_layers(application, conf, mounts, metrics)


def _set_cors_defaults(conf: cfg.ConfigOpts, mounts: Sequence[Mount]) -> None:
    conf.register_opts(cors.CORS_OPTS, group='cors')
    for name, value in _CORS_HEADERS.items():
        conf.set_default(name, value, 'cors')
    conf.set_default('allow_methods', _methods(mounts), 'cors')


def _with_outer_layers(
    application: Any,
    conf: cfg.ConfigOpts,
    mounts: Sequence[Mount],
    metrics: Metrics | None,
) -> Wsgi:
    """Return an application with the middleware before the authentication."""
    if conf.cors.allowed_origin:
        application = cors.CORS(application, conf)
    conf.register_opts(http_proxy_to_wsgi.OPTS, group='oslo_middleware')
    if conf.oslo_middleware.enable_proxy_headers_parsing:
        application = http_proxy_to_wsgi.HTTPProxyToWSGI(application, conf)
    application = ErrorFormatSelector(RequestLog(application, metrics), mounts)
    made: Wsgi = request_id.RequestId(application, {})
    return made


def _strategy(settings: ApiSettings, conf: cfg.ConfigOpts) -> Callable[[Wsgi], Wsgi]:
    if settings.auth_strategy == NOAUTH:
        if not settings.is_local_only:
            return authentication.NoAuthentication
        origins = frozenset(conf.cors.allowed_origin or ())
        return lambda application: authentication.LocalOriginCheck(
            authentication.NoAuthentication(application), origins
        )
    if settings.auth_strategy == HTTP_BASIC:
        passwords = PasswordFile(settings.password_file)
        return lambda application: authentication.HttpBasic(
            application, passwords, settings.user_roles, settings.default_roles
        )
    if settings.auth_strategy == KEYSTONE:
        around = authentication.checker(conf)
        return lambda application: authentication.Keystone(application, around)
    raise exceptions.ConfigurationError(
        f'[api] auth_strategy {settings.auth_strategy} is not known'
    )


def _make_is_public(
    settings: ApiSettings, mounts: Sequence[Mount]
) -> Callable[[Environ], bool]:
    """Return a predicate: whether a request needs no authentication.

    Public are the version documents at the root of each mount, /metrics if it is
    enabled, /healthcheck without credentials, and the webhooks of receivers, whose
    addresses are secrets.
    """
    table = Mounts(mounts)
    hooks = {mount: _addresses(mount, _IS_WEBHOOK) for mount in mounts}
    open_to_all = {mount: _addresses(mount, _IS_PUBLIC) for mount in mounts}
    strategy = settings.auth_strategy

    def is_public(environ: Environ) -> bool:
        path = normalize_path(environ.get('PATH_INFO', ''))
        if path == health.METRICS:
            return settings.metrics
        if path == health.HEALTHCHECK:
            return strategy != NOAUTH and not authentication.has_credentials(environ)
        found = table.find(path)
        if found is None:
            return False
        mount, _, below = found
        if not below:
            return True
        for template, place in open_to_all[mount].items():
            if place.fullmatch(below):
                environ[HIDDEN_ADDRESS] = mount.prefixes[0] + template
                # With noauth, only local requests are accepted.
                return strategy != NOAUTH
        return not settings.webhooks_need_authentication and any(
            hook.fullmatch(below) for hook in hooks[mount].values()
        )

    return is_public


def _needs_host_check(
    settings: ApiSettings, mounts: Sequence[Mount]
) -> Callable[[Environ], bool]:
    """Return a predicate: whether a public request needs the check of its host.

    Version documents, the plain health check and webhooks with a token do not.
    """
    table = Mounts(mounts)
    hooks = {mount: _addresses(mount, _IS_WEBHOOK) for mount in mounts}

    def needs_host_check(environ: Environ) -> bool:
        path = normalize_path(environ.get('PATH_INFO', ''))
        if path in (health.METRICS, health.HEALTHCHECK):
            return path == health.METRICS or settings.healthcheck_details
        found = table.find(path)
        if found is None:
            return False
        mount, _, below = found
        return any(hook.fullmatch(below) for hook in hooks[mount].values())

    return needs_host_check


_IS_WEBHOOK = operator.attrgetter('webhook')
_IS_PUBLIC = operator.attrgetter('public')


def _addresses(
    mount: Mount, is_meant: Callable[[Operation], bool]
) -> dict[str, re.Pattern[str]]:
    """Return the patterns of the addresses of selected operations, by template."""
    return {
        template: re.compile(re.sub(r'\\{\w+\\}', '[^/]+', re.escape(template)))
        for template, operations in mount.routes.items()
        if any(is_meant(operation) for operation in operations.values())
    }


def _with_open_webhooks(mount: Mount) -> Mount:
    """Return a mount whose webhooks are public."""
    routes = {
        template: {
            method: dataclasses.replace(operation, rule=None)
            if operation.webhook
            else operation
            for method, operation in operations.items()
        }
        for template, operations in mount.routes.items()
    }
    return dataclasses.replace(mount, routes=routes)


def _methods(mounts: Sequence[Mount]) -> list[str]:
    """Return the methods of all operations."""
    return sorted(
        {
            method
            for mount in mounts
            for operations in mount.routes.values()
            for method in operations
        }
    )
