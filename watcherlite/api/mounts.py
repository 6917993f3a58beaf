"""Mounts: the APIs that are served, and their addresses.

A mount has prefixes, versions, routes and an error format.
"""

import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib import parse

from watcherlite.api.arguments import WATCHER, Texts
from watcherlite.api.errors import ERROR_MESSAGE, FORMAT_KEY, Environ, ErrorFormat, Wsgi
from watcherlite.api.microversions import Versions
from watcherlite.api.operation import Routes

_SLASHES = re.compile('/{2,}')
_ENCODED_SLASH = '%2F'


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Mount:
    """One API and its addresses.

    :param prefixes: prefixes of its URLs: '' for the root, '/infra-optim'; metrics use
        the first one
    :param version_prefix: the default version in URLs: '/v1'
    :param suffix: an ignored suffix of URLs: '.json'
    :param shows_deleted: whether the header X-Show-Deleted is supported
    :param project: the variable of its URLs for the caller's project; None: no such
        variable
    :param texts: the texts of validation errors
    """

    prefixes: Sequence[str]
    versions: Versions
    routes: Routes
    errors: ErrorFormat = ERROR_MESSAGE
    version_prefix: str = '/v1'
    suffix: str = ''
    shows_deleted: bool = False
    project: str | None = None
    texts: Texts = WATCHER

    def routed_path(self, path: str) -> str:
        """Return the path for the router of a path below a prefix, or ''."""
        if not path:
            return ''
        path = path.removesuffix(self.suffix)
        begin = self.version_prefix
        if path == begin or path.startswith(f'{begin}/'):
            return path
        return begin + path


class Mounts:
    """The mounts by address; the longest matching prefix applies."""

    def __init__(self, mounts: Sequence[Mount]) -> None:
        self._places = sorted(
            ((prefix, mount) for mount in mounts for prefix in mount.prefixes),
            key=lambda place: -len(place[0]),
        )

    def find(self, path: str) -> tuple[Mount, str, str] | None:
        """Return the mount, the prefix, and the path for the router."""
        path = normalize_path(path)
        for prefix, mount in self._places:
            if path == prefix or path.startswith(f'{prefix}/'):
                return mount, prefix, mount.routed_path(path.removeprefix(prefix))
        return None


def proxy_prefix(environ: Environ) -> str:
    """Return the path below which a proxy serves the application, or ''.

    It is quoted, and never begins with two slashes, which would name another host.
    """
    name = environ.get('SCRIPT_NAME', '').strip('/')
    return f'/{parse.quote(name, encoding="latin-1")}' if name else ''


class ErrorFormatSelector:
    """Middleware that selects the error format by the mount of a request."""

    def __init__(self, application: Wsgi, mounts: Sequence[Mount]) -> None:
        self._application = application
        self._mounts = Mounts(mounts)

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        found = self._mounts.find(environ.get('PATH_INFO', ''))
        if found is not None:
            environ[FORMAT_KEY] = found[0].errors
        return self._application(environ, start_response)


def decode_slashes(part: str) -> str:
    """Return a part of a path with its encoded slashes decoded."""
    return part.replace(_ENCODED_SLASH, '/').replace(_ENCODED_SLASH.lower(), '/')


def normalize_path(path: str) -> str:
    """Return a path without doubled and trailing slashes."""
    return _SLASHES.sub('/', path).rstrip('/')
