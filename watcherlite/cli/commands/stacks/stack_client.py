"""A client of the orchestration API."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib import parse

from watcherlite import exceptions
from watcherlite.cli.commands import api_client
from watcherlite.cli.commands.api_client import Object, Objects, Query

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client


class Place(NamedTuple):
    """The identity of a stack in its project."""

    name: str
    uuid: str


class Stacks(api_client.ApiClient):
    """The orchestration API, for the stacks of the client's project."""

    name = 'orchestration'

    def __init__(self, client: 'Client') -> None:
        super().__init__(client)
        self._root = (client.project, 'stacks')

    def find(self, identity: str) -> Place:
        """Return the identity of a stack by name or id; deleted stacks only by id.

        :raises NotFound: no such stack
        """
        path = self._client.location(*self._root, identity)
        parts = [
            parse.unquote(part) for part in path.rpartition('/stacks/')[2].split('/')
        ]
        if len(parts) == 2:
            return Place(*parts)
        # The name is a reserved word in addresses, for example "preview".
        rows, _ = self.list({'name': identity}, 1)
        if not rows:
            raise exceptions.NotFound(f'The Stack ({identity}) could not be found.')
        return Place(rows[0]['stack_name'], rows[0]['id'])

    def request(
        self,
        method: str,
        place: Place,
        *rest: str,
        query: Query | None = None,
        body: Any = None,
    ) -> Any:
        """Send a request to an address of a stack; return the response."""
        return self._client.request(
            method, *self._root, *place, *rest, query=query, body=body
        )

    def request_in_project(
        self, method: str, *path: str, query: Query | None = None, body: Any = None
    ) -> Any:
        """Send a request to an address below the project; return the response."""
        return self._client.request(
            method, self._client.project, *path, query=query, body=body
        )

    def show(self, place: Place, outputs: bool = True) -> Object:
        """Return a stack; NotFound."""
        query = None if outputs else {'resolve_outputs': 'false'}
        return dict(self.read('stack', place, query=query))

    def request_action(self, place: Place, **action: Any) -> None:
        """Request an action: `suspend=None`, `lock={'level': 'all'}`.

        :raises Conflict: not possible in the present state of the stack
        """
        self.request('POST', place, 'actions', body=action)

    def list(self, query: Query, limit: int | None) -> tuple[Objects, bool]:
        """Return stacks, and whether there may be more; see `Client.list`."""
        found = api_client.pages(
            lambda query: self.page(
                self.request_in_project('GET', 'stacks', query=query), 'stacks'
            ),
            {**query, 'limit': limit} if limit else query,
        )
        return self._client.collect(found, limit)

    def events(
        self,
        place: Place,
        query: Query,
        limit: int | None = None,
        resource: str | None = None,
    ) -> Objects:
        """Return events of a stack, or of one of its resources; see `Client.list`."""
        rest = ('events',) if resource is None else ('resources', resource, 'events')

        def fetch(query: Query) -> tuple[Objects, bool]:
            page = self.read('events', place, *rest, query=query)
            return page, len(page) >= query.get('limit', 0)

        found = api_client.pages(fetch, api_client.with_page_size(query, limit))
        return self._client.collect(found, limit)[0]

    def events_after(self, place: Place, marker: str | None) -> Objects:
        """Return the events of a stack after a marker, the oldest first."""
        query = {'sort_dir': 'asc'}
        if marker is not None:
            query['marker'] = marker
        return self.events(place, query, 0)

    def last_event(self, place: Place) -> str | None:
        """Return the id of the newest event of a stack; None if it has no events."""
        page = self.events(place, {'sort_dir': 'desc'}, 1)
        return str(page[0]['id']) if page else None

    def read(
        self, name: str, place: Place, *rest: str, query: Query | None = None
    ) -> Any:
        """Return a member of the response at an address of a stack."""
        return self.member(self.request('GET', place, *rest, query=query), name)


def stack_name_of(shown: Mapping[str, Any]) -> str | None:
    """Return the name of the stack of a resource or an event, by its links."""
    place = stack_of(shown, 'stack')
    return None if place is None else place.name


def stack_of(shown: Mapping[str, Any], rel: str) -> Place | None:
    """Return the identity of a stack to which a resource or an event has a link.

    :param rel: `stack`: the stack that has it; `nested`: the stack that it is
    """
    for link in shown.get('links') or ():
        if link.get('rel') == rel:
            name, _, uuid = link['href'].rpartition('/stacks/')[2].partition('/')
            return Place(parse.unquote(name), parse.unquote(uuid))
    return None
