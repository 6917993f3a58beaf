"""Who asks: the strategies of `[api] auth_strategy`.

Each is a WSGI application around another one and leaves a `Caller` in the request.
What a client says about itself in headers is dropped before anything else.
"""

import base64
import binascii
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any
from urllib import parse

from watcherlite.api import errors
from watcherlite.api.app import CALLER
from watcherlite.api.errors import Environ, Fault, Wsgi
from watcherlite.api.operation import Caller
from watcherlite.api.passwords import PasswordFile
from watcherlite.api.settings import is_loopback

LOG = logging.getLogger(__name__)

#: The caller of everything where there is no authentication.
SYNTHETIC = Caller(
    user_id='noauth',
    user_name='noauth',
    roles=frozenset({'admin'}),
    in_all_projects=True,
)
UNAUTHORIZED = 'The request you have made requires authentication.'
AWAY = 'Keystone, which tells whose token this is, cannot be reached. Try again later.'
UNCHECKED = (
    'The token cannot be checked, for a reason that the log of the API has. Try again '
    'later.'
)
REALM = 'watcherlite'
ELSEWHERE = (
    'auth_strategy is noauth: the API is asked as 127.0.0.1 or localhost, and not by '
    'web pages from elsewhere, unless [api] noauth_on_any_address is true'
)

#: How the headers begin in which keystonemiddleware tells who asks.
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
#: Begins like the above, and is what keystonemiddleware is to check.
_CREDENTIALS = frozenset({'HTTP_X_SERVICE_TOKEN'})

#: What is said in place of the name of a status.
_TEXTS = {401: UNAUTHORIZED, 503: AWAY}


class Gate:
    """Lets requests to public addresses pass, and all others through a strategy.

    :param application: for both
    :param strategy: returns the application with authentication around it
    :param is_public: says whether a request needs no authentication
    """

    def __init__(
        self,
        application: Wsgi,
        strategy: Callable[[Wsgi], Wsgi],
        is_public: Callable[[Environ], bool],
    ) -> None:
        self._open = application
        self._guarded = strategy(application)
        self._is_public = is_public

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        for name in [name for name in environ if name.startswith(_IDENTITY)]:
            if name not in _CREDENTIALS:
                del environ[name]
        environ.pop(CALLER, None)
        if self._is_public(environ):
            return self._open(environ, start_response)
        return self._guarded(environ, start_response)


class NoAuthentication:
    """Everybody is an administrator."""

    def __init__(self, application: Wsgi) -> None:
        self._application = application

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        environ[CALLER] = SYNTHETIC
        return self._application(environ, start_response)


class LocalPages:
    """Refuses what a web page from elsewhere makes a browser on this machine ask.

    Nobody has to say who they are here, and a browser reaches what only this machine
    does. Such a request has an Origin of elsewhere, or, when a name of elsewhere was
    made to lead here, a Host.

    :param origins: pages that are welcome all the same
    """

    def __init__(self, application: Wsgi, origins: Collection[str]) -> None:
        self._application = application
        self._origins = origins

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        host = environ.get('HTTP_HOST')
        origin = environ.get('HTTP_ORIGIN')
        if (host is not None and not _is_here(f'//{host}')) or (
            origin is not None and origin not in self._origins and not _is_here(origin)
        ):
            return errors.answer(environ, start_response, Fault(403, ELSEWHERE))
        return self._application(environ, start_response)


class HttpBasic:
    """Users and passwords of a file; RFC 7617.

    :param user_roles: user -> roles
    :param default_roles: of users who are not in `user_roles`
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
        """Answer a request."""
        given = credentials(environ.get('HTTP_AUTHORIZATION', ''))
        if given is None or not self._passwords.verify(*given):
            challenge = ('WWW-Authenticate', f'Basic realm="{REALM}", charset="UTF-8"')
            fault = Fault(401, UNAUTHORIZED)
            return errors.answer(environ, start_response, fault, challenge)
        user = given[0]
        environ[CALLER] = Caller(
            user_id=user,
            user_name=user,
            roles=self._user_roles.get(user, self._default_roles),
            in_all_projects=True,
        )
        return self._application(environ, start_response)


class Keystone:
    """Tokens of OpenStack, checked by keystonemiddleware.

    :param around: puts keystonemiddleware around an application
    """

    def __init__(self, application: Wsgi, around: Callable[[Wsgi], Wsgi]) -> None:
        self._application = application
        self._checked = around(self._identify)

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        try:
            return reshape(self._checked, environ, start_response)
        except Exception as error:
            if CALLER in environ:
                raise
            # It lets through what a bad catalogue, for instance, makes it meet.
            kind = type(error)
            LOG.error(
                'keystonemiddleware cannot check tokens: %s: %s; see '
                '[keystone_authtoken]',
                kind.__name__,
                error,
                exc_info=not kind.__module__.startswith('keystoneauth1.'),
            )
            fault = Fault(503, UNCHECKED, {'Retry-After': str(errors.RETRY_AFTER)})
            return errors.answer(environ, start_response, fault)

    def _identify(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Take over what keystonemiddleware has found; called by it."""
        environ[CALLER] = Caller(
            user_id=environ.get('HTTP_X_USER_ID'),
            user_name=environ.get('HTTP_X_USER_NAME'),
            project_id=environ.get('HTTP_X_PROJECT_ID'),
            roles=_lower(environ.get('HTTP_X_ROLES', '').split(',')),
            system_scope=environ.get('HTTP_OPENSTACK_SYSTEM_SCOPE'),
        )
        return self._application(environ, start_response)


def has_credentials(environ: Environ) -> bool:
    """Say whether a request tries to prove who makes it."""
    return any(name in environ for name in ('HTTP_AUTHORIZATION', 'HTTP_X_AUTH_TOKEN'))


def credentials(header: str) -> tuple[str, str] | None:
    """Return user and password of the header Authorization, None if it has none."""
    scheme, _, text = header.strip().partition(' ')
    if scheme.lower() != 'basic':
        return None
    try:
        decoded = base64.b64decode(text.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    user, colon, password = decoded.partition(':')
    return (user, password) if colon else None


def reshape(
    application: Wsgi, environ: Environ, start_response: Any
) -> Iterable[bytes]:
    """Call an application; an error that is not ours gets the shape of all others.

    Ours are those that come once the caller is known.
    """
    replaced: list[tuple[Fault, list[tuple[str, str]]]] = []

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
        replaced.append((Fault(code, text), kept))
        return _nowhere

    answer = application(environ, start)
    if not replaced:
        return answer
    close = getattr(answer, 'close', None)
    if close is not None:
        close()
    fault, kept = replaced[-1]
    return errors.answer(environ, start_response, fault, *kept)


def _nowhere(data: bytes) -> None:
    """Drop what an application writes instead of returning it."""


def _is_here(url: str) -> bool:
    try:
        return is_loopback(parse.urlsplit(url).hostname or '')
    except ValueError:
        return False


def _lower(roles: Iterable[str]) -> frozenset[str]:
    return frozenset(role.strip().lower() for role in roles if role.strip())
