"""Pages of stacks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api.operation import Answer, Request
from watcherlite.api.orchestration import links
from watcherlite.db.stacking import ListedStack, StackQuery
from watcherlite.states import stack as states

#: As clients name what can be sorted by; what is not among these is passed over.
SORT_KEYS: Mapping[str, str] = {
    'stack_name': 'name',
    'stack_status': 'status',
    'creation_time': 'created_at',
    'updated_time': 'updated_at',
}
#: Likewise what can be filtered by.
FILTERS: Mapping[str, str] = {
    'name': 'name',
    'id': 'uuid',
    'action': 'action',
    'status': 'status',
    'username': 'user',
    'owner_id': 'owner_uuid',
}
_TAGS = ('tags', 'tags_any', 'not_tags', 'not_tags_any')
#: How many tags one argument may name: each is a condition for the database.
MOST_TAGS = 100


def of_stacks(
    request: Request,
    represent: Callable[[Sequence[ListedStack]], list[dict[str, Any]]],
) -> Answer:
    """Answer a page of stacks.

    :raises StackNotFound: there is no stack with the id of the marker
    """
    asked = request.query
    limit = asked.get('limit')
    wanted = query(request)
    store = request.services.store
    rows = [] if limit == 0 else store.list_stacks(wanted)
    body: dict[str, Any] = {'stacks': represent(rows)}
    if rows and len(rows) == wanted.limit:
        arguments = {**asked, 'marker': rows[-1].stack.uuid}
        place = links.project_url(request, *request.place.split('/')[3:])
        url = links.with_arguments(place, {k: _text(v) for k, v in arguments.items()})
        body['links'] = [links.link(url, 'next')]
    if asked.get('with_count'):
        body['count'] = store.count_stacks(wanted)
    return Answer(body)


def query(request: Request) -> StackQuery:
    """Return which stacks a request asks for."""
    asked = request.query
    tenant: str | None = request.path['tenant']
    if asked.get('global_tenant'):
        tenant = asked.get('tenant')
    filters: dict[str, set[str]] = {
        FILTERS[name]: set(values)
        for name, values in asked.items()
        if name in FILTERS and values
    }
    _split_states(filters)
    limit = asked.get('limit')
    return StackQuery(
        tenant=tenant,
        filters=filters,
        nested=bool(asked.get('show_nested')),
        deleted=bool(asked.get('show_deleted')),
        sort=_order(asked),
        after=asked.get('marker') or None,
        limit=None if limit is None else min(limit, request.services.max_limit),
        **{name: _tags(name, asked.get(name, '')) for name in _TAGS},
    )


def _split_states(filters: dict[str, set[str]]) -> None:
    """Have CREATE_COMPLETE mean COMPLETE of CREATE, where it is the only one."""
    statuses = filters.get('status', set())
    whole = [status for status in statuses if status not in states.STATUSES]
    if len(statuses) == 1 and whole:
        action, _, status = whole[0].partition('_')
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
            f'{name}: there are {len(found)} tags; at most {MOST_TAGS} can be asked for'
        )
    return found


def _text(value: Any) -> Any:
    """Return an argument as a URL has it."""
    return str(value).lower() if isinstance(value, bool) else value
