"""Tests of strategies, services and audit templates."""

import pathlib

#: Some of the names that watcherlite and Watcher have in common.
GOALS = {'dummy', 'server_consolidation', 'unclassified'}
STRATEGIES = {
    ('actuator', 'unclassified'),
    ('dummy', 'dummy'),
    ('dummy_with_scorer', 'dummy'),
}
SCOPE = """\
- compute:
  - host_aggregates:
    - id: 1
  - exclude:
    - compute_nodes:
      - name: node1
"""
SCOPE_READ = [
    {
        'compute': [
            {'host_aggregates': [{'id': 1}]},
            {'exclude': [{'compute_nodes': [{'name': 'node1'}]}]},
        ]
    }
]


class CatalogTests:
    """Commands on goals, strategies, scoring engines, services and the data model."""

    def test_goals_are_listed_and_shown(self):
        listed = self.json('goal', 'list')
        detailed = self.plain('goal', 'list', '--detail', '--sort-key', 'name')
        by_name = self.json('goal', 'show', 'dummy')

        self.assertEqual({'UUID', 'Name', 'Display name'}, set(listed[0]))
        self.assertLessEqual(GOALS, {goal['Name'] for goal in listed})
        self.assertEqual(
            sorted(g['Name'] for g in listed), [g['Name'] for g in detailed]
        )
        self.assertEqual(
            {
                'UUID': by_name['UUID'],
                'Name': 'dummy',
                'Display name': 'Dummy goal',
                'Efficacy specification': [],
            },
            by_name,
        )
        self.assertEqual(by_name, self.json('goal', 'show', by_name['UUID']))
        self.assertEqual(by_name, self.json('goal', 'show', 'DUMMY'))
        self.assertIn(
            'Goal nothing could not be found', self.refusal('goal', 'show', 'nothing')
        )

    def test_strategies_are_listed_and_shown(self):
        listed = self.json('strategy', 'list')
        of_goal = self.column('Name', 'strategy', 'list', '--goal', 'unclassified')
        shown = self.json('strategy', 'show', 'dummy')

        self.assertEqual({'UUID', 'Name', 'Display name', 'Goal'}, set(listed[0]))
        self.assertLessEqual(STRATEGIES, {(s['Name'], s['Goal']) for s in listed})
        self.assertEqual(['actuator'], of_goal)
        self.assertEqual(
            ['UUID', 'Name', 'Display name', 'Goal', 'Parameters spec'], list(shown)
        )
        self.assertEqual(
            ('Dummy strategy', 'dummy'), (shown['Display name'], shown['Goal'])
        )
        self.assertIn('"para1"', shown['Parameters spec'])
        self.assertIn(
            'Strategy nothing could not be found',
            self.refusal('strategy', 'show', 'nothing'),
        )

    def test_the_requirements_of_a_strategy_are_shown(self):
        needs = self.json('strategy', 'state', 'dummy')

        self.assertEqual(
            [
                ('Datasource', False, ''),
                ('Metrics', False, ''),
                ('CDM', False, ''),
                ('Name', '', ''),
            ],
            [(need['Type'], need['Mandatory'], need['Comment']) for need in needs],
        )
        self.assertEqual('dummy', needs[-1]['State'])

    def test_scoring_engines_are_listed_and_shown(self):
        listed = self.json('scoringengine', 'list')
        detailed = self.plain('scoringengine', 'list', '--detail')
        shown = self.json('scoringengine', 'show', 'dummy_scorer')

        self.assertEqual(
            [
                ('dummy_avg_scorer', 'Dummy Scorer calculating the average value'),
                ('dummy_max_scorer', 'Dummy Scorer calculating the maximum value'),
                ('dummy_min_scorer', 'Dummy Scorer calculating the minimum value'),
                ('dummy_scorer', 'Dummy workload classifier'),
            ],
            [(row['Name'], row['Description']) for row in listed],
        )
        self.assertEqual([row['Name'] for row in listed], [r['Name'] for r in detailed])
        self.assertEqual(['UUID', 'Name', 'Description', 'Metainfo'], list(shown))
        self.assertIn('"workloads": ["idle", ', shown['Metainfo'])
        self.assertEqual(shown, self.json('scoringengine', 'show', shown['UUID']))
        self.assertIn(
            'ScoringEngine nothing could not be found',
            self.refusal('scoringengine', 'show', 'nothing'),
        )

    def test_the_services_of_this_process_are_active(self):
        listed = self.json('service', 'list')
        shown = self.plain('service', 'show', str(listed[0]['ID']))

        self.assertEqual(
            [
                ('watcher-applier', 'host-1', 'ACTIVE'),
                ('watcher-decision-engine', 'host-1', 'ACTIVE'),
            ],
            sorted((s['Name'], s['Host'], s['Status']) for s in listed),
        )
        self.assertEqual({**listed[0], 'Last seen up': 'NAIVE'}, shown)
        self.assertEqual(
            ['NAIVE'] * 2,
            [s['Last seen up'] for s in self.plain('service', 'list', '--detail')],
        )
        self.assertIn(
            'Service 4711 could not be found', self.refusal('service', 'show', '4711')
        )

    def test_the_data_model_is_empty(self):
        self.assertEqual([], self.json('datamodel', 'list'))
        self.assertEqual(
            [], self.json('datamodel', 'list', '--type', 'compute', '--detail')
        )
        self.assertIn('storage', self.refusal('datamodel', 'list', '--type', 'storage'))

    def test_the_data_model_of_an_audit_is_empty(self):
        uuid = self.json('audit', 'create', '-g', 'dummy')['UUID']

        self.assertEqual([], self.json('datamodel', 'list', '--audit', uuid))


class TemplateTests:
    """Commands on audit templates."""

    def test_a_template_is_created_updated_and_deleted(self):
        scope = pathlib.Path(self.home) / 'scope.yaml'
        scope.write_text(SCOPE)
        created = self.plain(
            *('audittemplate', 'create', 'nightly', 'dummy', '-s', 'dummy'),
            *('-d', 'every night', '--scope', str(scope)),
        )
        changed = self.plain(
            *('audittemplate', 'update', 'nightly', 'replace'),
            *('description=every week', 'name=weekly'),
        )
        shown = self.plain('audittemplate', 'show', 'weekly')
        listed = self.column('Name', 'audittemplate', 'list', '--goal', 'dummy')
        detailed = self.plain('audittemplate', 'list', '--detail')
        self.run_silently('audittemplate', 'delete', 'weekly')
        remaining = self.column('Name', 'audittemplate', 'list')

        self.assertEqual(
            {
                'UUID': 'UUID',
                'Created At': 'AWARE',
                'Updated At': None,
                'Deleted At': None,
                'Description': 'every night',
                'Name': 'nightly',
                'Goal': 'dummy',
                'Strategy': 'dummy',
                'Audit Scope': SCOPE_READ,
                # In the API only since 1.7; the client always shows a column for it.
                'Default Parameters': '',
            },
            created,
        )
        self.assertEqual(
            {
                **created,
                'Updated At': 'AWARE',
                'Name': 'weekly',
                'Description': 'every week',
            },
            changed,
        )
        self.assertEqual(changed, shown)
        self.assertIn('weekly', listed)
        self.assertIn(changed, detailed)
        self.assertNotIn('weekly', remaining)

    def test_attributes_are_added_and_removed_and_several_templates_deleted(self):
        for name in ('first', 'second'):
            self.json('audittemplate', 'create', name, 'dummy', '-s', 'dummy')

        added = self.json('audittemplate', 'update', 'first', 'add', 'description=new')
        removed = self.json(
            'audittemplate', 'update', 'first', 'remove', 'description', 'strategy'
        )
        self.run_silently('audittemplate', 'delete', 'first', 'second')
        remaining = self.column('Name', 'audittemplate', 'list')

        self.assertEqual(('new', 'dummy'), (added['Description'], added['Strategy']))
        self.assertEqual((None, None), (removed['Description'], removed['Strategy']))
        self.assertEqual(set(), {'first', 'second'} & set(remaining))

    def test_a_template_has_default_parameters_from_1_7_on(self):
        created = self.json(
            *('audittemplate', 'create', 'parameters', 'dummy', '-s', 'dummy'),
            *('-p', 'para1=2', '-p', 'para2=hello'),
            version='1.7',
        )
        audit = self.json(
            'audit', 'create', '-a', 'parameters', '--name', 'with parameters'
        )
        early = self.refusal(
            *('audittemplate', 'create', 'early', 'dummy', '-s', 'dummy'),
            *('-p', 'para1=2'),
        )

        self.assertEqual({'para1': 2, 'para2': 'hello'}, created['Default Parameters'])
        self.assertEqual({'para1': 2, 'para2': 'hello'}, audit['Parameters'])
        self.assertIn('Minimum required version is 1.7', early)
