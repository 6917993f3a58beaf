"""Pages of collections of the infra-optim API."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from urllib import parse

from watcherlite import exceptions
from watcherlite.api import links, search
from watcherlite.api.infra_optim.versions import DELETED, SEARCH
from watcherlite.api.operation import (
    Request,
    Response,
    Schema,
    Versioned,
    at,
    unversioned,
)
from watcherlite.api.search import Search
from watcherlite.db.query import FILTERS, SORT_KEYS, TIMED, Query
from watcherlite.states import action, action_plan, audit

T = TypeVar('T')
ASCENDING, DESCENDING = 'asc', 'desc'

UUID: Schema = {'type': 'string', 'format': 'uuid'}
TEXT: Schema = {'type': 'string'}
_NO_FILTERS: Mapping[str, Schema] = {}
#: The sort key of the filters by time.
CREATED = 'created_at'
#: The schemas of filters of all collections.
_FILTERS: Mapping[str, Schema] = {
    'goal': {'type': 'string', 'description': 'Uuid or name of a goal.'},
    'strategy': {'type': 'string', 'description': 'Uuid or name of a strategy.'},
    'audit_uuid': UUID,
    'action_plan_uuid': UUID,
    'action_type': {'type': 'string', 'description': 'Name of an action type.'},
    'target': {'type': 'string', 'description': 'The target of an action.'},
}
_STATES: Mapping[str, Iterable[str]] = {
    'audits': audit.STATES,
    'action_plans': action_plan.STATES,
    'actions': dict.fromkeys(action.INFRA_OPTIM.values()),
}


def query_schema(noun: str) -> Versioned:
    """Return the schema of the arguments of a collection.

    :param noun: one of `db.query.SORT_KEYS`
    """
    filters = {name: _FILTERS[name] for name in FILTERS[noun] if name in _FILTERS}
    if noun in _STATES:
        filters['state'] = {'type': 'string', 'enum': list(_STATES[noun])}
    marker = {**UUID, 'description': 'The uuid of the object before the page.'}
    keys = SORT_KEYS[noun]
    if noun not in TIMED:
        return paging(keys, marker, filters)
    further = {**filters, **search.schemas(CREATED)}
    schema = at(paging(keys, marker, further), SEARCH)
    return {**paging(keys, marker, filters), SEARCH: schema}


def paging(
    keys: Sequence[str], marker: Schema, filters: Mapping[str, Schema] = _NO_FILTERS
) -> Versioned:
    """Return the schema of the arguments of any collection.

    :param keys: the sort keys
    :param marker: the schema of the marker
    """
    return unversioned(
        {
            'type': 'object',
            'properties': {
                'limit': {
                    'type': 'integer',
                    'minimum': 1,
                    'description': 'The maximum number of rows in the page.',
                },
                'marker': marker,
                'sort_key': {
                    'type': 'string',
                    'description': f'One of {", ".join(keys)}.',
                },
                'sort_dir': {'type': 'string', 'enum': [ASCENDING, DESCENDING]},
                **filters,
            },
            'additionalProperties': False,
        }
    )


def sort_order(request: Request, keys: Sequence[str]) -> tuple[str, bool]:
    """Return the sort key of a request, and whether the order descends; Invalid.

    :param keys: the valid sort keys
    """
    sort_key = request.query.get('sort_key', 'id')
    if sort_key not in keys:
        raise exceptions.Invalid(
            f'Invalid sort key: {sort_key}. Sort keys are {", ".join(keys)}'
        )
    return sort_key, request.query.get('sort_dir') == DESCENDING


def page(
    request: Request,
    noun: str,
    fetch: Callable[[Query], Sequence[T]],
    represent: Callable[[Request, T, bool], dict[str, Any]],
    detail: bool = False,
    searched: Search[T] | None = None,
) -> Response:
    """Return one page of a collection.

    The body has the rows in the member `noun`, and `next` if there are more. The URL in
    `next` has all arguments of the request.

    :param noun: the collection: one of `db.query.SORT_KEYS`
    :param fetch: the method of the store; called for one row more than the page has
    :param represent: (request, row, detail) -> JSON object with a `uuid`
    :param searched: the attributes that a search compares; None: it has no search
    :raises Invalid: unknown sort key
    :raises NotFound: no object has the uuid of the marker
    """
    desired, limit, asked = query(request, noun), request.page_size, request.query
    marker: str | None = None
    if searched is not None and search.has_search(asked):
        rows, marker = searched.read(desired, fetch, asked, limit)
        shown = [represent(request, row, detail) for row in rows]
    else:
        read = fetch(dataclasses.replace(desired, limit=limit + 1))
        shown = [represent(request, row, detail) for row in read[:limit]]
        if len(read) > limit:
            marker = shown[-1]['uuid']
    body: dict[str, Any] = {noun: shown}
    if marker is not None:
        ((sort_key, descending),) = desired.sort
        arguments = {
            'sort_key': sort_key,
            'sort_dir': DESCENDING if descending else ASCENDING,
            **desired.filters,
            **{name: asked[name] for name in search.ARGUMENTS if name in asked},
            'limit': limit,
            'marker': marker,
        }
        body['next'] = next_url(request, noun, arguments, detail)
    return Response(body)


def query(request: Request, noun: str) -> Query:
    """Return the query of a request; Invalid."""
    asked = request.query
    sort_key, descending = sort_order(request, SORT_KEYS[noun])
    limits = search.time_limits(asked, CREATED, asked.get('sort_key'))
    if limits:
        sort_key = CREATED
    marker = asked.get('marker')
    return Query(
        filters={
            name: asked[name].lower() if _FILTERS.get(name) is UUID else asked[name]
            for name in FILTERS[noun]
            if name in asked
        },
        sort=((sort_key, descending),),
        after=marker and marker.lower(),
        limit=request.page_size,
        deleted=request.show_deleted or asked.get('state') == DELETED,
        since=limits.get('since'),
        until=limits.get('until'),
    )


def next_url(
    request: Request, noun: str, arguments: Mapping[str, Any], detail: bool
) -> str:
    """Return the address of the page with these arguments."""
    place = links.unmounted_url(request, noun, *(('detail',) if detail else ()))
    return f'{place}?{parse.urlencode(arguments)}'
