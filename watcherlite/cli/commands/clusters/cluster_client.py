"""A client of the clustering API."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from watcherlite import exceptions

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

Object = dict[str, Any]
Objects = list[Object]
Query = Mapping[str, Any]

#: Rows that are asked for at a time.
PAGE = 1000

#: noun in an address -> what one of it is called in an answer
NOUNS = {
    'actions': 'action',
    'clusters': 'cluster',
    'events': 'event',
    'nodes': 'node',
    'policies': 'policy',
    'policy-types': 'policy_type',
    'profiles': 'profile',
    'profile-types': 'profile_type',
    'receivers': 'receiver',
}


class Clustering:
    """The clustering API. Whatever is named by a user may be a uuid, name or short id.

    Whatever is wrong is raised as errors of one line; see `Client`.
    """

    def __init__(self, client: 'Client') -> None:
        self._client = client

    def show(self, noun: str, identity: str, query: Query | None = None) -> Object:
        """Return one object; NotFound."""
        return self._one(noun, self._client.ask('GET', noun, identity, query=query))

    def create(
        self,
        noun: str,
        values: Mapping[str, Any],
        *path: str,
        query: Query | None = None,
    ) -> tuple[Object, str]:
        """Store an object; return it, and the id of the action that makes it, or ''.

        :param path: behind the noun: ('validate',)
        """
        found, where = self._client.begin(
            'POST', noun, *path, query=query, body={NOUNS[noun]: dict(values)}
        )
        return self._one(noun, found), _action_of(where)

    def update(
        self,
        noun: str,
        identity: str,
        values: Mapping[str, Any],
        query: Query | None = None,
    ) -> tuple[Object, str]:
        """Change an object; return it, and the id of the action that does, or ''."""
        found, where = self._client.begin(
            'PATCH', noun, identity, query=query, body={NOUNS[noun]: dict(values)}
        )
        return self._one(noun, found), _action_of(where)

    def delete(self, noun: str, identity: str, query: Query | None = None) -> str:
        """Delete an object; return the id of the action that does, or ''."""
        _, where = self._client.begin('DELETE', noun, identity, query=query)
        return _action_of(where)

    def begin(
        self, noun: str, identity: str, body: Any, query: Query, place: str = 'actions'
    ) -> Any:
        """Ask for an action on an object: `{'check': {}}`; return the answer.

        :param place: `actions` or `ops`
        :raises Conflict: something else is done with it
        """
        return self._client.ask('POST', noun, identity, place, query=query, body=body)

    def act(
        self, noun: str, identity: str, body: Any, query: Query, place: str = 'actions'
    ) -> str:
        """Ask for an action on an object, likewise; return the id of the action."""
        found = self.begin(noun, identity, body, query, place)
        action = found.get('action') if isinstance(found, dict) else None
        if not isinstance(action, str):
            raise self._foreign('action')
        return action

    def adopt(self, values: Mapping[str, Any], preview: bool) -> Object:
        """Make a node of something that is there; return it, or its profile."""
        if preview:
            found = self._client.ask('POST', 'nodes', 'adopt-preview', body=values)
            profile = self._member(found, 'node_profile')
            return dict(self._member(profile, 'node_preview'))
        return self._one(
            'nodes', self._client.ask('POST', 'nodes', 'adopt', body=values)
        )

    def signal(self, identity: str, status: str, force: bool) -> None:
        """Ask for an action to become CANCELLED, SUSPENDED or RUNNING."""
        query = {'force': 'true'} if force else None
        body = {'action': {'status': status}}
        self._client.ask('PATCH', 'actions', identity, query=query, body=body)

    def member(self, name: str, *path: str) -> Any:
        """Return the member of an answer that has a name."""
        return self._member(self._client.ask('GET', *path), name)

    def members(self, name: str, *path: str) -> Objects:
        """Return the objects of an answer that has them under a name."""
        return list(self.member(name, *path))

    def list(self, noun: str, query: Query, limit: int | None) -> tuple[Objects, bool]:
        """Return rows, and whether there may be more.

        :param limit: so many; 0: all; None: as many as the API gives at once
        """
        rows: Objects = []
        asked: dict[str, Any] = dict(query)
        if limit is not None:
            asked['limit'] = min(limit or PAGE, PAGE)
        name = noun.replace('-', '_')
        while True:
            found = self._client.ask('GET', noun, query=asked)
            page = self._member(found, name)
            rows += page
            more = any(link.get('rel') == 'next' for link in found.get('links') or ())
            if not page or not more or limit is None:
                return rows, more
            if limit and len(rows) >= limit:
                return rows[:limit], True
            asked['marker'] = page[-1]['id']

    def events_after(self, query: Query, marker: str | None) -> Objects:
        """Return the events that came after one, the oldest first."""
        asked = {**query, 'sort': 'timestamp:asc'}
        if marker is not None:
            asked['marker'] = marker
        return self.list('events', asked, 0)[0]

    def last_event(self, query: Query) -> str | None:
        """Return the id of the newest event, None if there is none."""
        page, _ = self.list('events', {**query, 'sort': 'timestamp:desc'}, 1)
        return str(page[0]['id']) if page else None

    def _one(self, noun: str, found: Any) -> Object:
        return dict(self._member(found, NOUNS[noun]))

    def _member(self, found: Any, name: str) -> Any:
        if not isinstance(found, dict) or not isinstance(found.get(name), dict | list):
            raise self._foreign(name)
        return found[name]

    def _foreign(self, name: str) -> exceptions.WatcherliteError:
        return exceptions.Invalid(
            f'{self._client.endpoint} is not the clustering API of watcherlite '
            f'(the response has no {name}); check the endpoint'
        )


def _action_of(path: str) -> str:
    """Return the id of the action that a path leads to, '' if it leads elsewhere."""
    before, _, name = path.rpartition('/')
    return name if before.endswith('/actions') else ''
