"""A client of the clustering API."""

from collections.abc import Mapping
from typing import Any

from watcherlite.cli.commands import api_client
from watcherlite.cli.commands.api_client import Object, Objects, Query

#: Collection -> the member of a response that contains one object of it.
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


class Clustering(api_client.ApiClient):
    """The clustering API. An identity is a uuid, a name or a short id."""

    name = 'clustering'

    def get(self, noun: str, identity: str, query: Query | None = None) -> Object:
        """Return one object; NotFound."""
        return self._one(noun, self._client.request('GET', noun, identity, query=query))

    def create(
        self,
        noun: str,
        values: Mapping[str, Any],
        *path: str,
        query: Query | None = None,
    ) -> tuple[Object, str]:
        """Create an object; return it, and the id of the action that creates it, or ''.

        :param path: below the collection: ('validate',)
        """
        found, where = self._client.request_with_location(
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
        """Update an object; return it, and the id of the action, or ''."""
        found, where = self._client.request_with_location(
            'PATCH', noun, identity, query=query, body={NOUNS[noun]: dict(values)}
        )
        return self._one(noun, found), _action_of(where)

    def delete(self, noun: str, identity: str, query: Query | None = None) -> str:
        """Delete an object; return the id of the action, or ''."""
        _, where = self._client.request_with_location(
            'DELETE', noun, identity, query=query
        )
        return _action_of(where)

    def request_action(
        self, noun: str, identity: str, body: Any, query: Query, place: str = 'actions'
    ) -> Any:
        """Request an action on an object: `{'check': {}}`; return the response.

        :param place: `actions` or `ops`
        :raises Conflict: another action on the object is in progress
        """
        return self._client.request(
            'POST', noun, identity, place, query=query, body=body
        )

    def request_action_id(
        self, noun: str, identity: str, body: Any, query: Query, place: str = 'actions'
    ) -> str:
        """Request an action like `request_action`; return the id of the action."""
        found = self.request_action(noun, identity, body, query, place)
        action = found.get('action') if isinstance(found, dict) else None
        if not isinstance(action, str):
            raise self.invalid_response('action')
        return action

    def adopt(self, values: Mapping[str, Any], preview: bool) -> Object:
        """Create a node from an existing resource; return it, or its profile."""
        if preview:
            found = self._client.request('POST', 'nodes', 'adopt-preview', body=values)
            profile = self.member(found, 'node_profile')
            return dict(self.member(profile, 'node_preview'))
        return self._one(
            'nodes', self._client.request('POST', 'nodes', 'adopt', body=values)
        )

    def signal(self, identity: str, status: str, force: bool) -> None:
        """Request that an action becomes CANCELLED, SUSPENDED or RUNNING."""
        query = {'force': 'true'} if force else None
        body = {'action': {'status': status}}
        self._client.request('PATCH', 'actions', identity, query=query, body=body)

    def read(self, name: str, *path: str) -> Any:
        """Return a member of the response at a path."""
        return self.member(self._client.request('GET', *path), name)

    def list(self, noun: str, query: Query, limit: int | None) -> tuple[Objects, bool]:
        """Return rows, and whether there may be more; see `Client.list`."""
        name = noun.replace('-', '_')
        found = api_client.pages(
            lambda query: self.page(
                self._client.request('GET', noun, query=query), name
            ),
            api_client.with_page_size(query, limit),
        )
        return self._client.collect(found, limit)

    def events_after(self, query: Query, marker: str | None) -> Objects:
        """Return the events after a marker, the oldest first."""
        asked = {**query, 'sort': 'timestamp:asc'}
        if marker is not None:
            asked['marker'] = marker
        return self.list('events', asked, 0)[0]

    def last_event(self, query: Query) -> str | None:
        """Return the id of the newest event; None if there are no events."""
        page, _ = self.list('events', {**query, 'sort': 'timestamp:desc'}, 1)
        return str(page[0]['id']) if page else None

    def _one(self, noun: str, found: Any) -> Object:
        return dict(self.member(found, NOUNS[noun]))


def _action_of(path: str) -> str:
    """Return the id of the action at a path; '' if the path is of another object."""
    before, _, name = path.rpartition('/')
    return name if before.endswith('/actions') else ''
