"""Authentication: the strategies of `[api] auth_strategy`.

Each is a WSGI middleware that sets the `Caller` of a request. Identity headers that a
client sends are dropped first.
"""

import base64
import binascii
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any
from urllib import parse

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.api import errors
from watcherlite.api.app import CALLER
from watcherlite.api.basic_auth import PasswordFile, TooManyPasswords
from watcherlite.api.errors import Environ, ErrorResponse, Wsgi
from watcherlite.api.operation import Caller
from watcherlite.api.settings import is_address, is_loopback

LOG = logging.getLogger(__name__)

#: The caller of all requests without authentication.
SYNTHETIC = Caller(
    user_id='noauth',
    user_name='noauth',
    roles=frozenset({'admin'}),
    system_scope='all',
    in_all_projects=True,
)
UNAUTHORIZED = 'The request you have made requires authentication.'
AWAY = 'Keystone is not available to validate the token. Try again later.'
UNCHECKED = 'The token cannot be validated; see the log of the API. Try again later.'
REALM = 'watcherlite'
UNKNOWN_HOST = (
    'The header Host has an unknown name. Use an IP address, or add the name to [api] '
    'allowed_hosts'
)
ELSEWHERE = (
    'auth_strategy is noauth: only requests to 127.0.0.1 or localhost, from web pages '
    'of this origin, are accepted unless [api] noauth_on_any_address is true'
)

#: Prefixes of the headers in which keystonemiddleware passes the identity.
_IDENTITY = (
    'HTTP_X_ROLE',
    'HTTP_X_USER',
    'HTTP_X_PROJECT',
    'HTTP_X_TENANT',
    'HTTP_X_DOMAIN',
    'HTTP_X_IDENTITY',
    'HTTP_X_IS_ADMIN',
    'HTTP_X_SYSTEM',
    'HTTP_X_SERVICE_',
    'HTTP_OPENSTACK_SYSTEM_SCOPE',
)
#: Headers with these prefixes that keystonemiddleware validates.
_CREDENTIALS = frozenset({'HTTP_X_SERVICE_TOKEN'})

#: The key of the WSGI environment with the user of a session of the dashboard, which
#: has checked the password.
SESSION_USER = 'watcherlite.session_user'

#: Status -> the error.
_TEXTS = {401: UNAUTHORIZED, 503: AWAY}


class Gate:
    """Middleware that authenticates requests except those to public addresses.

    :param application: the protected application
    :param strategy: wraps the application in authentication
    :param is_public: returns whether a request needs no authentication
    :param guard: wraps the application for public requests
    """

    def __init__(
        self,
        application: Wsgi,
        strategy: Callable[[Wsgi], Wsgi],
        is_public: Callable[[Environ], bool],
        guard: Callable[[Wsgi], Wsgi] | None = None,
    ) -> None:
        self._open = application if guard is None else guard(application)
        self._guarded = strategy(application)
        self._is_public = is_public

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        for name in [name for name in environ if name.startswith(_IDENTITY)]:
            if name not in _CREDENTIALS:
                del environ[name]
        environ.pop(CALLER, None)
        if self._is_public(environ):
            return self._open(environ, start_response)
        return self._guarded(environ, start_response)


class HostHeaderCheck:
    """Middleware that rejects public requests with an unknown name in the header Host.

    It prevents DNS rebinding: a web page whose host name resolves to this service could
    read all public responses.

    :param names: the names of this service, in lower case; '*': all names
    :param is_guarded: returns whether a request is checked
    """

    def __init__(
        self,
        application: Wsgi,
        names: Collection[str],
        is_guarded: Callable[[Environ], bool],
    ) -> None:
        self._application = application
        self._names = names
        self._is_guarded = is_guarded

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        host = environ.get('HTTP_HOST')
        if host is not None and self._is_guarded(environ) and not self._is_known(host):
            return errors.respond(
                environ, start_response, ErrorResponse(403, UNKNOWN_HOST)
            )
        return self._application(environ, start_response)

    def _is_known(self, host: str) -> bool:
        if '*' in self._names:
            return True
        try:
            name = parse.urlsplit(f'//{host}').hostname or ''
        except ValueError:
            return False
        return name in self._names or name == 'localhost' or is_address(name)


class NoAuthentication:
    """Middleware that makes every caller an administrator."""

    def __init__(self, application: Wsgi) -> None:
        self._application = application

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        environ[CALLER] = SYNTHETIC
        return self._application(environ, start_response)


class LocalOriginCheck:
    """Middleware that rejects requests of foreign web pages in a local browser.

    Without authentication, a page in a browser on this host could use the API. Its
    requests have a foreign Origin or, after DNS rebinding, a foreign Host.

    :param origins: accepted origins in addition to local ones
    """

    def __init__(self, application: Wsgi, origins: Collection[str]) -> None:
        self._application = application
        self._origins = origins

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        host = environ.get('HTTP_HOST')
        origin = environ.get('HTTP_ORIGIN')
        if (host is not None and not _is_here(f'//{host}')) or (
            origin is not None and origin not in self._origins and not _is_here(origin)
        ):
            return errors.respond(
                environ, start_response, ErrorResponse(403, ELSEWHERE)
            )
        return self._application(environ, start_response)


class HttpBasic:
    """HTTP basic authentication by a password file; RFC 7617.

    :param user_roles: user -> roles
    :param default_roles: the roles of other users
    """

    def __init__(
        self,
        application: Wsgi,
        passwords: PasswordFile,
        user_roles: Mapping[str, Sequence[str]],
        default_roles: Sequence[str],
    ) -> None:
        self._application = application
        self._passwords = passwords
        self._user_roles = {user: _lower(roles) for user, roles in user_roles.items()}
        self._default_roles = _lower(default_roles)

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        if SESSION_USER in environ:
            return self._call_as(environ[SESSION_USER], environ, start_response)
        given = credentials(environ.get('HTTP_AUTHORIZATION', ''))
        try:
            is_known = given is not None and self._passwords.verify(*given)
        except TooManyPasswords as error:
            return errors.respond(environ, start_response, errors.fault_of(error, ''))
        if given is None or not is_known:
            challenge = ('WWW-Authenticate', f'Basic realm="{REALM}", charset="UTF-8"')
            fault = ErrorResponse(401, UNAUTHORIZED)
            return errors.respond(environ, start_response, fault, challenge)
        return self._call_as(given[0], environ, start_response)

    def _call_as(
        self, user: str, environ: Environ, start_response: Any
    ) -> Iterable[bytes]:
        environ[CALLER] = Caller(
            user_id=user,
            user_name=user,
            roles=self._user_roles.get(user, self._default_roles),
            system_scope='all',
            in_all_projects=True,
        )
        return self._application(environ, start_response)


class Keystone:
    """Authentication by keystone tokens, validated by keystonemiddleware.

    :param around: wraps an application in keystonemiddleware
    """

    def __init__(self, application: Wsgi, around: Callable[[Wsgi], Wsgi]) -> None:
        self._application = application
        self._checked = around(self._identify)

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        try:
            return with_error_format(self._checked, environ, start_response)
        except Exception as error:
            if CALLER in environ:
                raise
            # keystonemiddleware does not handle, for example, an invalid catalog.
            kind = type(error)
            LOG.error(
                'keystonemiddleware cannot validate tokens: %s: %s; see '
                '[keystone_authtoken]',
                kind.__name__,
                error,
                exc_info=not kind.__module__.startswith('keystoneauth1.'),
            )
            fault = ErrorResponse(
                503, UNCHECKED, {'Retry-After': str(errors.RETRY_AFTER)}
            )
            return errors.respond(environ, start_response, fault)

    def _identify(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Set the caller from the headers of keystonemiddleware."""
        environ[CALLER] = Caller(
            user_id=environ.get('HTTP_X_USER_ID'),
            user_name=environ.get('HTTP_X_USER_NAME'),
            project_id=environ.get('HTTP_X_PROJECT_ID'),
            roles=_lower(_names(environ.get('HTTP_X_ROLES', ''))),
            system_scope=environ.get('HTTP_OPENSTACK_SYSTEM_SCOPE'),
            role_names=_names(environ.get('HTTP_X_ROLES', '')),
            token=environ.get('HTTP_X_AUTH_TOKEN'),
        )
        return self._application(environ, start_response)


def has_credentials(environ: Environ) -> bool:
    """Return whether a request has credentials."""
    return any(name in environ for name in ('HTTP_AUTHORIZATION', 'HTTP_X_AUTH_TOKEN'))


def credentials(header: str) -> tuple[str, str] | None:
    """Return user and password of the header Authorization, or None."""
    scheme, _, text = header.strip().partition(' ')
    if scheme.lower() != 'basic':
        return None
    try:
        decoded = base64.b64decode(text.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    user, colon, password = decoded.partition(':')
    return (user, password) if colon else None


def with_error_format(
    application: Wsgi, environ: Environ, start_response: Any
) -> Iterable[bytes]:
    """Call an application, and reformat errors of keystonemiddleware.

    Errors after the authentication are formatted already.
    """
    replaced: list[tuple[ErrorResponse, list[tuple[str, str]]]] = []

    def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
        code = int(status.split(' ', 1)[0])
        if code < 400 or CALLER in environ:
            return start_response(status, headers, *rest)
        text = _TEXTS.get(code) or status.partition(' ')[2]
        kept = [
            (k, v)
            for k, v in headers
            if k.lower() not in ('content-type', 'content-length')
        ]
        replaced.append((ErrorResponse(code, text), kept))
        return _discard

    answer = application(environ, start)
    if not replaced:
        return answer
    close = getattr(answer, 'close', None)
    if close is not None:
        close()
    fault, kept = replaced[-1]
    return errors.respond(environ, start_response, fault, *kept)


def _discard(data: bytes) -> None:
    """Discard data passed to `write`."""


def _is_here(url: str) -> bool:
    try:
        return is_loopback(parse.urlsplit(url).hostname or '')
    except ValueError:
        return False


def _names(header: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in header.split(',') if name.strip())


def _lower(roles: Iterable[str]) -> frozenset[str]:
    return frozenset(role.strip().lower() for role in roles if role.strip())


GROUP = 'keystone_authtoken'


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options of keystonemiddleware."""
    from keystonemiddleware import auth_token

    for options in auth_token.list_opts():
        conf.register_opts(options[1], group=options[0])


def checker(conf: cfg.ConfigOpts) -> Callable[[Wsgi], Wsgi]:
    """Return a function that wraps an application in keystonemiddleware.

    :raises ConfigurationError: [keystone_authtoken] is incomplete
    """
    # It needs 19 MB of memory: import it only if it is used.
    from keystonemiddleware import auth_token

    register_opts(conf)
    if not (conf[GROUP].auth_type or conf[GROUP].auth_section):
        raise exceptions.ConfigurationError(
            '[api] auth_strategy is keystone, and [keystone_authtoken] has no '
            'auth_type; set it, for instance to password, with auth_url, username, '
            'password, project_name and the domains'
        )

    def wrap(application: Wsgi) -> Wsgi:
        checked: Wsgi = auth_token.AuthProtocol(
            application, {'oslo_config_config': conf}
        )
        return checked

    return wrap
