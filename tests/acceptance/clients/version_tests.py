"""Tests of pagination, and of the clients with each version of the API."""

import json

from tests.acceptance.clients.audit_tests import SHORT


class PageTests:
    """`list --limit`, which follows the links of a collection to its end."""

    def test_a_list_is_read_page_by_page_with_its_filter(self):
        # The solution would contain identical actions only once.
        actions = [
            {'action_type': 'nop', 'input_parameters': {'message': str(number)}}
            for number in range(7)
        ]
        proposed = f'actions={json.dumps(actions)}'
        argv = ('-g', 'unclassified', '-s', 'actuator', '-p', proposed)
        plans = []
        for name in ('page-1', 'page-2'):
            audit = self.audit(name, *argv)
            plans += self.column('UUID', 'actionplan', 'list', '--audit', audit)
        of_plan = ('action', 'list', '--action-plan', plans[0])

        whole = self.column('UUID', *of_plan)
        ascending = self.column('UUID', *of_plan, '--limit', '0', '--sort-key', 'uuid')
        descending = self.column(
            *('UUID', *of_plan, '--limit', '5'),
            *('--sort-key', 'UUID', '--sort-dir', 'desc'),
        )
        after = self.column('UUID', *of_plan, '--limit', '3', '--marker', whole[1])

        self.assertEqual(7, len(whole))
        self.assertEqual(sorted(whole), ascending)
        self.assertEqual(sorted(whole, reverse=True)[:5], descending)
        self.assertEqual(whole[2:5], after)

    def test_every_collection_has_pages(self):
        plan = self.dummy_plan('of pages')
        self.json('audittemplate', 'create', 'of pages', 'dummy')
        nouns = ('goal', 'strategy', 'audittemplate', 'audit', 'actionplan', 'action')

        for noun in nouns:
            key = ('--sort-key', 'uuid')
            whole = self.column('UUID', noun, 'list', *key)
            paged = self.column('UUID', noun, 'list', *key, '--limit', '0')
            one = self.column('UUID', noun, 'list', *key, '--limit', '1', '--detail')

            self.assertEqual(sorted(whole), whole, noun)
            self.assertEqual(whole, paged, noun)
            self.assertEqual(whole[:1], one, noun)
        services = self.column('ID', 'service', 'list', '--limit', '1')
        self.assertEqual(1, len(services))
        self.assertIn(plan, self.column('UUID', 'actionplan', 'list'))

    def test_an_invalid_page_is_refused(self):
        unknown = '6f1e2d3c-4b5a-4978-8899-aabbccddeeff'

        marker = self.refusal('audit', 'list', '--marker', unknown)
        bad_marker = self.refusal('action', 'list', '--limit', '1', '--marker', 'x')

        self.assertIn(f'{unknown} could not be found', marker)
        self.assertIn('(HTTP 404)', marker)
        self.assertIn('(HTTP 400)', bad_marker)


class VersionTests:
    """The option --os-infra-optim-api-version selects the version."""

    def test_fields_of_later_versions_are_not_shown(self):
        plan = self.dummy_plan('of versions')
        audit = self.json('actionplan', 'show', plan)['Audit']
        action = self.column('UUID', 'action', 'list', '--action-plan', plan)[0]
        shown = {
            (noun, version): set(self.json(noun, 'show', uuid, version=version))
            for noun, uuid in (
                ('audit', audit),
                ('actionplan', plan),
                ('action', action),
            )
            for version in ('1.0', '1.5', '1.7')
        }

        self.assertEqual(
            {'Start Time', 'End Time', 'Force', 'Status Message'},
            shown['audit', '1.5'] - shown['audit', '1.0'],
        )
        for noun in ('actionplan', 'action'):
            self.assertEqual(
                {'Status Message'}, shown[noun, '1.5'] - shown[noun, '1.0'], noun
            )
        for noun in ('audit', 'actionplan', 'action'):
            self.assertEqual(shown[noun, '1.5'], shown[noun, '1.7'], noun)

    def test_the_complete_workflow_works_with_the_oldest_version(self):
        audit = self.audit(
            *('oldest', '-g', 'unclassified', '-s', 'actuator'),
            *('-p', f'actions={SHORT}'),
            version='1.0',
        )
        (plan,) = self.column(
            'UUID', 'actionplan', 'list', '--audit', audit, version='1.0'
        )
        action = self.column(
            'UUID', 'action', 'list', '--action-plan', plan, version='1.0'
        )[0]

        skip = self.refusal(
            'action', 'update', action, '--state', 'SKIPPED', version='1.0'
        )
        model = self.refusal('datamodel', 'list', version='1.0')
        self.json('actionplan', 'start', plan, version='1.0')
        ended = self.show_in_state('actionplan', plan, 'SUCCEEDED', 'FAILED')

        self.assertIn('Minimum required version is 1.5', skip)
        self.assertIn('not supported by the requested version', model)
        self.assertEqual('SUCCEEDED', ended['State'])

    def test_an_unknown_version_is_refused_with_the_known_ones(self):
        text = self.refusal('goal', 'list', version='1.99')

        self.assertIn('Requested API version 1.99 is not supported by the server', text)
        self.assertIn('Supported version range is 1.0 to 1.8', text)
