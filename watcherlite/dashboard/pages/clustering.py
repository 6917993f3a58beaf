"""Objects of the clustering API, as the pages of clusters and of nodes show them."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.api.clustering.caller import ALL_PROJECTS
from watcherlite.dashboard.views import View
from watcherlite.engine.clusters.action_types import RECOVERIES, UNHEALTHY_MARK
from watcherlite.states import cluster as states

API = '/clustering/v1'
#: Rows of a page of a list, and of the lists in the page of an object.
ROWS, LATEST = 50, 20


def list_of(view: View, noun: str, **query: Any) -> Mapping[str, Any]:
    """Return a list that is filtered by an object.

    The object may be in another project, if the user may list those of all projects.
    """
    everywhere = 'true' if view.allows(ALL_PROJECTS) else ''
    body: Mapping[str, Any] = view.api.get(
        f'{API}/{noun}', global_project=everywhere, **query
    )
    return body


def projects(view: View, asked: str) -> str:
    """Return the argument `global_project` of a list.

    :param asked: that of the page
    """
    without = view.caller.project_id is None and view.allows(ALL_PROJECTS)
    return asked or ('true' if without else '')


def sort_of(args: Mapping[str, str], default: str) -> str:
    """Return the argument `sort` of a list.

    :param args: those of the page; a list within limits of time is sorted by it
    """
    if args['since'] or args['until']:
        default = 'init_at:desc'
    return args['sort'] or default


def may_choose_projects(view: View) -> bool:
    """Return whether the user may choose between the own and all projects."""
    return view.caller.project_id is not None and view.allows(ALL_PROJECTS)


def node_row(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node with `mark`, the reason of its unhealthy mark or ''."""
    return {**node, 'mark': str(node['data'].get(UNHEALTHY_MARK) or '')}


def latest_actions(view: View, **query: Any) -> Sequence[Mapping[str, Any]] | None:
    """Return the latest actions on an object, with times like those of others.

    It is None if the user may not list them.
    """
    if not view.allows('actions:index'):
        return None
    body = list_of(view, 'actions', sort='created_at:desc', limit=LATEST, **query)
    return [
        {
            **action,
            'start_time': _format_time(action['start_time']),
            'end_time': _format_time(action['end_time']),
        }
        for action in body['actions']
    ]


def latest_events(view: View, **query: Any) -> Sequence[Mapping[str, Any]]:
    """Return the latest events of an object."""
    if not view.allows('cluster_events:index'):
        return ()
    body = list_of(view, 'events', sort='timestamp:desc', limit=LATEST, **query)
    found: Sequence[Mapping[str, Any]] = body['events']
    return found


def allowed_actions(view: View, rule: str, status: str) -> Mapping[str, bool]:
    """Return whether the user may check or recover an object.

    :param status: of the object; while an action changes it, the API refuses both
    """
    is_idle = status not in states.TRANSIENT
    return {'act': is_idle and view.allows(rule)}


def recovery(view: View, *flags: str) -> Mapping[str, Any]:
    """Return the body of a request to recover an object, from a form.

    :param flags: the names of its checkboxes
    """
    given: dict[str, Any] = {
        name: True for name in flags if view.form.get(name) == 'on'
    }
    if view.form.get('operation'):
        given['operation'] = view.form['operation']
    return {'recover': given}


#: Recovery operation -> its description, for the forms.
OPERATIONS: Mapping[str, str] = {
    '': 'that of the health policy, or RECREATE',
    **{name: name for name in RECOVERIES},
}


def _format_time(seconds: float | None) -> str | None:
    """Return a Unix time in ISO 8601."""
    if seconds is None:
        return None
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat()
