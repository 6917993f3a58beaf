"""The vocabularies that are served: where, and what each has of its own.

A mount says how its addresses begin and are spelled, which versions it has, what is
at its addresses, and how it writes errors. All else is the same for all of them.
"""

import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Any

from watcherlite.api.arguments import WATCHER, Texts
from watcherlite.api.errors import ERROR_MESSAGE, SHAPE, Environ, Shape, Wsgi
from watcherlite.api.microversions import Versions
from watcherlite.api.operation import Routes

_SLASHES = re.compile('/{2,}')


@dataclasses.dataclass(frozen=True, slots=True)
class Mount:
    """One vocabulary, and where it is served.

    :param prefixes: of its URLs: '' for the root, '/infra-optim'; the first one
        stands before its routes in figures
    :param version_prefix: what a URL without it is understood to begin with: '/v1'
    :param suffix: what does not count at the end of a URL: '.json'
    :param shows_deleted: whether the header X-Show-Deleted counts
    :param project: the variable of its URLs that names a project, which has to be that
        of the caller; None: it has none
    :param texts: how it says what is wrong with arguments and bodies
    """

    prefixes: Sequence[str]
    versions: Versions
    routes: Routes
    errors: Shape = ERROR_MESSAGE
    version_prefix: str = '/v1'
    suffix: str = ''
    shows_deleted: bool = False
    project: str | None = None
    texts: Texts = WATCHER

    def spelled(self, path: str) -> str:
        """Return a path below a prefix as the routes have it; '' for the root."""
        if not path:
            return ''
        path = path.removesuffix(self.suffix)
        begin = self.version_prefix
        if path == begin or path.startswith(f'{begin}/'):
            return path
        return begin + path


class Mounts:
    """Several mounts, found by address; the longest prefix counts."""

    def __init__(self, mounts: Sequence[Mount]) -> None:
        self._places = sorted(
            ((prefix, mount) for mount in mounts for prefix in mount.prefixes),
            key=lambda place: -len(place[0]),
        )

    def find(self, path: str) -> tuple[Mount, str, str] | None:
        """Return the mount, the prefix, and the path as the routes of it have it."""
        path = spelled(path)
        for prefix, mount in self._places:
            if path == prefix or path.startswith(f'{prefix}/'):
                return mount, prefix, mount.spelled(path.removeprefix(prefix))
        return None


class Shaping:
    """Has every refusal of the layers below be written as its mount writes errors."""

    def __init__(self, application: Wsgi, mounts: Sequence[Mount]) -> None:
        self._application = application
        self._mounts = Mounts(mounts)

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        found = self._mounts.find(environ.get('PATH_INFO', ''))
        if found is not None:
            environ[SHAPE] = found[0].errors
        return self._application(environ, start_response)


def spelled(path: str) -> str:
    """Return a path without slashes that do not count: doubled, or at the end."""
    return _SLASHES.sub('/', path).rstrip('/')
