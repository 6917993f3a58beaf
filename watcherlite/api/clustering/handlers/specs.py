"""Profiles and policies: the two kinds of objects with a spec."""

import dataclasses
import operator
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from watcherlite.api import links, timestamps
from watcherlite.api.clustering import caller, lookup, pages, responses
from watcherlite.api.clustering.schemas import specs as schemas
from watcherlite.api.clustering.versions import since
from watcherlite.api.operation import Request, Response, RouteTable, merge_routes
from watcherlite.conf import masking
from watcherlite.domain.clusters import PolicyObject, Profile
from watcherlite.engine.clusters.requests.clusters import ClusterOperations

Row = TypeVar('Row', Profile, PolicyObject)


def profile(row: Profile) -> dict[str, Any]:
    """Return a profile; credentials in its spec are masked."""
    return {**_represent(row), 'metadata': masking.mask_data(dict(row.metadata))}


def policy(row: PolicyObject) -> dict[str, Any]:
    """Return a policy; credentials in its spec are masked."""
    return {**_represent(row), 'data': masking.mask_data(dict(row.data))}


def _represent(row: Profile | PolicyObject) -> dict[str, Any]:
    return {
        # An object that was only validated has no id.
        'id': row.uuid or None,
        'name': row.name,
        'type': row.type,
        **responses.owner_fields(row.owner),
        'spec': masking.mask_data(dict(row.spec)),
        'created_at': timestamps.seconds(row.created_at),
        'updated_at': timestamps.seconds(row.updated_at),
    }


@dataclasses.dataclass(frozen=True)
class _Handlers(Generic[Row]):
    """The handlers of one kind.

    :param noun: the member with one object, and the variable of its address
    :param nouns: the member with a list, and the address of the collection
    :param represent: row -> JSON object
    :param operations: returns the operations on objects of this kind
    """

    noun: str
    nouns: str
    kind: type[Row]
    schemas: schemas.SpecSchemas
    represent: Callable[[Row], dict[str, Any]]
    operations: Callable[[ClusterOperations], Any]

    def index(self, request: Request) -> Response:
        """Return a page."""
        filters = pages.filters(request, 'name', 'type')
        return pages.respond_objects(
            request,
            self.nouns,
            self.kind,
            filters,
            lambda rows: [self.represent(row) for row in rows],
        )

    def create(self, request: Request) -> Response:
        """Create an object."""
        body = dict(request.body[self.noun])
        made = self.operations(request.services.clusters).create(
            body.pop('name'), body.pop('spec'), caller.context_of(request), **body
        )
        return self._created(request, made)

    def restore(self, request: Request, created: Mapping[str, str]) -> Response:
        """Return the created object."""
        return self._created(
            request, lookup.get(request, self.kind, created[self.noun])
        )

    def show(self, request: Request) -> Response:
        """Return an object; NotFound."""
        return self._respond(lookup.get(request, self.kind, request.path[self.noun]))

    def update(self, request: Request) -> Response:
        """Change attributes other than the immutable spec; NotFound."""
        found, by = lookup.find(request, self.kind, request.path[self.noun])
        body = request.body[self.noun]
        return self._respond(
            self.operations(request.services.clusters).update(found.uuid, by, body)
        )

    def delete(self, request: Request) -> Response:
        """Delete an object; NotFound, or ResourceInUse if another object uses it."""
        found, by = lookup.find(request, self.kind, request.path[self.noun])
        self.operations(request.services.clusters).delete(found.uuid, by)
        return Response(status=204)

    def validate(self, request: Request) -> Response:
        """Return the object that a spec would create, and create nothing."""
        spec = request.body[self.noun]['spec']
        by = caller.connected_context(request)
        return self._respond(
            self.operations(request.services.clusters).validate(spec, by)
        )

    def _respond(self, row: Row) -> Response:
        return Response({self.noun: self.represent(row)})

    def _created(self, request: Request, row: Row) -> Response:
        location = links.location(request, self.nouns, row.uuid)
        return Response({self.noun: self.represent(row)}, 201, location)

    def routes(self, updated: str, deleted: str) -> RouteTable:
        """Return the routes.

        :param updated: the summary of the update
        :param deleted: the summary of the deletion
        """
        noun, nouns, shown = self.noun, self.nouns, self.schemas.one
        routes = RouteTable()
        routes.route(
            f'GET /v1/{nouns}',
            f'{nouns}:index',
            {200: self.schemas.page},
            summary=f'List {nouns}.',
            query=schemas.INDEX,
            rules=caller.list_rules,
        )(self.index)
        routes.route(
            f'POST /v1/{nouns}',
            f'{nouns}:create',
            {201: shown, 409: None},
            summary=f'Create a {noun}.',
            restore=self.restore,
            body=self.schemas.new,
        )(self.create)
        routes.route(
            f'POST /v1/{nouns}/validate',
            f'{nouns}:validate',
            {200: shown},
            summary=f'Validate the specification of a {noun}.',
            body=self.schemas.validated,
            **since((1, 2)),
        )(self.validate)
        one = f'/v1/{nouns}/{{{noun}}}'
        routes.route(
            f'GET {one}', f'{nouns}:get', {200: shown}, summary=f'Show a {noun}.'
        )(self.show)
        routes.route(
            f'PATCH {one}',
            f'{nouns}:update',
            {200: shown, 409: None},
            summary=updated,
            body=self.schemas.changed,
        )(self.update)
        routes.route(
            f'DELETE {one}', f'{nouns}:delete', {204: None, 409: None}, summary=deleted
        )(self.delete)
        return routes


PROFILES = _Handlers(
    'profile',
    'profiles',
    Profile,
    schemas.PROFILE,
    profile,
    operator.attrgetter('profiles'),
)
POLICIES = _Handlers(
    'policy',
    'policies',
    PolicyObject,
    schemas.POLICY,
    policy,
    operator.attrgetter('policies'),
)
ROUTES = merge_routes(
    PROFILES.routes(
        'Update the name or the metadata of a profile.',
        'Delete a profile without nodes.',
    ),
    POLICIES.routes(
        'Update the name of a policy.', 'Delete a policy without bindings.'
    ),
)
