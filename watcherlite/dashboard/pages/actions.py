"""Actions: the list, one action, and what can be done with it."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.dashboard.pages import plan_actions
from watcherlite.dashboard.views import SEARCH, PageTable, View
from watcherlite.states import action_plan as plan_states

PAGES = PageTable()
#: Rows of a page of the list, and events of an action.
ROWS, EVENTS = 50, 50
#: Entries of the log of an action on its page, and on the pages of the log.
LOG_ENTRIES = 200
STATES = ('PENDING', 'ONGOING', 'SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED')
_FILTERS = (
    'state',
    'action_type',
    'target',
    'action_plan_uuid',
    'audit_uuid',
    *SEARCH,
    'sort_key',
    'sort_dir',
    'marker',
)


@PAGES.page('/actions', 'actions.html')
def list_actions(view: View) -> Mapping[str, Any]:
    """List actions, the newest first."""
    args = view.filters(*_FILTERS)
    order = {'sort_key': args['sort_key'] or 'created_at'}
    order['sort_dir'] = args['sort_dir'] or 'desc'
    body = view.api.get('/v1/actions/detail', **{**args, **order}, limit=ROWS)
    return {
        'actions': [plan_actions.show(action) for action in body['actions']],
        'states': STATES,
        'filters': args,
        'next': view.next_address(body, args, 'actions'),
    }


@PAGES.page('/actions/{uuid}', 'action.html')
def show_action(view: View, uuid: str) -> Mapping[str, Any]:
    """Show an action, its parents and its plan."""
    path = f'/v1/actions/{uuid}'
    plan_uuid = view.api.get(path)['action_plan_uuid']
    # Before the state is read: a later event is then one that the page gets to see. The
    # plan as well: the page of a plan that has ended does not wait for events.
    after = plan_actions.latest_sequence(view, plan_uuid)
    plan = view.api.get(f'/v1/action_plans/{plan_uuid}')
    action = plan_actions.show(view.api.get(path))
    parents = [
        plan_actions.show(view.api.get(f'/v1/actions/{parent}'))
        for parent in action['parents'][:_PARENTS]
    ]
    return {
        'action': action,
        'plan': plan,
        'parents': parents,
        'hidden_parents': max(len(action['parents']) - _PARENTS, 0),
        'after': after,
        'log': _latest_log(view, path),
        'events': _latest_events(view, path),
        'can': _allowed_actions(view, action, plan),
    }


@PAGES.form('/actions/{uuid}/skip', show_action)
def skip(view: View, uuid: str) -> str:
    """Skip a PENDING action."""
    plan_actions.skip(view, uuid, view.form.get('reason', ''))
    return view.address('actions', uuid, done='skipped')


@PAGES.form('/actions/{uuid}/reason', show_action)
def edit_reason(view: View, uuid: str) -> str:
    """Change the reason of a SKIPPED action."""
    reason = view.form.get('reason', '').strip()
    change = [{'op': 'replace', 'path': '/status_message', 'value': reason}]
    view.api.request('PATCH', f'/v1/actions/{uuid}', change)
    return view.address('actions', uuid, done='reason')


@PAGES.form('/actions/{uuid}/retry', show_action)
def retry(view: View, uuid: str) -> str:
    """Create a plan of the action and what depends on it, and show it."""
    return plan_actions.retry(view, f'/v1/actions/{uuid}')


@PAGES.form('/actions/{uuid}/suspend', show_action)
def suspend(view: View, uuid: str) -> str:
    """Suspend a running action."""
    view.api.request('POST', f'/v1/actions/{uuid}/suspend')
    return view.address('actions', uuid, done='suspended')


@PAGES.form('/actions/{uuid}/resume', show_action)
def resume(view: View, uuid: str) -> str:
    """Resume a suspended action."""
    view.api.request('POST', f'/v1/actions/{uuid}/resume')
    return view.address('actions', uuid, done='resumed')


@PAGES.form('/actions/{uuid}/cancel', show_action)
def cancel(view: View, uuid: str) -> str:
    """Cancel an action."""
    view.api.request('POST', f'/v1/actions/{uuid}/cancel')
    return view.address('actions', uuid, done='cancelled')


@PAGES.page('/actions/{uuid}/log', 'action_log.html')
def show_log(view: View, uuid: str) -> Mapping[str, Any]:
    """Show a page of the log of an action, by default the latest."""
    path = f'/v1/actions/{uuid}'
    before = view.args.get('before') or plan_actions.NEWEST
    body = view.api.get(f'{path}/logs', before=before, limit=LOG_ENTRIES)
    entries = body['logs'][::-1]
    first = entries[0]['sequence'] if 'next' in body else None
    return {
        'action': plan_actions.show(view.api.get(path)),
        'entries': entries,
        'next': view.address('actions', uuid, 'log', before=first) if first else '',
    }


def _latest_events(view: View, path: str) -> Sequence[Mapping[str, Any]]:
    """Return the latest events of an action; none if the user may not see events."""
    if not view.allows('event:get_all'):
        return ()
    found: Sequence[Mapping[str, Any]] = view.api.get(
        f'{path}/events', before=plan_actions.NEWEST, limit=EVENTS
    )['events']
    return found


def _latest_log(view: View, path: str) -> Mapping[str, Any]:
    """Return the latest entries of the log of an action, oldest first."""
    body = view.api.get(f'{path}/logs', before=plan_actions.NEWEST, limit=LOG_ENTRIES)
    entries = body['logs'][::-1]
    return {
        'entries': entries,
        'has_earlier': 'next' in body,
        'after': entries[-1]['sequence'] if entries else 0,
    }


#: Parents that the page of an action shows.
_PARENTS = 20


def _allowed_actions(
    view: View, action: Mapping[str, Any], plan: Mapping[str, Any]
) -> Mapping[str, bool]:
    """Return what the user may do with an action in its state."""
    state = action['shown_state']
    updates = view.allows('action:update')
    signals = view.allows('action:signal') and plan['state'] == plan_states.ONGOING
    return {
        'skip': updates
        and state == 'PENDING'
        and plan['state'] in plan_states.SKIPPABLE,
        'reason': updates and state == 'SKIPPED',
        'retry': state in ('FAILED', 'CANCELLED')
        and plan_actions.can_retry(view, plan),
        'retry_later': state in ('FAILED', 'CANCELLED')
        and plan_actions.can_retry_later(view, plan),
        'suspend': signals and state == 'ONGOING',
        'resume': signals and state == 'SUSPENDED',
        'cancel': signals and state in ('ONGOING', 'SUSPENDED', 'PENDING'),
    }
