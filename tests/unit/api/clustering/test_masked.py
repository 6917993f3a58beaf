"""Credentials in the data of clusters are never shown."""

from tests import base
from tests.contract.cluster_case import make_cluster, make_node, make_profile
from watcherlite.api.clustering.handlers import clusters, nodes, specs

WRITTEN = {'password': 'S3cret', 'argv': ['x', '--token', 'S3cret'], 'tier': 'web'}
SHOWN = {'password': '***', 'argv': ['x', '--token', '***'], 'tier': 'web'}


class TestMetadata(base.TestCase):
    def test_credentials_in_metadata_are_masked(self) -> None:
        profile = make_profile(metadata=WRITTEN).stored(1)
        cluster = make_cluster(profile, metadata=WRITTEN, config=WRITTEN).stored(1)
        node = make_node(cluster, metadata=WRITTEN).stored(1)

        shown = clusters._represent_row(cluster, None, [], [])

        self.assertEqual(
            [SHOWN] * 4,
            [
                shown['metadata'],
                shown['config'],
                nodes._represent_row(node, None, None)['metadata'],
                specs.profile(profile)['metadata'],
            ],
        )
