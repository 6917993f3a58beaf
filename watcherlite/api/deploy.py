"""The whole application: what is around the operations, and in which order.

From the outside: request ids, so that everything below can name the request; what
is logged and counted of it; what a proxy tells of the client; CORS, whose preflight
requests carry no credentials; the authentication; /healthcheck and /metrics; and the
API itself.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from oslo_config import cfg
from oslo_middleware import cors, http_proxy_to_wsgi, request_id

from watcherlite import bootstrap, exceptions
from watcherlite.api import authentication, broker, keystone, openapi, places
from watcherlite.api.app import Application, Mount
from watcherlite.api.authentication import Environ, Wsgi
from watcherlite.api.health import BrokerProbe, Health
from watcherlite.api.infra_optim.routes import ROUTES
from watcherlite.api.metrics import Metrics
from watcherlite.api.microversions import HEADER, INFRA_OPTIM, MAXIMUM, MINIMUM
from watcherlite.api.observing import Contextual, Observer
from watcherlite.api.operation import Routes
from watcherlite.api.passwords import PasswordFile
from watcherlite.api.policy import Policy
from watcherlite.api.services import Services
from watcherlite.api.settings import HTTP_BASIC, KEYSTONE, NOAUTH, ApiSettings

WEBHOOKS = '/v1/webhooks'
_REQUEST_ID = 'X-OpenStack-Request-ID'
_CORS = {
    'allow_headers': ['Content-Type', 'X-Auth-Token', HEADER, _REQUEST_ID],
    'expose_headers': [HEADER, MINIMUM, MAXIMUM, _REQUEST_ID],
    'allow_methods': ['GET', 'POST', 'PATCH', 'DELETE'],
}


def infra_optim(routes: Routes = ROUTES) -> Mount:
    """Return the mount of OpenStack Watcher's vocabulary."""
    described = {**routes, **openapi.routes(INFRA_OPTIM, routes)}
    return Mount(('', '/infra-optim'), INFRA_OPTIM, described)


def settings_of(conf: cfg.ConfigOpts) -> ApiSettings:
    """Return the settings that a configuration holds."""
    group = conf.api
    return ApiSettings(
        auth_strategy=group.auth_strategy,
        noauth_on_any_address=group.noauth_on_any_address,
        max_body_size=group.max_body_size,
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
    )


def services_of(runtime: bootstrap.Runtime) -> Services:
    """Return what operations work with, from the parts of a process."""
    group = runtime.conf.api
    streams = group.max_event_streams
    return Services(
        store=runtime.store,
        plans=runtime.plans,
        audits=runtime.audits,
        templates=runtime.templates,
        plugins=runtime.plugins,
        clock=runtime.clock,
        max_limit=group.max_limit,
        max_event_streams=group.threads // 2 if streams is None else streams,
    )


def application_of(runtime: bootstrap.Runtime, services: Services) -> Wsgi:
    """Return the application of a process, as its configuration wants it.

    :param services: from `services_of`; the one who stops the process ends the
        streams in it
    :raises ConfigurationError: an option has a value that cannot work
    """
    return make_application(services, settings_of(runtime.conf), runtime.conf)


def make_application(
    services: Services,
    settings: ApiSettings,
    conf: cfg.ConfigOpts,
    *,
    mounts: Sequence[Mount] = (),
    broker_probe: BrokerProbe | None = None,
) -> Wsgi:
    """Return the WSGI application.

    :param conf: for the libraries that have options of their own: oslo.policy,
        oslo.middleware, keystonemiddleware
    :param mounts: all of them, if not those that are served
    :raises ConfigurationError: an option has a value that cannot work
    """
    conf.register_opts(cors.CORS_OPTS, group='cors')
    for name, value in _CORS.items():
        conf.set_default(name, value, 'cors')
    policy = Policy(conf)
    metrics = Metrics(services.store, services.clock.now) if settings.metrics else None
    mounts = mounts or [infra_optim()]
    if not settings.webhooks_need_authentication:
        mounts = [_with_open_webhooks(mount) for mount in mounts]
    health = Health(
        services.store,
        services.clock,
        broker_probe or broker.probe(conf),
        settings.healthcheck_disable_file,
    )
    application: Any = Application(services, policy, mounts, settings.max_body_size)
    application = places.Places(
        application,
        health,
        lambda caller: (
            settings.healthcheck_details or policy.allows('healthcheck:detail', caller)
        ),
        metrics,
    )
    application = authentication.Gate(
        Contextual(application), _strategy(settings, conf), _public(settings, mounts)
    )
    if conf.cors.allowed_origin:
        application = cors.CORS(application, conf)
    conf.register_opts(http_proxy_to_wsgi.OPTS, group='oslo_middleware')
    if conf.oslo_middleware.enable_proxy_headers_parsing:
        application = http_proxy_to_wsgi.HTTPProxyToWSGI(application, conf)
    application = Observer(application, metrics)
    made: Wsgi = request_id.RequestId(application, {})
    return made


def _strategy(settings: ApiSettings, conf: cfg.ConfigOpts) -> Callable[[Wsgi], Wsgi]:
    if settings.auth_strategy == NOAUTH:
        if settings.noauth_on_any_address:
            return authentication.NoAuthentication
        origins = frozenset(conf.cors.allowed_origin or ())
        return lambda application: authentication.LocalPages(
            authentication.NoAuthentication(application), origins
        )
    if settings.auth_strategy == HTTP_BASIC:
        passwords = PasswordFile(settings.password_file)
        return lambda application: authentication.HttpBasic(
            application, passwords, settings.user_roles, settings.default_roles
        )
    if settings.auth_strategy == KEYSTONE:
        around = keystone.checker(conf)
        return lambda application: authentication.Keystone(application, around)
    raise exceptions.ConfigurationError(
        f'[api] auth_strategy {settings.auth_strategy} is not known'
    )


def _public(
    settings: ApiSettings, mounts: Sequence[Mount]
) -> Callable[[Environ], bool]:
    """Return what says whether a request needs no authentication.

    Public are the version documents at the root of each mount, /metrics where it is
    turned on, and /healthcheck for whoever does not say who they are.
    """
    prefixes = [prefix for mount in mounts for prefix in mount.prefixes]
    roots = {prefix.rstrip('/') for prefix in prefixes} | {''}
    hooks = tuple(
        f'{prefix}{begin}/'
        for prefix in prefixes
        for begin in (WEBHOOKS, WEBHOOKS.removeprefix('/v1'))
    )
    strategy = settings.auth_strategy

    def is_public(environ: Environ) -> bool:
        path = places.spelled(environ.get('PATH_INFO', ''))
        if path in roots:
            return True
        if path == places.METRICS:
            return settings.metrics
        if path == places.HEALTHCHECK:
            return strategy != NOAUTH and not authentication.has_credentials(environ)
        return not settings.webhooks_need_authentication and path.startswith(hooks)

    return is_public


def _with_open_webhooks(mount: Mount) -> Mount:
    """Return a mount whose webhooks ask for no role."""
    routes = {
        template: {
            method: (
                dataclasses.replace(operation, rule=None)
                if template.startswith(f'{WEBHOOKS}/')
                else operation
            )
            for method, operation in operations.items()
        }
        for template, operations in mount.routes.items()
    }
    return dataclasses.replace(mount, routes=routes)
