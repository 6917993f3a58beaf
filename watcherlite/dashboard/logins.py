"""Logins: how a user of each `[api] auth_strategy` proves an identity to the pages."""

import dataclasses
import datetime
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.api import authentication
from watcherlite.api.basic_auth import PasswordFile
from watcherlite.api.settings import HTTP_BASIC, KEYSTONE, ApiSettings
from watcherlite.clock import UTC
from watcherlite.dashboard.api_client import Environ

LOG = logging.getLogger(__name__)

NO_KEYSTONE = (
    'The login form of the dashboard needs the URL of keystone. Set '
    '[keystone_authtoken] www_authenticate_uri or [dashboard] keystone_auth_uri, or '
    '[dashboard] enabled to false'
)
#: Seconds within which keystone must answer.
_TIMEOUT = 30


class LoginFailed(exceptions.WatcherliteError):
    """The login was refused; the message is for the user."""

    status = 403


class LoginUnavailable(LoginFailed):
    """The login cannot be checked now."""

    status = 503


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """A field of the login form.

    :param autocomplete: the purpose, for password managers; HTML, 4.10.18.7
    """

    name: str
    label: str
    kind: str = 'text'
    autocomplete: str = 'off'
    value: str = ''
    required: bool = True


class Login(Protocol):
    """The login of one authentication strategy.

    :ivar fields: the fields of its form; none: no login is needed
    """

    fields: Sequence[Field]

    def log_in(
        self, form: Mapping[str, str]
    ) -> tuple[Mapping[str, Any], datetime.datetime | None]:
        """Return the credentials of a session, and when they expire.

        :raises LoginFailed: they are wrong, or cannot be checked
        """

    def authenticate(self, credentials: Mapping[str, Any], environ: Environ) -> bool:
        """Add the credentials of a session to a request; False: they are void."""


class NoLogin:
    """noauth: requests need no session."""

    fields: Sequence[Field] = ()

    def log_in(
        self, form: Mapping[str, str]
    ) -> tuple[Mapping[str, Any], datetime.datetime | None]:
        raise LoginFailed('This API has no authentication; there is nothing to log in.')

    def authenticate(self, credentials: Mapping[str, Any], environ: Environ) -> bool:
        return True


class PasswordLogin:
    """http_basic: a user of the password file.

    A session has no password but the fingerprint of its hash, so that it ends when the
    password is changed or the user is removed.
    """

    fields: Sequence[Field] = (
        Field('user', 'User', autocomplete='username'),
        Field('password', 'Password', 'password', 'current-password'),
    )

    def __init__(self, passwords: PasswordFile) -> None:
        self._passwords = passwords

    def log_in(
        self, form: Mapping[str, str]
    ) -> tuple[Mapping[str, Any], datetime.datetime | None]:
        user = form.get('user', '')
        if not self._passwords.verify(user, form.get('password', '')):
            raise LoginFailed('The user or the password is wrong.')
        fingerprint = self._passwords.fingerprint(user)
        return {'user': user, 'fingerprint': fingerprint}, None

    def authenticate(self, credentials: Mapping[str, Any], environ: Environ) -> bool:
        user = credentials['user']
        if self._passwords.fingerprint(user) != credentials['fingerprint']:
            return False
        environ[authentication.SESSION_USER] = user
        return True


class KeystoneLogin:
    """keystone: a token for a project or for the system, kept on the server.

    :param url: of keystone; '': logins are refused with what to configure
    :param cafile: the certificates of authorities; None: those of the system
    """

    fields: Sequence[Field] = (
        Field('user', 'User', autocomplete='username'),
        Field('password', 'Password', 'password', 'current-password'),
        Field('user_domain', 'Domain of the user', value='Default'),
        Field('project', 'Project; empty for the whole system', required=False),
        Field('project_domain', 'Domain of the project', value='Default'),
    )

    def __init__(
        self, url: str, cafile: str | None = None, insecure: bool = False
    ) -> None:
        self._url = url
        self._verify: bool | str = False if insecure else cafile or True

    def log_in(
        self, form: Mapping[str, str]
    ) -> tuple[Mapping[str, Any], datetime.datetime | None]:
        if not self._url:
            raise LoginUnavailable(NO_KEYSTONE)
        # They need 5 MB of memory: import them only if they are used.
        from keystoneauth1 import exceptions as errors
        from keystoneauth1 import session
        from keystoneauth1.identity import v3

        project = form.get('project', '')
        scope: dict[str, Any] = {'system_scope': 'all'}
        if project:
            domain = form.get('project_domain') or 'Default'
            scope = {'project_name': project, 'project_domain_name': domain}
        auth = v3.Password(
            auth_url=self._url,
            username=form.get('user', ''),
            password=form.get('password', ''),
            user_domain_name=form.get('user_domain') or 'Default',
            include_catalog=False,
            **scope,
        )
        connection = session.Session(verify=self._verify, timeout=_TIMEOUT)
        try:
            access = auth.get_access(connection)
        except errors.Unauthorized:
            raise LoginFailed(
                'Keystone refused the login: the user, the password or the project is '
                'wrong, or the user has no role there.'
            ) from None
        except errors.ClientException:
            raise LoginUnavailable(
                'Keystone cannot check the login now. Try again later.'
            ) from None
        expires = access.expires
        until = None if expires is None else expires.replace(tzinfo=UTC)
        return {'token': access.auth_token}, until

    def authenticate(self, credentials: Mapping[str, Any], environ: Environ) -> bool:
        environ['HTTP_X_AUTH_TOKEN'] = credentials['token']
        return True


def login_of(settings: ApiSettings, conf: cfg.ConfigOpts) -> Login:
    """Return the login of the configured authentication strategy.

    :raises ConfigurationError: the password file is invalid
    """
    if settings.auth_strategy == HTTP_BASIC:
        return PasswordLogin(PasswordFile(settings.password_file))
    if settings.auth_strategy == KEYSTONE:
        authentication.register_opts(conf)
        group = conf[authentication.GROUP]
        url = conf.dashboard.keystone_auth_uri or group.www_authenticate_uri
        if not url:
            # The API works without it, as before the dashboard existed.
            LOG.warning('%s', NO_KEYSTONE)
        return KeystoneLogin(url or '', group.cafile, group.insecure)
    return NoLogin()
