"""The microversions of the clustering API: those of Senlin, and one of ours."""

from typing import Any

from watcherlite.api.microversions import Versions
from watcherlite.api.operation import Version

CLUSTERING = Versions(
    'clustering',
    {
        (1, 0): 'The beginning.',
        (1, 1): 'Clusters, nodes, profiles, policies, receivers, webhooks, actions and '
        'events, as the first release had them.',
        (1, 2): 'GET /clusters/{id}/attrs/{path} collects from nodes; specs of '
        'profiles and policies can be validated.',
        (1, 3): 'Clusters take replace_nodes.',
        (1, 4): 'Operations of profile types, of nodes and of clusters; receivers are '
        'listed by user; del_nodes takes destroy_after_deletion.',
        (1, 5): 'Types of profiles and policies tell their versions and how well these '
        'are supported.',
        (1, 6): 'An update of a cluster takes profile_only, and recover takes check.',
        (1, 7): 'Nodes are adopted; receivers are updated; services; clusters have '
        'config.',
        (1, 8): 'Clusters and nodes are deleted with force.',
        (1, 9): 'Clusters take complete_lifecycle.',
        (1, 10): 'A webhook takes the inputs of its action in its body.',
        (1, 11): 'What scales a cluster is refused with 409 while another action does, '
        'or while a policy wants it to be left alone.',
        (1, 12): 'PATCH /actions/{id} cancels an action.',
        (1, 13): 'Nodes are tainted.',
        (1, 14): 'Actions tell their cluster, and are listed by it.',
        (1, 15): 'Actions are suspended and resumed; POST /actions asks for an action '
        'of any type that is installed, at a time, once or repeatedly; a request with '
        'wait queues behind the action that its target is busy with, and one with '
        'not_before is done at that time; a node is marked unhealthy.',
    },
    is_strict=True,
)

#: The error for clients of an earlier version.
TOO_EARLY = "API version '{version}' is not supported on this method."


def since(version: Version) -> dict[str, Any]:
    """Return the arguments of an operation that a version introduced."""
    return {'since': version, 'too_early': 400, 'too_early_text': TOO_EARLY}
