"""Redaction of the inputs and the traffic of plugins."""

import re
import urllib.parse

from watcherlite.conf import masking

#: Headers with credentials, or requests for them, whose names do not reveal it.
_SECRET_HEADERS = frozenset(
    {
        'authentication-info',
        'authorization',
        'cookie',
        'proxy-authenticate',
        'proxy-authorization',
        'set-cookie',
        'www-authenticate',
    }
)


def is_secret_name(name: str) -> bool:
    """Return whether a value of this name is probably a credential."""
    return bool(masking.mask_data({name: 'x'})[name] != 'x')


def secret_header(name: str) -> bool:
    """Return whether a header must be neither stored nor forwarded."""
    return name.lower() in _SECRET_HEADERS or is_secret_name(name)


def redact_url(url: str) -> str:
    """Return a URL without its credentials; a query becomes `?…`."""
    try:
        parts = urllib.parse.urlsplit(url)
        host = parts.hostname or ''
        port = f':{parts.port}' if parts.port is not None else ''
    except ValueError:
        return 'a URL that is not valid'
    if ':' in host:
        host = f'[{host}]'
    query = '?…' if parts.query else ''
    return f'{parts.scheme}://{host}{port}{parts.path}{query}'


def without_userinfo(url: str) -> str:
    """Return a URL, or a reference to one, without its credentials."""
    return re.sub(r'^([A-Za-z][\w+.-]*:)?//[^/?#]*@', r'\1//', url)
