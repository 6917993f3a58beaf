"""Sessions: logins, their cookie, and the tokens against cross-site requests."""

import dataclasses
import datetime
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from http import cookies
from typing import Any

from watcherlite.api.mounts import proxy_prefix
from watcherlite.clock import Clock
from watcherlite.dashboard.api_client import Environ
from watcherlite.db.sessions import SessionStore, UserSession

COOKIE = 'watcherlite_session'
#: The prefix of all pages, and the end of the path of the cookie.
PREFIX = '/dashboard'
#: Bytes of the secret in the cookie.
_BYTES = 32
#: Longer cookies are not ours.
_LONGEST = 64


@dataclasses.dataclass(frozen=True, slots=True)
class Browser:
    """The secret of a browser, from its cookie.

    :param is_new: the cookie is yet to be set
    """

    secret: str = dataclasses.field(repr=False)
    is_new: bool

    @property
    def digest(self) -> str:
        """Return the digest by which its session is stored."""
        return hashlib.sha256(self.secret.encode()).hexdigest()

    @property
    def form_token(self) -> str:
        """Return the token that its forms must contain.

        Other sites can neither read it nor derive it without the cookie.
        """
        return hmac.digest(self.secret.encode(), b'form', hashlib.sha256).hex()

    def is_form_token(self, given: str) -> bool:
        """Return whether a form of this browser contained a token."""
        return hmac.compare_digest(given.encode(), self.form_token.encode())


def new_browser() -> Browser:
    """Return a browser with a new secret, so that no known one becomes a login."""
    return Browser(secrets.token_urlsafe(_BYTES), True)


def browser_of(environ: Environ) -> Browser:
    """Return the browser that sent a request."""
    try:
        sent = cookies.SimpleCookie(environ.get('HTTP_COOKIE', ''))
    except cookies.CookieError:
        return new_browser()
    morsel = sent.get(COOKIE)
    if morsel is None or not 0 < len(morsel.value) <= _LONGEST:
        return new_browser()
    return Browser(morsel.value, False)


def cookie_header(browser: Browser, environ: Environ, lifetime: int) -> tuple[str, str]:
    """Return the header that sets the cookie.

    :param lifetime: in seconds; 0 deletes the cookie
    """
    path = proxy_prefix(environ) + PREFIX
    attributes = ['HttpOnly', 'SameSite=Lax', f'Path={path}', f'Max-Age={lifetime}']
    if environ.get('wsgi.url_scheme') == 'https':
        attributes.append('Secure')
    return 'Set-Cookie', '; '.join([f'{COOKIE}={browser.secret}', *attributes])


class Sessions:
    """The sessions of the dashboard.

    :param lifetime: in seconds
    """

    def __init__(self, store: SessionStore, clock: Clock, lifetime: int) -> None:
        self._store = store
        self._clock = clock
        self.lifetime = lifetime

    def create(
        self, credentials: Mapping[str, Any], until: datetime.datetime | None = None
    ) -> Browser:
        """Store a login; return the browser with its secret.

        :param until: when the credentials expire; None: not
        """
        browser = new_browser()
        now = self._clock.now()
        expires = now + datetime.timedelta(seconds=self.lifetime)
        self._store.insert_session(
            UserSession(
                browser.digest, credentials, now, min(expires, until or expires)
            )
        )
        return browser

    def credentials(self, browser: Browser) -> Mapping[str, Any] | None:
        """Return the credentials of a login; None if it has ended or never was."""
        if browser.is_new:
            return None
        session = self._store.find_session(browser.digest)
        if session is None or session.expires_at <= self._clock.now():
            return None
        return session.credentials

    def delete(self, browser: Browser) -> None:
        """Delete a login."""
        self._store.delete_session(browser.digest)
