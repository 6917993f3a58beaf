"""The overview: the objects that need attention."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.dashboard.pages import clustering, stacks
from watcherlite.dashboard.pages.services import get_health, list_parts
from watcherlite.dashboard.views import PageTable, View
from watcherlite.states import cluster as cluster_states
from watcherlite.states import stack as stack_states

PAGES = PageTable()
#: Rows of each section.
ROWS = 20

#: State of action plans -> the reason for its section.
_PLANS: Mapping[str, str] = {
    'RECOMMENDED': 'Waiting for a decision',
    'FAILED': 'Failed',
    'ONGOING': 'Running',
    'PENDING': 'Waiting for a worker',
    'CANCELLING': 'Being cancelled',
}
#: The title of a section of stacks -> the filters that select them.
_STACKS: Mapping[str, Mapping[str, str]] = {
    'Failed stacks': {'status': stack_states.FAILED},
    'Locked stacks': {'action': stack_states.LOCK},
}
#: Statuses of clusters that need attention.
_UNHEALTHY = (cluster_states.WARNING, cluster_states.ERROR, cluster_states.CRITICAL)


@PAGES.page('', 'home.html')
def show_home(view: View) -> Mapping[str, Any]:
    """Show the objects that need a person, the most recent first."""
    sections = []
    if view.allows('action_plan:detail'):
        for state, title in _PLANS.items():
            body = view.api.get(
                '/v1/action_plans/detail',
                state=state,
                sort_key='updated_at',
                sort_dir='desc',
                limit=ROWS,
            )
            sections.append(
                {
                    'title': title,
                    'state': state,
                    'plans': body['action_plans'],
                    'is_cut': 'next' in body,
                }
            )
    services = []
    if view.allows('service:detail'):
        services = [
            service
            for service in view.api.get('/v1/services/detail')['services']
            if service['status'] != 'ACTIVE'
        ]
    return {
        'sections': sections,
        'services': services,
        'parts': [
            part
            for part in list_parts(get_health(view))
            if part['status'] not in ('OK', 'NOT_USED')
        ],
        'clusters': _unhealthy_clusters(view),
        'project': stacks.project_of(view),
        'stacks': _stacks(view),
    }


def _stacks(view: View) -> Sequence[Mapping[str, Any]]:
    """Return the sections of stacks of the user's project that need attention."""
    if not view.allows('stacks:index'):
        return ()
    return [
        {'title': title, 'stacks': stacks.find_stacks(view, ROWS, **filters)}
        for title, filters in _STACKS.items()
    ]


def _unhealthy_clusters(view: View) -> Sequence[Mapping[str, Any]]:
    """Return the clusters whose status needs attention."""
    if not view.allows('clusters:index'):
        return ()
    found: Sequence[Mapping[str, Any]] = clustering.list_of(
        view, 'clusters', status=_UNHEALTHY, limit=ROWS
    )['clusters']
    return found
