"""Profiles and policies: the two kinds of objects with a spec."""

import abc
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from watcherlite.api import links, timestamps
from watcherlite.api.clustering import caller, lookup, pages, responses
from watcherlite.api.clustering.schemas import specs as schemas
from watcherlite.api.clustering.versions import since
from watcherlite.api.operation import Operation, Request, Response, Routes, merge_routes
from watcherlite.conf import masking
from watcherlite.domain.clusters import PolicyObject, Profile

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


class _Handlers(abc.ABC, Generic[Row]):
    """The handlers of one kind.

    :cvar noun: the member with one object, and the variable of its address
    :cvar nouns: the member with a list, and the address of the collection
    """

    noun: str
    nouns: str
    kind: type[Row]
    schemas: schemas.SpecSchemas

    @abc.abstractmethod
    def represent(self, row: Row) -> dict[str, Any]:
        """Return an object."""

    @abc.abstractmethod
    def operations(self, request: Request) -> Any:
        """Return the operations on objects of this kind."""

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
        made = self.operations(request).create(
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
        return self._respond(self.operations(request).update(found.uuid, by, body))

    def delete(self, request: Request) -> Response:
        """Delete an object; NotFound, or ResourceInUse if another object uses it."""
        found, by = lookup.find(request, self.kind, request.path[self.noun])
        self.operations(request).delete(found.uuid, by)
        return Response(status=204)

    def validate(self, request: Request) -> Response:
        """Return the object that a spec would create, and create nothing."""
        spec = request.body[self.noun]['spec']
        by = caller.context_of(request)
        return self._respond(self.operations(request).validate(spec, by))

    def _respond(self, row: Row) -> Response:
        return Response({self.noun: self.represent(row)})

    def _created(self, request: Request, row: Row) -> Response:
        location = links.location(request, self.nouns, row.uuid)
        return Response({self.noun: self.represent(row)}, 201, location)

    def routes(self, updated: str, deleted: str) -> Routes:
        """Return the routes.

        :param updated: the summary of the update
        :param deleted: the summary of the deletion
        """
        everything = f'/v1/{self.nouns}'
        return {
            everything: {
                'GET': Operation(
                    self.index,
                    f'{self.nouns}:index',
                    f'List {self.nouns}.',
                    query=schemas.INDEX,
                    responses={200: self.schemas.page},
                    rules=caller.index(f'{self.nouns}:index'),
                ),
                'POST': Operation(
                    self.create,
                    f'{self.nouns}:create',
                    f'Create a {self.noun}.',
                    restore=self.restore,
                    body=self.schemas.new,
                    responses={201: self.schemas.one, 409: None},
                ),
            },
            f'{everything}/validate': {
                'POST': Operation(
                    self.validate,
                    f'{self.nouns}:validate',
                    f'Validate the specification of a {self.noun}.',
                    body=self.schemas.validated,
                    responses={200: self.schemas.one},
                    **since((1, 2)),
                )
            },
            f'{everything}/{{{self.noun}}}': {
                'GET': Operation(
                    self.show,
                    f'{self.nouns}:get',
                    f'Show a {self.noun}.',
                    responses={200: self.schemas.one},
                ),
                'PATCH': Operation(
                    self.update,
                    f'{self.nouns}:update',
                    updated,
                    body=self.schemas.changed,
                    responses={200: self.schemas.one, 409: None},
                ),
                'DELETE': Operation(
                    self.delete,
                    f'{self.nouns}:delete',
                    deleted,
                    responses={204: None, 409: None},
                ),
            },
        }


class Profiles(_Handlers[Profile]):
    """The handlers of profiles."""

    noun, nouns, kind, schemas = 'profile', 'profiles', Profile, schemas.PROFILE

    def represent(self, row: Profile) -> dict[str, Any]:
        """Return a profile."""
        return profile(row)

    def operations(self, request: Request) -> Any:
        """Return the operations on profiles."""
        return request.services.clusters.profiles


class Policies(_Handlers[PolicyObject]):
    """The handlers of policies."""

    noun, nouns, kind, schemas = 'policy', 'policies', PolicyObject, schemas.POLICY

    def represent(self, row: PolicyObject) -> dict[str, Any]:
        """Return a policy."""
        return policy(row)

    def operations(self, request: Request) -> Any:
        """Return the operations on policies."""
        return request.services.clusters.policies


ROUTES: Routes = merge_routes(
    Profiles().routes(
        'Update the name or the metadata of a profile.',
        'Delete a profile without nodes.',
    ),
    Policies().routes(
        'Update the name of a policy.', 'Delete a policy without bindings.'
    ),
)
