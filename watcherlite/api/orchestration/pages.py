"""Pages of stacks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links
from watcherlite.api.operation import Request, Response
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
#: Maximum number of tags of an argument: each is a condition of the query.
MOST_TAGS = 100


def list_stacks(
    request: Request, represent: Callable[[Sequence[ListedStack]], list[dict[str, Any]]]
) -> Response:
    """Return a page of stacks.

    :raises StackNotFound: no stack has the id of the marker
    """
    asked = request.query
    wanted = query(request)
    store = request.services.store
    rows = [] if wanted.limit == 0 else store.list_stacks(wanted)
    body: dict[str, Any] = {'stacks': represent(rows)}
    if rows and len(rows) == wanted.limit:
        body['links'] = [links.next_page(request, rows[-1].stack.uuid)]
    if asked.get('with_count'):
        body['count'] = store.count_stacks(wanted)
    return Response(body)


def query(request: Request) -> Query:
    """Return the query of a request."""
    asked = request.query
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
        sort=_order(asked),
        after=asked.get('marker') or None,
        limit=request.page_size,
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
