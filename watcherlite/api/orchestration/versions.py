"""The one version of the orchestration API, which has no microversions."""

from watcherlite.api.microversions import Versions

ORCHESTRATION = Versions(
    'orchestration',
    {
        (1, 0): 'Stacks and their resources, as clients of Heat speak of them; with '
        'stacks that can be locked.'
    },
    in_headers=False,
)
