"""Clusters: the list, one cluster with its nodes, and its check and recovery."""

from collections.abc import Mapping
from typing import Any

from watcherlite.dashboard.pages import clustering
from watcherlite.dashboard.pages.clustering import API, ROWS
from watcherlite.dashboard.views import SEARCH, PageTable, View
from watcherlite.states import cluster as states

PAGES = PageTable()
_FILTERS = ('name', 'status', *SEARCH, 'global_project', 'sort', 'marker')


@PAGES.page('/clusters', 'clusters.html')
def list_clusters(view: View) -> Mapping[str, Any]:
    """List clusters by name."""
    args = view.filters(*_FILTERS)
    more = {
        'sort': clustering.sort_of(args, 'name'),
        'global_project': clustering.projects(view, args['global_project']),
    }
    body = view.api.get(f'{API}/clusters', **{**args, **more}, limit=ROWS)
    return {
        'clusters': body['clusters'],
        'statuses': list(states.CLUSTER_STATUSES),
        'filters': args,
        'chooses_projects': clustering.may_choose_projects(view),
        'next': view.next_address(body, args, 'clusters'),
    }


@PAGES.page('/clusters/{cluster_id}', 'cluster.html')
def show_cluster(view: View, cluster_id: str) -> Mapping[str, Any]:
    """Show a cluster: its nodes, policies, and latest actions and events."""
    cluster = view.api.get(f'{API}/clusters/{cluster_id}')['cluster']
    uuid = cluster['id']
    nodes, policies = None, None
    if view.allows('nodes:index'):
        body = clustering.list_of(
            view, 'nodes', cluster_id=uuid, sort='index', limit=ROWS
        )
        nodes = [clustering.node_row(node) for node in body['nodes']]
    if view.allows('cluster_policies:index'):
        policies = view.api.get(f'{API}/clusters/{uuid}/policies')['cluster_policies']
    return {
        'cluster': cluster,
        'nodes': nodes,
        'names': {
            **{node: node for node in cluster['nodes']},
            **{node['id']: node['name'] for node in nodes or ()},
        },
        'policies': policies,
        'actions': clustering.latest_actions(view, cluster_id=uuid),
        'events': clustering.latest_events(view, cluster_id=uuid),
        'operations': clustering.OPERATIONS,
        'can': clustering.allowed_actions(view, 'clusters:action', cluster['status']),
    }


@PAGES.form('/clusters/{cluster_id}/check', show_cluster)
def check(view: View, cluster_id: str) -> str:
    """Check all nodes of a cluster."""
    view.api.request('POST', f'{API}/clusters/{cluster_id}/actions', {'check': {}})
    return view.address('clusters', cluster_id, done='check')


@PAGES.form('/clusters/{cluster_id}/recover', show_cluster)
def recover(view: View, cluster_id: str) -> str:
    """Recover the unhealthy nodes of a cluster."""
    body = clustering.recovery(view, 'check', 'check_capacity')
    view.api.request('POST', f'{API}/clusters/{cluster_id}/actions', body)
    return view.address('clusters', cluster_id, done='recovery')
