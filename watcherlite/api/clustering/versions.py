"""The microversions of the clustering API: those of Senlin, and one of our own."""

from typing import Any

from watcherlite.api.microversions import Versions
from watcherlite.api.operation import Version

CLUSTERING = Versions(
    'clustering',
    {
        (1, 0): 'First version.',
        (1, 1): 'Clusters, nodes, profiles, policies, receivers, webhooks, actions and '
        'events, as the first release had them.',
        (1, 2): 'GET /clusters/{id}/attrs/{path} collects values from nodes; '
        'specifications of profiles and policies can be validated.',
        (1, 3): 'Clusters take replace_nodes.',
        (1, 4): 'Operations of profile types, of nodes and of clusters; receivers are '
        'listed by user; del_nodes takes destroy_after_deletion.',
        (1, 5): 'Profile and policy types show their versions and the support status '
        'of these.',
        (1, 6): 'An update of a cluster takes profile_only, and recover takes check.',
        (1, 7): 'Nodes can be adopted and receivers updated; services; clusters have '
        'config.',
        (1, 8): 'Clusters and nodes can be deleted with force.',
        (1, 9): 'Clusters take complete_lifecycle.',
        (1, 10): 'The body of a webhook request contains the inputs of the action.',
        (1, 11): 'Scaling a cluster is rejected with 409 during another scaling '
        'action or a cooldown.',
        (1, 12): 'PATCH /actions/{id} cancels an action.',
        (1, 13): 'Nodes have tainted.',
        (1, 14): 'Actions have cluster_id, which is also a filter.',
        (1, 15): 'Actions can be suspended and resumed; POST /actions requests an '
        'action of any installed type, optionally scheduled or repeated; a '
        'request with wait is queued behind the running action of its '
        'target, a request with not_before is scheduled; a node can be '
        'marked unhealthy; clusters and nodes are searched by text, user, since '
        'and until.',
    },
    is_strict=True,
)

#: The version that introduced the search of clusters and nodes.
SEARCH: Version = (1, 15)

#: The error for earlier versions.
TOO_EARLY = "API version '{version}' is not supported on this method."


def since(version: Version) -> dict[str, Any]:
    """Return the arguments of an operation that a version introduced."""
    return {'since': version, 'too_early': 400, 'too_early_text': TOO_EARLY}
