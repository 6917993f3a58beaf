"""Pages of lists of the clustering API."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links
from watcherlite.api.arguments import truncate
from watcherlite.api.clustering import caller
from watcherlite.api.clustering.lookup import Noun
from watcherlite.api.operation import Request, Response
from watcherlite.db.clusters import SORT_KEYS
from watcherlite.db.query import Query

_DIRECTIONS = {'': False, 'asc': False, 'desc': True}
_COMMA = re.compile(r'\s*,\s*')


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
    body: dict[str, Any] = {noun: shown}
    if shown and len(rows) == limit:
        body['links'] = [links.next_page(request, shown[-1]['id'])]
    return Response(body)


def respond_objects(
    request: Request,
    noun: str,
    kind: type[Noun],
    wanted: Mapping[str, Collection[Any]],
    represent: Callable[[Sequence[Noun]], list[dict[str, Any]]],
) -> Response:
    """Return a page of objects of one kind; see `respond`.

    :param wanted: the filters
    """
    store = request.services.store

    def find(limit: int) -> Sequence[Noun]:
        return store.list_objects(kind, query(request, kind, wanted, limit))

    return respond(request, noun, find, represent)


def query(
    request: Request, kind: type, filters: Mapping[str, Collection[Any]], limit: int
) -> Query:
    """Return the query of a request."""
    return Query(
        tenant=caller.project_scope(request),
        filters=filters,
        sort=parse_sort(request.query.get('sort', ''), SORT_KEYS[kind]),
        after=marker(request),
        limit=limit,
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
