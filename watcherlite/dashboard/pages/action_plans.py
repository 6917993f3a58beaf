"""Action plans: the list, one plan with its graph, and what can be done with them."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.dashboard import graph, rendering
from watcherlite.dashboard.pages import plan_actions
from watcherlite.dashboard.views import SEARCH, PageTable, View
from watcherlite.states import action_plan as states

PAGES = PageTable()
#: Rows of a page of the list, and events of a plan.
ROWS, EVENTS = 50, 50
#: Actions of a plan that its page shows.
MOST = 5000
#: Failed actions that it shows first.
FAILED = 20
#: Number of parents that are named in the row of an action.
PARENTS = 3
_FILTERS = (
    'state',
    'strategy',
    'audit_uuid',
    *SEARCH,
    'sort_key',
    'sort_dir',
    'marker',
)


@PAGES.page('/action_plans', 'action_plans.html')
def list_plans(view: View) -> Mapping[str, Any]:
    """List plans, the newest first."""
    args = view.filters(*_FILTERS)
    order = {'sort_key': args['sort_key'] or 'created_at'}
    order['sort_dir'] = args['sort_dir'] or 'desc'
    body = view.api.get('/v1/action_plans/detail', **{**args, **order}, limit=ROWS)
    return {
        'plans': body['action_plans'],
        'states': list(states.STATES),
        'filters': args,
        'next': view.next_address(body, args, 'action_plans'),
    }


@PAGES.page('/action_plans/{uuid}', 'action_plan.html')
def show_plan(view: View, uuid: str) -> Mapping[str, Any]:
    """Show a plan with its graph, its actions and its latest events."""
    # Before the states are read: a later event is then one that the page gets to see.
    events = plan_actions.latest_events(view, uuid, EVENTS)
    plan = view.api.get(f'/v1/action_plans/{uuid}')
    actions = _actions(view, plan['uuid'])
    names = {action['uuid']: action['name'] for action in actions}
    for action in actions:
        action['after'] = _parents_text(action['parents'], names)
    return {
        'plan': plan,
        'actions': actions,
        'shown': _filter(actions, view.args),
        'filters': view.filters('text', 'state'),
        'states': plan_actions.STATES,
        'is_cut': len(actions) >= MOST,
        'counts': _counts(actions),
        'graph': graph.lay_out({a['uuid']: a['parents'] for a in actions}),
        'timeline': _timeline(actions),
        'failed': [a for a in actions if a['state'] == 'FAILED'][:FAILED],
        'retry_of': _retried_plan(view, plan['uuid']),
        'events': events,
        'can': _allowed_actions(view, plan),
    }


@PAGES.page('/action_plans/{uuid}/summary', 'action_plan_summary.html')
def show_summary(view: View, uuid: str) -> Mapping[str, Any]:
    """Show the part of a plan's page that changes with its state."""
    plan = view.api.get(f'/v1/action_plans/{uuid}')
    return {'plan': plan, 'can': _allowed_actions(view, plan)}


@PAGES.page('/action_plans/{uuid}/history', 'events.html')
def show_history(view: View, uuid: str) -> Mapping[str, Any]:
    """Show the events of a plan, the latest first."""
    plan = view.api.get(f'/v1/action_plans/{uuid}')
    before = view.args.get('before') or plan_actions.NEWEST
    body = view.api.get(
        f'/v1/action_plans/{plan["uuid"]}/events', before=before, limit=4 * EVENTS
    )
    events = body['events']
    older = ''
    if 'next' in body:
        last = events[-1]['sequence']
        older = view.address('action_plans', uuid, 'history', before=last)
    return {'plan': plan, 'events': events, 'next': older}


@PAGES.form('/action_plans/{uuid}/start', show_plan)
def start(view: View, uuid: str) -> str:
    """Start a RECOMMENDED plan."""
    view.api.request('POST', f'/v1/action_plans/{uuid}/start', {})
    return view.address('action_plans', uuid, done='started')


@PAGES.form('/action_plans/{uuid}/cancel', show_plan)
def cancel(view: View, uuid: str) -> str:
    """Cancel a plan in the state that the page showed."""
    state = view.form.get('state', '')
    desired = 'CANCELLING' if state == states.ONGOING else 'CANCELLED'
    change = [{'op': 'replace', 'path': '/state', 'value': desired}]
    view.api.request('PATCH', f'/v1/action_plans/{uuid}', change)
    return view.address('action_plans', uuid, done='cancelled')


@PAGES.form('/action_plans/{uuid}/retry', show_plan)
def retry(view: View, uuid: str) -> str:
    """Create a plan of the actions that did not succeed, and show it."""
    return plan_actions.retry(view, f'/v1/action_plans/{uuid}')


@PAGES.form('/action_plans/{uuid}/skip', show_plan)
def skip(view: View, uuid: str) -> str:
    """Skip the chosen actions, with one reason.

    Nothing changes if one of them is refused, unless its state changes meanwhile: then
    the actions before it remain skipped, and the page shows which they are.
    """
    plan_actions.check_pending(view, view.chosen)
    for action in view.chosen:
        plan_actions.skip(view, action, view.form.get('reason', ''))
    return view.address('action_plans', uuid, done='skipped')


def _retried_plan(view: View, uuid: str) -> str | None:
    """Return the uuid of the plan that a plan is a retry of, or None."""
    if not view.allows('event:get_all'):
        return None
    first = view.api.get(f'/v1/action_plans/{uuid}/events', limit=1)['events']
    return ((first[0]['detail'] or {}) if first else {}).get('retry_of')


def _actions(view: View, uuid: str) -> list[dict[str, Any]]:
    """Return the actions of a plan in the order of its document, at most MOST."""
    found: list[dict[str, Any]] = []
    marker = ''
    while len(found) < MOST:
        body = view.api.get(
            '/v1/actions/detail', action_plan_uuid=uuid, sort_key='id', marker=marker
        )
        found += map(plan_actions.show, body['actions'])
        if 'next' not in body:
            break
        marker = found[-1]['uuid']
    return found


def _parents_text(parents: Sequence[str], names: Mapping[str, str]) -> str:
    """Return the names of the first parents of an action, and the number of others."""
    shown = ', '.join(
        names.get(parent, rendering.short(parent)) for parent in parents[:PARENTS]
    )
    rest = len(parents) - PARENTS
    return f'{shown} and {rest} more' if rest > 0 else shown


def _filter(
    actions: Sequence[Mapping[str, Any]], args: Mapping[str, str]
) -> Sequence[Mapping[str, Any]]:
    """Return the actions with a state, and with a text in any of their columns."""
    state, text = args.get('state', ''), args.get('text', '').casefold()
    columns = ('name', 'action_type', 'target', 'status_message', 'uuid')
    return [
        action
        for action in actions
        if state in ('', action['shown_state'])
        and any(text in (action[name] or '').casefold() for name in columns)
    ]


def _counts(actions: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of actions by state, those that have ended first."""
    order = ('SUCCEEDED', 'SKIPPED', 'FAILED', 'CANCELLED', 'ONGOING', 'SUSPENDED')
    counts = dict.fromkeys((*order, 'PENDING'), 0)
    for action in actions:
        counts[action['shown_state']] = counts.get(action['shown_state'], 0) + 1
    return {state: count for state, count in counts.items() if count}


def _allowed_actions(view: View, plan: Mapping[str, Any]) -> Mapping[str, bool]:
    """Return what the user may do with a plan in its state."""
    state = plan['state']
    changes = view.allows('action_plan:update')
    return {
        'start': state == states.RECOMMENDED and view.allows('action_plan:start'),
        'cancel': changes
        and state in (states.RECOMMENDED, states.PENDING, states.ONGOING),
        'skip': state in states.SKIPPABLE and view.allows('action:update'),
        'retry': plan_actions.can_retry(view, plan),
        'retry_later': plan_actions.can_retry_later(view, plan),
    }


def _timeline(actions: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the bars of the actions that have started, in parts of a thousand."""
    parse = rendering.parse_time
    started = [action for action in actions if action['start_time']]
    if not started:
        return {'bars': []}
    ends = [parse(a['end_time'] or a['updated_at'] or a['start_time']) for a in started]
    begins = [parse(action['start_time']) for action in started]
    first, last = min(begins), max(ends)
    scale = 1000 / max((last - first).total_seconds(), 0.001)
    bars = [
        {
            'action': action,
            'x': round((begin - first).total_seconds() * scale),
            'width': max(round((end - begin).total_seconds() * scale), 2),
        }
        for action, begin, end in zip(started, begins, ends, strict=True)
    ]
    return {'bars': bars, 'first': first.isoformat(), 'last': last.isoformat()}
