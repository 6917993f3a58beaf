"""The commands on profiles, policies and receivers, which complete immediately."""

import io
import json

import fixtures

from tests.functional.cli.clusters import cluster_objects as shown
from tests.functional.cli.clusters.cluster_case import ROOT, ClusterCase
from tests.functional.cli.fake_api import Reply, error_reply

SPEC = """\
type: local.process
version: "1.0"
properties: {command: [x]}
"""


class ProfilesAndPoliciesTest(ClusterCase):
    """`profile` and `policy`."""

    def setUp(self):
        super().setUp()
        self.spec = self.file(SPEC, 'spec.yaml')

    def test_specs_are_created_and_validated(self):
        for noun, one, found in (
            ('profiles', 'profile', shown.PROFILE),
            ('policies', 'policy', shown.POLICY),
        ):
            for path in (noun, f'{noun}/validate'):
                self.api.responses[f'POST {ROOT}/{path}'] = {one: found}
            self.api.responses[f'PATCH {ROOT}/{noun}/x'] = {one: found}

            made = self.rows(one, 'create', 'server', '--spec', self.spec)
            self.rows(one, 'validate', '--spec', self.spec)
            self.rows(one, 'update', 'x', '--name', 'y')

            self.assertEqual(found['spec'], made['Spec'])
            self.assertEqual(
                [
                    (f'POST /{noun}', {one: {'name': 'server', 'spec': shown.SPEC}}),
                    (f'POST /{noun}/validate', {one: {'spec': shown.SPEC}}),
                    (f'PATCH /{noun}/x', {one: {'name': 'y'}}),
                ],
                self.take_requests(),
            )

    def test_a_profile_is_created_from_json_with_metadata(self):
        self.api.responses[f'POST {ROOT}/profiles'] = {'profile': shown.PROFILE}
        path = self.file(json.dumps(shown.SPEC), 'spec.json')

        self.rows('profile', 'create', 's', '--spec', path, '--metadata', 'tier=web')

        ((_, body),) = self.take_requests()
        found = body['profile']
        self.assertEqual(
            (shown.SPEC, {'tier': 'web'}), (found['spec'], found['metadata'])
        )

    def test_an_invalid_spec_file_is_rejected_without_a_request(self):
        for text, expected in (
            ('- a\n', 'is not a spec'),
            ('a: [\n', 'neither YAML nor JSON'),
            ('a: 1\na: 2\n', 'a'),
        ):
            path = self.file(text, 'bad.yaml')

            code, message = self.fail('profile', 'create', 'x', '--spec', path)

            self.assertEqual(2, code)
            self.assertIn(expected, message)
        self.assertEqual(2, self.fail('policy', 'create', 'x', '--spec', 'no')[0])
        given = io.TextIOWrapper(io.BytesIO(b'[]'))
        self.useFixture(fixtures.MonkeyPatch('sys.stdin', given))
        self.assertEqual(
            'standard input is not a spec: a mapping of type, version and properties',
            self.fail('policy', 'create', 'x', '--spec', '-')[1],
        )
        self.assertEqual([], self.take_requests())

    def test_the_support_status_is_formatted_as_text(self):
        self.api.responses[f'GET {ROOT}/profile-types'] = {
            'profile_types': [
                shown.PROFILE_TYPE,
                {
                    'name': 'old',
                    'version': '1.1',
                    'support_status': {
                        '1.0': [{'status': 'DEPRECATED', 'since': '2026.1'}],
                        '1.1': [{'status': 'SUPPORTED', 'since': '2026.2'}],
                    },
                },
            ]
        }

        table = self.succeed('profile', 'type', 'list')
        exact = self.rows('profile', 'type', 'list')

        for text in (
            '| SUPPORTED since 2026.1 ',
            '| 1.0: DEPRECATED since 2026.1 |',
            '| 1.1: SUPPORTED since 2026.2 ',
        ):
            self.assertIn(text, table)
        self.assertEqual(
            shown.PROFILE_TYPE['support_status'], exact[0]['Support Status']
        )

    def test_delete_continues_after_a_profile_in_use(self):
        text = "The profile 'a' cannot be deleted: it is still used by a node."
        for noun in ('profiles', 'policies', 'receivers'):
            self.api.responses[f'DELETE {ROOT}/{noun}/a'] = error_reply(
                409, 'ResourceInUse', text
            )
            self.api.responses[f'DELETE {ROOT}/{noun}/b'] = Reply(None, 204)
            one = {'policies': 'policy'}.get(noun, noun.removesuffix('s'))

            code, out, err = self.call(one, 'delete', 'a', 'b')

            self.assertEqual((1, '', f'watcherlite: {text}\n'), (code, out, err))
            self.assertEqual(
                [(f'DELETE /{noun}/a',), (f'DELETE /{noun}/b',)], self.take_requests()
            )


class ReceiverTest(ClusterCase):
    """`receiver`."""

    def test_a_receiver_is_created_and_updated(self):
        answer = {'receiver': shown.RECEIVER}
        self.api.responses[f'POST {ROOT}/receivers'] = answer
        self.api.responses[f'PATCH {ROOT}/receivers/more'] = answer

        made = self.rows(
            *('receiver', 'create', 'more', '--cluster', 'web'),
            *('--action', 'CLUSTER_SCALE_OUT', '--param', 'count=2'),
        )
        self.rows('receiver', 'update', 'more', '--name', 'x', '--param', 'count=1')

        self.assertIn('trigger', made['Channel']['alarm_url'])
        self.assertEqual(
            [
                (
                    'POST /receivers',
                    {
                        'receiver': {
                            'name': 'more',
                            'cluster_id': 'web',
                            'action': 'CLUSTER_SCALE_OUT',
                            'type': 'webhook',
                            'params': {'count': 2},
                        }
                    },
                ),
                (
                    'PATCH /receivers/more',
                    {'receiver': {'name': 'x', 'params': {'count': 1}}},
                ),
            ],
            self.take_requests(),
        )
