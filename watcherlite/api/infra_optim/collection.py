"""The handlers and routes that the collections of the infra-optim API share."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from watcherlite import exceptions
from watcherlite.api import links
from watcherlite.api.infra_optim import attributes, pages
from watcherlite.api.operation import Request, Response, RouteTable, Versioned
from watcherlite.api.search import Search
from watcherlite.db.api import Store
from watcherlite.db.query import Query

T = TypeVar('T')
Handler = Callable[[Request], Response]


def list_routes(
    noun: str, rule: str, index: Handler, detail: Handler, schemas: Any
) -> RouteTable:
    """Return the routes of a collection, without and with details.

    :param noun: the collection
    :param rule: the prefix of its policy rules
    :param schemas: the module of its schemas
    """
    words = noun.replace('_', ' ')
    routes = RouteTable()
    routes.route(
        f'GET /v1/{noun}',
        f'{rule}:get_all',
        {200: schemas.COLLECTION},
        query=schemas.QUERY,
        summary=f'List {words}.',
    )(index)
    routes.route(
        f'GET /v1/{noun}/detail',
        f'{rule}:detail',
        {200: schemas.DETAILED_COLLECTION},
        query=schemas.QUERY,
        summary=f'List {words} with details.',
    )(detail)
    return routes


class ObjectCollection(Generic[T]):
    """A collection of stored objects.

    :param noun: the collection, as in addresses: 'audits'
    :param one: one object, as in the names of policy rules: 'audit'
    :param fetch: returns the method of the store that lists rows
    :param find: (store, name, whether to include deleted objects) -> row; NotFound
    :param represent: (request, row, detail) -> JSON object with a `uuid`
    :param variable: the variable in the address of an object; None: `one`
    :param searched: the attributes that a search compares; None: it has no search
    """

    def __init__(
        self,
        noun: str,
        one: str,
        fetch: Callable[[Store], Callable[[Query], Sequence[T]]],
        find: Callable[[Store, str, bool], T],
        represent: Callable[[Request, T, bool], dict[str, Any]],
        variable: str | None = None,
        searched: Search[T] | None = None,
    ) -> None:
        self._noun = noun
        self._one = one
        self._fetch = fetch
        self._find = find
        self._represent = represent
        self._variable = variable or one
        self._searched = searched

    def page(self, request: Request, detail: bool) -> Response:
        """Return a page of the collection."""
        fetch = self._fetch(request.services.store)
        return pages.page(
            request, self._noun, fetch, self._represent, detail, self._searched
        )

    def index(self, request: Request) -> Response:
        """Return a page of the collection without details."""
        return self.page(request, False)

    def detail(self, request: Request) -> Response:
        """Return a page of the collection with details."""
        return self.page(request, True)

    def show(self, request: Request) -> Response:
        """Return the object of a request."""
        return self.respond(request, self.find(request, request.show_deleted))

    def find(self, request: Request, deleted: bool = False) -> T:
        """Return the row of the object of a request; NotFound."""
        name = request.path[self._variable]
        return self._find(request.services.store, name, deleted)

    def respond(self, request: Request, row: T, status: int = 200) -> Response:
        """Return the response with an object."""
        return Response(self._represent(request, row, True), status)

    def respond_stored(
        self, request: Request, uuid: str, status: int = 200
    ) -> Response:
        """Return the response with an object as it is stored."""
        row = self._find(request.services.store, uuid, False)
        return self.respond(request, row, status)

    def respond_created(self, request: Request, created: Mapping[str, str]) -> Response:
        """Return the response with a created object, and its address."""
        uuid = created[self._one]
        address = links.unmounted_url(request, self._noun, uuid)
        response = self.respond_stored(request, uuid, 201)
        return response.with_header('Location', address)

    def routes(self, schemas: Any, shown: Versioned, summary: str) -> RouteTable:
        """Return the routes of the lists and of one object.

        :param schemas: the module of the schemas
        :param shown: the schema of one object
        :param summary: the summary of `show`
        """
        routes = list_routes(self._noun, self._one, self.index, self.detail, schemas)
        address = f'/v1/{self._noun}/{{{self._variable}}}'
        show = routes.route(
            f'GET {address}', f'{self._one}:get', {200: shown}, summary=summary
        )
        show(self.show)
        return routes


def find_by_uuid(
    noun: str, argument: str, find: Callable[[str, bool], T], name: str, deleted: bool
) -> T:
    """Return the object with a uuid.

    :param noun: the noun in the error: 'ActionPlan'
    :param argument: the name of the uuid in the error
    :raises Invalid: the name is not a uuid
    :raises NotFound: no such object
    """
    uuid = attributes.uuid(argument, name)
    try:
        return find(uuid, deleted)
    except exceptions.NotFound:
        raise exceptions.NotFound(f'{noun} {uuid} could not be found') from None
