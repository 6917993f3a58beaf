"""A client of the orchestration API."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib import parse

from watcherlite import exceptions

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

Object = dict[str, Any]
Objects = list[Object]
Query = Mapping[str, Any]

#: Rows that are asked for at a time.
PAGE = 1000


class Place(NamedTuple):
    """What names one stack and no other."""

    name: str
    uuid: str


class Stacks:
    """The stacks of the project that a client is for.

    Whatever is wrong is raised as errors of one line; see `Client`.
    """

    def __init__(self, client: 'Client') -> None:
        self._client = client
        self._root = (client.project, 'stacks')

    def find(self, identity: str) -> Place:
        """Return the stack of a name or an id, also a deleted one by its id.

        :raises NotFound: there is none
        """
        path = self._client.location(*self._root, identity)
        parts = [
            parse.unquote(part) for part in path.rpartition('/stacks/')[2].split('/')
        ]
        if len(parts) == 2:
            return Place(*parts)
        # What stands below a name that the API has a use for itself
        rows, _ = self.list({'name': identity}, 1)
        if not rows:
            raise exceptions.NotFound(f'The Stack ({identity}) could not be found.')
        return Place(rows[0]['stack_name'], rows[0]['id'])

    def ask(
        self,
        method: str,
        place: Place,
        *rest: str,
        query: Query | None = None,
        body: Any = None,
    ) -> Any:
        """Return what is answered at the address of a stack, or below it."""
        return self._client.ask(
            method, *self._root, *place, *rest, query=query, body=body
        )

    def ask_all(
        self,
        method: str,
        *path: str,
        query: Query | None = None,
        body: Any = None,
    ) -> Any:
        """Return what is answered at an address below the project."""
        return self._client.ask(
            method, self._client.project, *path, query=query, body=body
        )

    def show(self, place: Place, outputs: bool = True) -> Object:
        """Return a stack; NotFound."""
        query = None if outputs else {'resolve_outputs': 'false'}
        return self.one('stack', place, query=query)

    def begin(self, place: Place, **action: Any) -> None:
        """Ask for an action: `suspend=None`, `lock={'level': 'all'}`.

        :raises Conflict: it is not possible in the state that the stack is in
        """
        self.ask('POST', place, 'actions', body=action)

    def list(self, query: Query, limit: int | None) -> tuple[Objects, bool]:
        """Return stacks, and whether there may be more.

        :param limit: so many; 0: all; None: as many as the API gives at once
        """
        rows: Objects = []
        asked: dict[str, Any] = dict(query)
        if limit:
            asked['limit'] = limit
        while True:
            found = self.ask_all('GET', 'stacks', query=asked)
            page = self.member(found, 'stacks')
            rows += page
            more = any(link.get('rel') == 'next' for link in found.get('links') or ())
            if not page or not more or limit is None:
                return rows, more
            if limit and len(rows) >= limit:
                return rows[:limit], True
            asked['marker'] = page[-1]['id']

    def events(
        self,
        place: Place,
        query: Query,
        limit: int | None = None,
        resource: str | None = None,
    ) -> Objects:
        """Return events of a stack, or of one of its resources.

        :param limit: so many; 0: all; None: as many as the API gives at once
        """
        rest = ('events',) if resource is None else ('resources', resource, 'events')
        rows: Objects = []
        asked: dict[str, Any] = dict(query)
        if limit is not None:
            asked['limit'] = min(limit or PAGE, PAGE)
        while True:
            page = self.members('events', place, *rest, query=asked)
            rows += page
            if limit is None or len(page) < asked['limit']:
                return rows
            if limit and len(rows) >= limit:
                return rows[:limit]
            asked['marker'] = page[-1]['id']

    def events_after(self, place: Place, marker: str | None) -> Objects:
        """Return the events of a stack that came after one, the oldest first."""
        query = {'sort_dir': 'asc'}
        if marker is not None:
            query['marker'] = marker
        return self.events(place, query, 0)

    def last_event(self, place: Place) -> str | None:
        """Return the id of the newest event of a stack, None if there is none."""
        page = self.events(place, {'sort_dir': 'desc'}, 1)
        return str(page[0]['id']) if page else None

    def one(
        self, name: str, place: Place, *rest: str, query: Query | None = None
    ) -> Object:
        """Return the object of an answer that has it under a name."""
        found = self.member(self.ask('GET', place, *rest, query=query), name)
        return dict(found)

    def members(
        self, name: str, place: Place, *rest: str, query: Query | None = None
    ) -> Objects:
        """Return the objects of an answer that has them under a name."""
        found = self.member(self.ask('GET', place, *rest, query=query), name)
        return [dict(one) for one in found]

    def member(self, found: Any, name: str) -> Any:
        """Return what an answer has under a name; Invalid: it has none."""
        if not isinstance(found, dict) or not isinstance(found.get(name), dict | list):
            raise exceptions.Invalid(
                f'{self._client.endpoint} is not the orchestration API of watcherlite '
                f'(the response has no {name}); check the endpoint'
            )
        return found[name]


def stack_name_of(shown: Mapping[str, Any]) -> str | None:
    """Return the name of the stack of a resource or an event, by its links."""
    for link in shown.get('links') or ():
        if link.get('rel') == 'stack':
            name: str = link['href'].rpartition('/stacks/')[2].partition('/')[0]
            return name
    return None
