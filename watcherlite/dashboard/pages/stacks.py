"""Stacks: the list, one stack with its resources, and what can be done with it."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.dashboard import graph
from watcherlite.dashboard.views import SEARCH, PageTable, View
from watcherlite.states import stack as states

PAGES = PageTable()
ROWS, EVENTS = 50, 20
#: The project of users without one, as in `watcherlite stack`.
DEFAULT_PROJECT = 'default'
#: The levels of a lock (spec 004) -> what it covers.
LEVELS: Mapping[str, str] = {
    'all': 'the stack, its nested stacks and their resources',
    'stacks': 'the stack and its nested stacks',
}
#: Actions without arguments -> the text of their button.
_ACTIONS: Mapping[str, str] = {
    'check': 'Check',
    'suspend': 'Suspend',
    'resume': 'Resume',
    'unlock': 'Unlock',
    'cancel_update': 'Cancel and roll back',
    'cancel_without_rollback': 'Cancel',
}
_FILTERS = ('name', 'status', 'action', *SEARCH, 'marker')


def project_of(view: View) -> str:
    """Return the project of a page: that of its address, else that of the user."""
    chosen = view.form.get('project') or view.args.get('project')
    return chosen or view.caller.project_id or DEFAULT_PROJECT


def _path(view: View, *segments: str) -> str:
    return '/'.join(['/orchestration/v1', project_of(view), 'stacks', *segments])


def find_stacks(view: View, limit: int, **filters: str) -> Sequence[Mapping[str, Any]]:
    """Return the newest stacks of the project of a page that match some filters."""
    found: Sequence[Mapping[str, Any]] = view.api.get(
        _path(view), **filters, limit=limit
    )['stacks']
    return found


@PAGES.page('/stacks', 'stacks.html')
def list_stacks(view: View) -> Mapping[str, Any]:
    """List the stacks of a project, the newest first."""
    args = view.filters(*_FILTERS)
    body = view.api.get(_path(view), **args, limit=ROWS)
    project = project_of(view)
    return {
        'stacks': body['stacks'],
        'project': project,
        'filters': args,
        'statuses': (states.COMPLETE, states.FAILED, states.IN_PROGRESS),
        'actions': list(states.STACK_ACTIONS),
        'next': view.next_address(body, {**args, 'project': project}, 'stacks'),
    }


@PAGES.page('/stacks/{name}/{uuid}', 'stack.html')
def show_stack(view: View, name: str, uuid: str) -> Mapping[str, Any]:
    """Show a stack: its facts, resources, outputs and latest events."""
    stack = view.api.get(_path(view, name, uuid))['stack']
    resources = view.api.get(_path(view, name, uuid, 'resources'))['resources']
    events: Sequence[Mapping[str, Any]] = ()
    if view.allows('events:index', project_of(view)):
        events = view.api.get(
            _path(view, name, uuid, 'events'), sort_dir='desc', limit=EVENTS
        )['events']
    nested = {
        resource['resource_name']: link['href'].rstrip('/').rsplit('/', 2)[1:]
        for resource in resources
        for link in resource['links']
        if link['rel'] == 'nested'
    }
    return {
        'stack': stack,
        'project': project_of(view),
        'resources': resources,
        'graph': graph.lay_out(_parents(resources)),
        'nested': nested,
        'events': events,
        'levels': LEVELS,
        'actions': _available_actions(view, stack),
        'can_lock': _is_allowed(view, 'lock') and _is_idle(stack),
        'can_mark': view.allows('resource:mark_unhealthy', project_of(view)),
        'can_signal': view.allows('resource:signal', project_of(view)),
    }


@PAGES.form('/stacks/{name}/{uuid}/act', show_stack)
def run_action(view: View, name: str, uuid: str) -> str:
    """Lock a stack at a level, or request another action on it."""
    action = view.form.get('action', '')
    body: dict[str, Any] = {action: None}
    if action == 'lock':
        body = {'lock': {'level': view.form.get('level', '')}}
    view.api.request('POST', _path(view, name, uuid, 'actions'), body)
    return view.address('stacks', name, uuid, project=project_of(view), done='changed')


@PAGES.form('/stacks/{name}/{uuid}/mark', show_stack)
def mark(view: View, name: str, uuid: str) -> str:
    """Mark a resource unhealthy with a reason, or remove its mark (spec 002)."""
    body = {
        'mark_unhealthy': view.form.get('unhealthy') == 'true',
        'resource_status_reason': view.form.get('reason', '').strip(),
    }
    resource = view.form.get('resource', '')
    view.api.request('PATCH', _path(view, name, uuid, 'resources', resource), body)
    return view.address('stacks', name, uuid, project=project_of(view), done='changed')


@PAGES.form('/stacks/{name}/{uuid}/clear', show_stack)
def clear_hook(view: View, name: str, uuid: str) -> str:
    """Clear the hook at which a resource waits."""
    resource, body = (
        view.form.get('resource', ''),
        {'unset_hook': view.form.get('hook')},
    )
    path = _path(view, name, uuid, 'resources', resource, 'signal')
    view.api.request('POST', path, body)
    return view.address('stacks', name, uuid, project=project_of(view), done='changed')


def _parents(resources: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return resource -> the resources that it requires."""
    parents: dict[str, list[str]] = {r['resource_name']: [] for r in resources}
    for resource in resources:
        for dependent in resource['required_by']:
            if dependent in parents:
                parents[dependent].append(resource['resource_name'])
    return parents


def _is_allowed(view: View, action: str) -> bool:
    return view.allows(f'actions:{action}', project_of(view))


def _is_idle(stack: Mapping[str, Any]) -> bool:
    return not str(stack['stack_status']).endswith(states.IN_PROGRESS)


def _available_actions(view: View, stack: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the actions that the user may request in the state of a stack."""
    status = str(stack['stack_status'])
    if not _is_idle(stack):
        names = ['cancel_without_rollback']
        if status.startswith('UPDATE'):
            names.append('cancel_update')
    elif stack['lock_owner'] is not None:
        names = ['unlock']
    elif stack['stack_base_status'].startswith('SUSPEND'):
        names = ['resume', 'check']
    else:
        names = ['check', 'suspend']
    return {name: _ACTIONS[name] for name in names if _is_allowed(view, name)}
