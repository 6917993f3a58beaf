"""Pages of lists of the clustering API."""

import datetime
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, search
from watcherlite.api.arguments import truncate
from watcherlite.api.clustering import caller
from watcherlite.api.clustering.lookup import Noun
from watcherlite.api.operation import Request, Response
from watcherlite.api.search import Search
from watcherlite.db.clusters import SORT_KEYS, TIMED
from watcherlite.db.query import Query
from watcherlite.domain.clusters import Cluster, Node

_DIRECTIONS = {'': False, 'asc': False, 'desc': True}
_COMMA = re.compile(r'\s*,\s*')
_CLUSTERS: Search[Cluster] = Search(
    lambda row: (row.uuid, row.name, row.status_reason),
    lambda row: row.owner.user,
    lambda row: row.uuid,
)
_NODES: Search[Node] = Search(
    lambda row: (row.uuid, row.name, row.status_reason, row.physical_id),
    lambda row: row.owner.user,
    lambda row: row.uuid,
)
#: Class -> the attributes that a search compares.
SEARCHES: Mapping[type, Search[Any]] = {Cluster: _CLUSTERS, Node: _NODES}


def respond(
    request: Request,
    noun: str,
    find: Callable[[int], Sequence[Any]],
    represent: Callable[[Sequence[Any]], list[dict[str, Any]]],
) -> Response:
    """Return a page, with a link to the next one if there may be more rows.

    :param noun: the member with the list
    :param find: (limit) -> rows
    :param represent: rows -> JSON objects, each with an `id`
    """
    limit = request.page_size
    rows = find(limit) if limit else []
    shown = represent(rows)
    after = shown[-1]['id'] if shown and len(rows) == limit else None
    return _respond(request, noun, shown, after)


def _respond(
    request: Request, noun: str, shown: list[dict[str, Any]], after: str | None
) -> Response:
    """Return a page.

    :param after: the marker of the next page; None: there is none
    """
    body: dict[str, Any] = {noun: shown}
    if after is not None:
        body['links'] = [links.next_page(request, after)]
    return Response(body)


def respond_objects(
    request: Request,
    noun: str,
    kind: type[Noun],
    desired: Mapping[str, Collection[Any]],
    represent: Callable[[Sequence[Noun]], list[dict[str, Any]]],
) -> Response:
    """Return a page of objects of one kind; see `respond`.

    :param desired: the filters
    """
    store = request.services.store

    def fetch(query: Query) -> Sequence[Noun]:
        return store.list_objects(kind, query)

    def find(limit: int) -> Sequence[Noun]:
        return fetch(query(request, kind, desired, limit))

    limit, searched = request.page_size, SEARCHES.get(kind)
    if searched is None or not limit or not search.has_search(request.query):
        return respond(request, noun, find, represent)
    rows, after = searched.read(
        query(request, kind, desired, limit), fetch, request.query, limit
    )
    return _respond(request, noun, represent(rows), after)


def query(
    request: Request, kind: type, filters: Mapping[str, Collection[Any]], limit: int
) -> Query:
    """Return the query of a request; Invalid."""
    asked = request.query
    sort = parse_sort(asked.get('sort', ''), SORT_KEYS[kind])
    limits: Mapping[str, datetime.datetime] = {}
    if kind in TIMED:
        limits = search.time_limits(asked, TIMED[kind], sort[0][0] if sort else None)
    return Query(
        tenant=caller.project_scope(request),
        filters=filters,
        sort=sort,
        after=marker(request),
        limit=limit,
        since=limits.get('since'),
        until=limits.get('until'),
    )


def marker(request: Request) -> str | None:
    """Return the marker of a request in lower case."""
    given: str | None = request.query.get('marker')
    return given.lower() if given is not None else None


def filters(request: Request, *names: str) -> dict[str, Collection[Any]]:
    """Return the given filters with their values."""
    return {name: set(request.query[name]) for name in names if name in request.query}


def parse_sort(text: str, known: Collection[str]) -> tuple[tuple[str, bool], ...]:
    """Return (key, descending) of `key[:asc|desc],...`.

    :raises Invalid: unknown key or direction
    """
    found: dict[str, bool] = {}
    for part in _COMMA.split(text.strip()):
        if not part:
            continue
        key, _, direction = part.partition(':')
        if key not in known:
            raise exceptions.Invalid(
                f"Unsupported sort key '{truncate(key)}' for 'sort'."
            )
        if direction not in _DIRECTIONS:
            raise exceptions.Invalid(
                f"Unsupported sort dir '{truncate(direction)}' for 'sort'."
            )
        found.setdefault(key, _DIRECTIONS[direction])
    return tuple(found.items())
