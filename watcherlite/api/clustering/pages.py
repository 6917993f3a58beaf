"""Pages of what is listed."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api.arguments import cut
from watcherlite.api.clustering import asking, links
from watcherlite.api.operation import Answer, Request
from watcherlite.db.clustering import SORT_KEYS, NounQuery

_DIRECTIONS = {'': False, 'asc': False, 'desc': True}
_COMMA = re.compile(r'\s*,\s*')


def answer(
    request: Request,
    noun: str,
    find: Callable[[int], Sequence[Any]],
    represent: Callable[[Sequence[Any]], list[dict[str, Any]]],
) -> Answer:
    """Answer a page, and where the next one is if there may be one.

    :param noun: the key of the list
    :param find: returns at most so many rows
    :param represent: makes of them what is shown; each has an `id`
    """
    limit = bound(request)
    rows = find(limit) if limit else []
    shown = represent(rows)
    body: dict[str, Any] = {noun: shown}
    if shown and len(rows) == limit:
        arguments = {**request.query, 'marker': shown[-1]['id']}
        texts = {name: _text(value) for name, value in arguments.items()}
        body['links'] = [links.following(request, texts)]
    return Answer(body)


def bound(request: Request) -> int:
    """Return the most rows of a page; 0: none are wanted."""
    most = request.services.max_limit
    limit: int = request.query.get('limit', most)
    return min(limit, most)


def query(
    request: Request, kind: type, filters: Mapping[str, Collection[Any]], limit: int
) -> NounQuery:
    """Return which rows a request asks for."""
    return NounQuery(
        tenant=asking.scope(request),
        filters=filters,
        sort=order(request.query.get('sort', ''), SORT_KEYS[kind]),
        after=marker(request),
        limit=limit,
    )


def marker(request: Request) -> str | None:
    """Return the id after which a page begins, as ids are stored."""
    given: str | None = request.query.get('marker')
    return given.lower() if given is not None else None


def given(request: Request, *names: str) -> dict[str, Collection[Any]]:
    """Return the filters of a request that are given, each with what it allows."""
    return {name: set(request.query[name]) for name in names if name in request.query}


def order(text: str, known: Collection[str]) -> tuple[tuple[str, bool], ...]:
    """Return (key, descending) of `key[:asc|desc],...`.

    :raises Invalid: there is no such key, or no such direction
    """
    found: dict[str, bool] = {}
    for part in _COMMA.split(text.strip()):
        if not part:
            continue
        key, _, direction = part.partition(':')
        if key not in known:
            raise exceptions.Invalid(f"Unsupported sort key '{cut(key)}' for 'sort'.")
        if direction not in _DIRECTIONS:
            raise exceptions.Invalid(
                f"Unsupported sort dir '{cut(direction)}' for 'sort'."
            )
        found.setdefault(key, _DIRECTIONS[direction])
    return tuple(found.items())


def _text(value: Any) -> Any:
    """Return an argument as a URL has it."""
    return str(value).lower() if isinstance(value, bool) else value
