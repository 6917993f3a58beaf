"""The documentation of clusters agrees with the code."""

import re

import yaml

from tests import base
from tests.unit.test_docs import ROOT, read
from watcherlite.api import errors
from watcherlite.api.clustering.schemas import clusters, nodes
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.profile_types import ProfileTypes
from watcherlite.plugins import base as contracts
from watcherlite.plugins import loader, schemas

EXAMPLES = ROOT / 'etc/watcherlite/examples'
#: Errors that watcherlite does not raise.
UNUSED = {'RequestLimitExceeded'}


class ClustersTest(base.TestCase):
    def test_every_action_and_every_request_is_documented(self):
        for page, names in (
            ('clusters.rst', action_types.DEFINITIONS),
            *(
                ('clustering_api.rst', schema[max(schema)]['properties'])
                for schema in (clusters.ACTIONS, nodes.ACTIONS)
            ),
        ):
            text = read(page)
            self.assertEqual([], [n for n in names if f'``{n}``' not in text], page)

    def test_every_type_of_error_is_documented(self):
        documented = set(re.findall(r'``(\w+)``', read('clustering_api.rst')))

        known = {name for _, name in errors.SENLIN_TYPES}
        self.assertEqual(set(), known - documented - UNUSED)

    def test_the_examples_are_profiles_and_policies(self):
        plugins = loader.load()
        types = ProfileTypes(plugins)
        policies = plugins.loadable(contracts.POLICIES)
        for path in sorted(EXAMPLES.glob('*-policy.yaml')):
            spec = yaml.safe_load(path.read_text())
            policy = policies[f'{spec["type"]}-{spec["version"]}']
            validator = schemas.validator_of(policy.schema, path.name)
            self.assertEqual([], list(validator.iter_errors(spec['properties'])), path)
        profile = yaml.safe_load((EXAMPLES / 'web-profile.yaml').read_text())
        self.assertEqual(
            'Local::Process', types.find(profile['type'], profile['version']).handler
        )
        self.assertLessEqual(
            set(profile['properties']), set(types.find(profile['type']).schema())
        )
