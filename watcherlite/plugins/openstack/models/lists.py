"""Lists of a service of OpenStack, read in pages of full objects."""

import concurrent.futures
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.plugins.openstack import errors

#: Objects of a page; the default maximum of nova and cinder.
PAGE = 1000
#: Pages of a list: more than a million objects are an endless list.
MOST_PAGES = 1000
#: Requests at the same time.
WIDTH = 8

T = TypeVar('T')


class ServiceLists:
    """Reads lists of one service.

    :param service: as openstacksdk names it: `block_storage`
    :raises Invalid: the service catalog does not have it
    """

    def __init__(self, connection: Any, service: str) -> None:
        self._service = service.replace('_', '-')
        with errors.translated(self._service, 'The data model'):
            self._proxy = getattr(connection, service)

    def get(
        self,
        path: str,
        parameters: Mapping[str, str | int] | None = None,
        microversion: str | None = None,
    ) -> Any:
        """Return the JSON of a response; raises what `errors.translated` does."""
        with errors.translated(self._service, f'GET {path}'):
            from openstack import exceptions as sdk

            response = self._proxy.get(
                path, params=dict(parameters or {}), microversion=microversion
            )
            sdk.raise_from_response(response)
            return response.json()

    def pages(
        self,
        path: str,
        key: str,
        parameters: Mapping[str, str | int] | None = None,
        microversion: str | None = None,
    ) -> list[Any]:
        """Return all objects of a list, a page with each request.

        :param key: of the objects in the response
        """
        found: list[Any] = []
        marker: dict[str, str | int] = {}
        for _ in range(MOST_PAGES):
            answer = self.get(
                path, {**(parameters or {}), 'limit': PAGE, **marker}, microversion
            )
            found += answer[key]
            if not _has_next(answer.get(f'{key}_links')) or not answer[key]:
                return found
            marker = {'marker': str(answer[key][-1]['id'])}
        raise exceptions.WatcherliteError(
            f'The {self._service} service returns more than {MOST_PAGES} pages of {key}'
        )

    def latest(self, limit: str) -> str:
        """Return the highest microversion that the service has, up to a limit."""
        with errors.translated(self._service, 'its versions'):
            from openstack import utils

            found: str | None = utils.maximum_supported_microversion(self._proxy, limit)
        if found is None:
            raise exceptions.WatcherliteError(
                f'The {self._service} service has no microversions; it is too old'
            )
        return found


def _has_next(links: Sequence[Mapping[str, Any]] | None) -> bool:
    return any(link.get('rel') == 'next' for link in links or ())


def read_all(*calls: Callable[[], T]) -> list[T]:
    """Return the results of calls made at the same time, in order.

    The first failure is raised after the calls that were running have ended.
    """
    with concurrent.futures.ThreadPoolExecutor(WIDTH) as pool:
        pending = [pool.submit(call) for call in calls]
        try:
            return [future.result() for future in pending]
        except BaseException:
            for future in pending:
                future.cancel()
            raise
