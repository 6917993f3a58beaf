"""Pages of stacks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, search
from watcherlite.api.operation import Request, Response
from watcherlite.api.search import Search
from watcherlite.db.query import Query
from watcherlite.db.stacks import ListedStack
from watcherlite.states import stack as states

#: Sort keys of clients; others are ignored.
SORT_KEYS: Mapping[str, str] = {
    'stack_name': 'name',
    'stack_status': 'status',
    'creation_time': 'created_at',
    'updated_time': 'updated_at',
}
#: Filters of clients.
FILTERS: Mapping[str, str] = {
    'name': 'name',
    'id': 'uuid',
    'action': 'action',
    'status': 'status',
    'username': 'user',
    'owner_id': 'owner_uuid',
}
_TAGS = ('tags', 'tags_any', 'not_tags', 'not_tags_any')
SEARCH: Search[ListedStack] = Search(
    lambda row: (row.stack.uuid, row.stack.name, row.stack.status_reason),
    lambda row: row.stack.user,
    lambda row: row.stack.uuid,
)
#: The sort key of the times of creation.
CREATED = 'creation_time'
#: Maximum number of tags of an argument: each is a condition of the query.
MOST_TAGS = 100


def list_stacks(
    request: Request, represent: Callable[[Sequence[ListedStack]], list[dict[str, Any]]]
) -> Response:
    """Return a page of stacks.

    :raises Invalid: the stacks of a search are to be counted
    :raises StackNotFound: no stack has the id of the marker
    """
    asked, desired, limit = request.query, query(request), request.page_size
    store = request.services.store
    is_search = search.has_search(asked)
    if is_search and asked.get('with_count'):
        raise exceptions.Invalid(
            f'with_count cannot be combined with {search.TEXT} or {search.USER}, which '
            'have no index'
        )
    rows: list[ListedStack] = []
    after: str | None = None
    if limit and is_search:
        rows, after = SEARCH.read(desired, store.list_stacks, asked, limit)
    elif limit:
        rows = store.list_stacks(desired)
        after = rows[-1].stack.uuid if len(rows) == limit else None
    body: dict[str, Any] = {'stacks': represent(rows)}
    if after is not None:
        body['links'] = [links.next_page(request, after)]
    if asked.get('with_count'):
        body['count'] = store.count_stacks(desired)
    return Response(body)


def query(request: Request) -> Query:
    """Return the query of a request; Invalid."""
    asked = request.query
    order = _order(asked)
    names = {column: name for name, column in SORT_KEYS.items()}
    limits = search.time_limits(asked, CREATED, names[order[0][0]])
    tenant: str | None = request.path['tenant']
    if asked.get('global_tenant'):
        tenant = asked.get('tenant')
    filters: dict[str, Any] = {
        FILTERS[name]: set(values)
        for name, values in asked.items()
        if name in FILTERS and values
    }
    _split_states(filters)
    for name in _TAGS:
        if tags := _tags(name, asked.get(name, '')):
            filters[name] = tags
    return Query(
        tenant=tenant,
        filters=filters,
        nested=bool(asked.get('show_nested')),
        deleted=bool(asked.get('show_deleted')),
        sort=order,
        after=asked.get('marker') or None,
        limit=request.page_size,
        since=limits.get('since'),
        until=limits.get('until'),
    )


def _split_states(filters: dict[str, set[str]]) -> None:
    """Split the single status CREATE_COMPLETE into the action and its status."""
    statuses = filters.get('status', set())
    combined = [status for status in statuses if status not in states.STATUSES]
    if len(statuses) == 1 and combined:
        action, _, status = combined[0].partition('_')
        if action in states.STACK_ACTIONS and status in states.STATUSES:
            filters['status'] = {status}
            filters['action'] = filters.get('action', {action}) & {action}


def _order(asked: Mapping[str, Any]) -> tuple[tuple[str, bool], ...]:
    names = [name for text in asked.get('sort_keys', ()) for name in _words(text)]
    keys = [SORT_KEYS[name] for name in names if name in SORT_KEYS]
    descending = asked.get('sort_dir', 'asc' if keys else 'desc') == 'desc'
    return tuple((key, descending) for key in dict.fromkeys(keys or ['created_at']))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(',') if word.strip())


def _tags(name: str, text: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(_words(text)))
    if len(found) > MOST_TAGS:
        raise exceptions.Invalid(
            f'{name} has {len(found)} tags; the limit is {MOST_TAGS}'
        )
    return found
