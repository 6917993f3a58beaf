"""Nodes: the list, one node with its details, and its check and recovery."""

from collections.abc import Mapping
from typing import Any

from watcherlite.dashboard.pages import clustering
from watcherlite.dashboard.pages.clustering import API, ROWS
from watcherlite.dashboard.views import SEARCH, PageTable, View
from watcherlite.states import cluster as states

PAGES = PageTable()
_FILTERS = ('cluster_id', 'name', 'status', *SEARCH, 'global_project', 'sort', 'marker')


@PAGES.page('/nodes', 'nodes.html')
def list_nodes(view: View) -> Mapping[str, Any]:
    """List nodes by name, those of a cluster by index."""
    args = view.filters(*_FILTERS)
    more = {
        'sort': clustering.sort_of(args, 'index' if args['cluster_id'] else 'name'),
        'global_project': clustering.projects(view, args['global_project']),
    }
    body = view.api.get(f'{API}/nodes', **{**args, **more}, limit=ROWS)
    return {
        'nodes': [clustering.node_row(node) for node in body['nodes']],
        'statuses': list(states.NODE_STATUSES),
        'filters': args,
        'chooses_projects': clustering.may_choose_projects(view),
        'next': view.next_address(body, args, 'nodes'),
    }


@PAGES.page('/nodes/{node_id}', 'node.html')
def show_node(view: View, node_id: str) -> Mapping[str, Any]:
    """Show a node, its details, and its latest actions and events."""
    found = view.api.get(f'{API}/nodes/{node_id}', show_details='true')['node']
    node = clustering.node_row(found)
    cluster = None
    if node['cluster_id'] and view.allows('clusters:get'):
        cluster = view.api.get(f'{API}/clusters/{node["cluster_id"]}')['cluster']
    return {
        'node': node,
        'cluster': cluster,
        'names': {node['id']: node['name']},
        'actions': clustering.latest_actions(view, target=node['id']),
        'events': clustering.latest_events(view, oid=node['id']),
        'operations': clustering.OPERATIONS,
        'can': clustering.allowed_actions(view, 'nodes:action', node['status']),
    }


@PAGES.form('/nodes/{node_id}/check', show_node)
def check(view: View, node_id: str) -> str:
    """Check a node."""
    view.api.request('POST', f'{API}/nodes/{node_id}/actions', {'check': {}})
    return view.address('nodes', node_id, done='check')


@PAGES.form('/nodes/{node_id}/recover', show_node)
def recover(view: View, node_id: str) -> str:
    """Recover a node."""
    body = clustering.recovery(view, 'check', 'force_recreate')
    view.api.request('POST', f'{API}/nodes/{node_id}/actions', body)
    return view.address('nodes', node_id, done='recovery')
