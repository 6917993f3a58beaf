"""The base of the clients of the clustering and the orchestration API."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from watcherlite import exceptions

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

Object = dict[str, Any]
Objects = list[Object]
Query = Mapping[str, Any]

#: The page size of requests for many rows.
PAGE = 1000


class ApiClient:
    """A client of one API; errors are raised as `Client` raises them.

    :cvar name: the name of the API, for messages
    """

    name: ClassVar[str]

    def __init__(self, client: 'Client') -> None:
        self._client = client

    def member(self, body: Any, name: str) -> Any:
        """Return a member of a response; Invalid if it has no such member."""
        if not isinstance(body, dict) or not isinstance(body.get(name), dict | list):
            raise self.invalid_response(name)
        return body[name]

    def invalid_response(self, name: str) -> exceptions.WatcherliteError:
        """Return the error for a response without a required member."""
        return exceptions.Invalid(
            f'{self._client.endpoint} is not the {self.name} API of watcherlite '
            f'(the response has no {name}); check the endpoint'
        )

    def page(self, body: Any, name: str) -> tuple[Objects, bool]:
        """Return the rows of a response, and whether it links to a next page."""
        rows = self.member(body, name)
        return rows, any(link.get('rel') == 'next' for link in body.get('links') or ())


def pages(
    fetch: Callable[[Query], tuple[Objects, bool]], query: Query
) -> Iterator[tuple[Objects, bool]]:
    """Yield the pages of a collection with markers, and whether there may be more.

    :param fetch: query -> the rows of a page, and whether there may be more
    """
    more = True
    while more:
        page, more = fetch(query)
        more = more and bool(page)
        yield page, more
        if page:
            query = {**query, 'marker': page[-1]['id']}


def with_page_size(query: Query, limit: int | None) -> Query:
    """Return a query for pages that are as large as a limit needs."""
    return query if limit is None else {**query, 'limit': min(limit or PAGE, PAGE)}
