"""The pages of clusters and nodes."""

from typing import Any
from urllib import parse

from tests import base
from tests.contract.cluster_case import (
    cluster_event,
    make_binding,
    make_cluster,
    make_node,
    make_policy,
    make_profile,
)
from tests.factories import at, make_action, store_actions
from tests.functional.api.fixtures import ApiFixture, ProjectFixture
from tests.functional.dashboard.test_pages import HOSTILE
from tests.functional.dashboard.visitor import Shown, Visitor
from watcherlite.api import authentication
from watcherlite.api.operation import Caller
from watcherlite.dashboard.views import View
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.clusters import Cluster, Node, Owner

OWNER = Owner('default', 'ada')
ABSENT = '00000000-0000-4000-8000-000000000000'
TYPE = 'os.heat.value-1.0'
SPEC = {'type': 'os.heat.value', 'version': '1.0', 'properties': {'value': 'x'}}


class ClusterCase(base.TestCase):
    """A visitor of a cluster with a healthy, a failed and a marked node."""

    fixture: type[ApiFixture] = ApiFixture

    def setUp(self) -> None:
        super().setUp()
        self.site = self.fixture.of(self)
        self.visitor = Visitor(self.site.application)
        self.store = self.site.runtime.store
        with self.store.transaction() as tx:
            self.profile = tx.insert_object(
                make_profile(
                    name='small',
                    type=TYPE,
                    handler='OS::Heat::Value',
                    spec=SPEC,
                    owner=OWNER,
                )
            )
        self.web = self.add_cluster(
            'web',
            desired_capacity=3,
            min_size=1,
            max_size=5,
            status='WARNING',
            status_reason='number of active nodes is below desired_capacity (3).',
        )
        self.one, self.two, self.three = (
            self.add_node(f'web-{index}', index=index, **values)
            for index, values in enumerate(
                (
                    {'status': 'ACTIVE', 'attributes': {'ip': '192.0.2.7'}},
                    {'status': 'ERROR', 'status_reason': 'no answer'},
                    {
                        'status': 'ERROR',
                        'status_reason': 'too slow',
                        'data': {'unhealthy': 'too slow'},
                    },
                ),
                1,
            )
        )
        self.cluster_path = f'/dashboard/clusters/{self.web.uuid}'
        self.node_path = f'/dashboard/nodes/{self.two.uuid}'

    def add_cluster(self, name: str, **values: Any) -> Cluster:
        given = {'name': name, 'owner': OWNER, 'status': 'ACTIVE', **values}
        with self.store.transaction() as tx:
            return tx.insert_object(make_cluster(self.profile, **given))

    def add_node(self, name: str, **values: Any) -> Node:
        new = make_node(self.web, name=name, handler='OS::Heat::Value', **values)
        with self.store.transaction() as tx:
            return tx.insert_object(new)

    def requested(self) -> list[tuple[str, str | None, dict[str, Any]]]:
        """Return type, target and inputs of the unfinished actions."""
        listed = self.visitor._client.simulate_get(
            '/clustering/v1/actions', host='localhost'
        )
        return [
            (action['action'], action['target'], action['inputs'])
            for action in listed.json['actions']
            if action['status'] == 'READY'
        ]

    def alert(self, page: Shown) -> str | None:
        """Return the CSS class of the error on a page."""
        return next(
            (given['class'] for _, given in page.tags if given.get('role') == 'alert'),
            None,
        )


class TestOverview(ClusterCase):
    def test_unhealthy_clusters_and_missing_workers_are_on_the_overview(self) -> None:
        self.add_cluster('batch', max_size=-1, status='ACTIVE')

        page = self.visitor.get('/dashboard')

        self.assertIn(
            'Unhealthy clusters △ WARNING web : number of active nodes is below '
            'desired_capacity (3).',
            page.text,
        )
        self.assertNotIn('batch', page.text)
        self.assertIn('✗ FAILED Lane applier: no live worker', page.text)


class TestClusters(ClusterCase):
    def test_the_list_shows_status_size_profile_and_message(self) -> None:
        self.add_cluster('batch', max_size=-1, status='RESIZING')

        page = self.visitor.get('/dashboard/clusters')

        self.assertEqual('web', page.links[self.cluster_path])
        self.assertIn(
            'web △ WARNING 3 3 / 1 / 5 small number of active nodes is below '
            'desired_capacity (3).',
            page.text,
        )
        self.assertIn('batch ↻ RESIZING 0 0 / 0 / unlimited small', page.text)
        self.assertNotIn('All projects', page.text)

    def test_the_list_is_filtered_by_status_and_name(self) -> None:
        other = self.add_cluster('batch')
        for query, expected in (
            ('status=ACTIVE', [other]),
            ('name=web', [self.web]),
            ('', [other, self.web]),
        ):
            with self.subTest(query):
                page = self.visitor.get(f'/dashboard/clusters?{query}')
                self.assertEqual(
                    [f'/dashboard/clusters/{cluster.uuid}' for cluster in expected],
                    [link for link in page.links if '/clusters/' in link],
                )

    def test_the_lists_are_searched_by_text_time_and_user(self) -> None:
        cluster, node = self.cluster_path, self.node_path
        for path, expected in (
            ('clusters?text=BELOW+desired', [cluster]),
            ('clusters?since=2026-03-29&until=2026-03-30&user=ada', [cluster]),
            ('clusters?until=2026-03-28', []),
            ('clusters?user=eve', []),
            ('nodes?text=NO+answer&cluster_id=web', [node]),
            ('nodes?text=web-2&since=2026-03-29', [node]),
            ('nodes?since=2026-03-31', []),
        ):
            with self.subTest(path):
                page = self.visitor.get(f'/dashboard/{path}')
                found = [link for link, text in page.links.items() if 'web' in text]
                self.assertEqual(expected, found)
                if not expected:
                    noun = path.partition('s?')[0]
                    self.assertIn(f'No {noun} matches. Clear the filters', page.text)

    def test_the_list_has_pages(self) -> None:
        for number in range(60):
            self.add_cluster(f'a{number:02}')
        names: list[str] = []
        path = '/dashboard/clusters?status=ACTIVE&text=a&user=ada&since=2026-03-01'
        while path:
            page = self.visitor.get(path)
            names += [t for link, t in page.links.items() if '/clusters/' in link]
            path = next((a for a, t in page.links.items() if t == 'Next page'), '')
        # Within limits of time, the latest first.
        self.assertEqual([f'a{number:02}' for number in reversed(range(60))], names)

    def test_an_empty_list_names_the_command_that_creates_a_cluster(self) -> None:
        page = self.visitor.get('/dashboard/clusters?name=nothing')
        self.assertIn('watcherlite cluster create', page.text)

    def test_an_invalid_filter_is_refused_in_the_words_of_the_api(self) -> None:
        page = self.visitor.get('/dashboard/clusters?status=GONE')
        self.assertEqual(400, page.status)
        self.assertIn('GONE', page.text)

    def test_a_cluster_shows_its_nodes_and_the_reasons_of_their_health(self) -> None:
        page = self.visitor.get(self.cluster_path)

        self.assertIn('Status △ WARNING', page.text)
        self.assertIn('web-1 ● ACTIVE 1', page.text)
        self.assertIn('web-2 ✗ ERROR 2 – small no answer', page.text)
        self.assertIn('Marked as unhealthy: too slow', page.text)
        self.assertEqual('web-2', page.links[self.node_path])

    def test_a_cluster_shows_its_policies_actions_and_events(self) -> None:
        with self.store.transaction() as tx:
            policy = tx.insert_object(make_policy(name='scale', owner=OWNER))
            tx.lock_clusters([self.web.uuid])
            tx.insert_binding(make_binding(self.web, policy, enabled=False))
            tx.add_events(
                [
                    cluster_event(self.web, phase='error', message='it failed'),
                    cluster_event(self.two, self.web, type='NODE_CHECK'),
                ]
            )
        store_actions(
            self.store,
            make_action(
                action_type='NODE_CHECK',
                target=self.two.uuid,
                within=self.web.uuid,
                lane=ENGINE,
                tenant='default',
                status='FAILED',
                status_message='no route',
                start_time=at(0),
                end_time=at(7),
            ),
        )

        page = self.visitor.get(self.cluster_path)

        self.assertIn('scale senlin.policy.scaling-1.0 no 50', page.text)
        self.assertIn('NODE_CHECK ✗ FAILED web-2', page.text)
        self.assertIn('7.0 s no route', page.text)
        self.assertIn('cluster web CLUSTER_CHECK error it failed', page.text)
        self.assertIn('node web-2 NODE_CHECK start', page.text)

    def test_a_cluster_without_nodes_and_policies_names_the_commands(self) -> None:
        other = self.add_cluster('batch')
        page = self.visitor.get(f'/dashboard/clusters/{other.uuid}')
        for text in ('cluster resize', 'cluster policy attach', 'No action'):
            self.assertIn(text, page.text)

    def test_a_large_cluster_links_to_the_list_of_its_nodes(self) -> None:
        for index in range(4, 60):
            self.add_node(f'web-{index}', index=index, status='ACTIVE')

        page = self.visitor.get(self.cluster_path)
        path = next(a for a, text in page.links.items() if text == 'All 59 nodes')
        names: list[str] = []
        while path:
            page = self.visitor.get(path)
            names += [t for a, t in page.links.items() if '/nodes/' in a]
            path = next((a for a, t in page.links.items() if t == 'Next page'), '')

        self.assertEqual([f'web-{index}' for index in range(1, 60)], names)

    def test_lists_that_the_policies_refuse_are_left_out(self) -> None:
        self.patch(View, 'allows', lambda view, rule, project=None: False)
        for path in (self.cluster_path, self.node_path):
            with self.subTest(path):
                page = self.visitor.get(path)
                self.assertEqual(200, page.status)
                self.assertEqual([], [t for t, _ in page.tags if t == 'table'])
                self.assertNotIn('No action', page.text)


class TestNodes(ClusterCase):
    def test_a_node_shows_its_cluster_its_details_and_its_status_reason(self) -> None:
        for node, expected in (
            (self.one, ('Status ● ACTIVE', '"ip": "192.0.2.7"', 'index 1')),
            (self.two, ('Status ✗ ERROR', 'Status reason no answer', 'no details')),
            (self.three, ('Marked as unhealthy too slow',)),
        ):
            with self.subTest(node.name):
                page = self.visitor.get(f'/dashboard/nodes/{node.uuid}')
                self.assertEqual('web', page.links[self.cluster_path])
                for text in expected:
                    self.assertIn(text, page.text)

    def test_a_node_without_a_cluster_is_in_the_list_of_nodes(self) -> None:
        alone = self.add_node('alone', cluster_id=None, index=-1, status='CREATING')

        listed = self.visitor.get('/dashboard/nodes?status=CREATING')
        page = self.visitor.get(f'/dashboard/nodes/{alone.uuid}')

        self.assertIn('alone ↻ CREATING – none', listed.text)
        self.assertNotIn(self.node_path, listed.links)
        self.assertIn('Cluster none', page.text)

    def test_an_empty_list_names_the_command_that_creates_a_node(self) -> None:
        page = self.visitor.get('/dashboard/nodes?name=nothing')
        self.assertIn('watcherlite node create', page.text)

    def test_a_missing_object_is_an_error_page_with_the_text_of_the_api(self) -> None:
        for path in ('clusters', 'nodes'):
            for name in (ABSENT, parse.quote('☃')):
                with self.subTest(f'{path}/{name}'):
                    page = self.visitor.get(f'/dashboard/{path}/{name}')
                    self.assertEqual(404, page.status)
                    self.assertIn(parse.unquote(name), page.text)
                    self.assertIn('could not be found', page.text)


class TestForms(ClusterCase):
    def test_a_cluster_is_checked_on_request(self) -> None:
        page = self.visitor.get(self.cluster_path)
        self.assertEqual([], page.unasked())
        self.assertEqual([], self.visitor.get(self.node_path).unasked())

        page = self.visitor.submit(page, '/check')

        self.assertIn('The check was requested.', page.text)
        self.assertIn('CLUSTER_CHECK ○ READY cluster', page.text)
        self.assertEqual([('CLUSTER_CHECK', self.web.uuid, {})], self.requested())

    def test_a_cluster_is_recovered_with_the_chosen_options(self) -> None:
        page = self.visitor.get(self.cluster_path)

        page = self.visitor.submit(
            page, '/recover', operation='RECREATE', check='on', check_capacity='on'
        )

        self.assertIn('The recovery was requested.', page.text)
        inputs = {'operation': 'RECREATE', 'check': True, 'check_capacity': True}
        self.assertEqual([('CLUSTER_RECOVER', self.web.uuid, inputs)], self.requested())

    def test_a_node_is_checked_or_recovered(self) -> None:
        for form, fields, expected in (
            ('check', {}, ('NODE_CHECK', self.two.uuid, {})),
            (
                'recover',
                {'operation': '', 'force_recreate': 'on'},
                ('NODE_RECOVER', self.three.uuid, {'force_recreate': True}),
            ),
        ):
            with self.subTest(form):
                page = self.visitor.get(f'/dashboard/nodes/{expected[1]}')
                page = self.visitor.submit(page, f'/{form}', **fields)
                self.assertIn('was requested.', page.text)
                self.assertIn(f'{expected[0]} ○ READY', page.text)
                self.assertIn(expected, self.requested())

    def test_a_refusal_of_the_api_is_shown_in_the_page(self) -> None:
        for path, operation, status, text in (
            (self.node_path, 'REBUILD', 400, 'REBUILD'),
            (self.cluster_path, 'INVALID', 400, 'INVALID'),
        ):
            with self.subTest(path):
                page = self.visitor.get(path)
                page = self.visitor.submit(page, '/recover', operation=operation)
                self.assertEqual((status, 'error'), (page.status, self.alert(page)))
                self.assertIn(text, page.text)
        self.assertEqual([], self.requested())

    def test_a_busy_cluster_refuses_a_second_request_and_shows_the_first(self) -> None:
        page = self.visitor.get(self.cluster_path)
        self.visitor.submit(page, '/check')

        page = self.visitor.submit(page, '/recover', operation='')

        self.assertEqual((409, 'error'), (page.status, self.alert(page)))
        self.assertIn(
            'conflicts with the following action(s): CLUSTER_CHECK', page.text
        )
        self.assertEqual(1, len(self.requested()))

    def test_each_request_for_a_busy_object_is_refused_in_its_page(self) -> None:
        pages = [
            (self.visitor.get(path), form)
            for path in (self.cluster_path, self.node_path)
            for form in ('check', 'recover')
        ]
        for page, _ in pages[::2]:
            self.visitor.submit(page, '/check')
        before = self.requested()

        for page, form in pages:
            with self.subTest(form):
                shown = self.visitor.submit(page, f'/{form}', operation='')
                self.assertEqual((409, 'error'), (shown.status, self.alert(shown)))
        self.assertEqual(before, self.requested())

    def test_an_object_that_an_action_changes_has_no_buttons(self) -> None:
        busy = self.add_cluster('busy', status='CHECKING')
        page = self.visitor.get(f'/dashboard/clusters/{busy.uuid}')
        self.assertEqual([], page.actions())

    def test_a_form_without_the_token_of_the_browser_changes_nothing(self) -> None:
        self.visitor.get(self.cluster_path)
        for path in (self.cluster_path, self.node_path):
            response = self.visitor.request('POST', f'{path}/check', '')
            self.assertEqual(403, response.status_code)
        self.assertEqual([], self.requested())


class TestTexts(ClusterCase):
    def test_names_and_reasons_are_text_wherever_they_are_shown(self) -> None:
        # The API restricts names, but pages must not depend on that.
        paths = ['/clusters', '/nodes']
        for text in HOSTILE:
            cluster = self.add_cluster(
                text, status_reason=text, metadata={text: text}, data={text: text}
            )
            node = self.add_node(
                text,
                cluster_id=cluster.id,
                index=1,
                role=text,
                status='ERROR',
                status_reason=text,
                attributes={text: text},
                data={'unhealthy': text},
            )
            with self.store.transaction() as tx:
                policy = tx.insert_object(make_policy(name=text, owner=OWNER))
                tx.lock_clusters([cluster.uuid])
                tx.insert_binding(make_binding(cluster, policy, enabled=True))
                tx.add_events([cluster_event(node, cluster, message=text, type=text)])
            store_actions(
                self.store,
                make_action(
                    action_type=text,
                    target=node.uuid,
                    within=cluster.uuid,
                    lane=ENGINE,
                    tenant='default',
                    status='FAILED',
                    status_message=text,
                ),
            )
            paths += [f'/clusters/{cluster.uuid}', f'/nodes/{node.uuid}']
            asked = parse.urlencode({'name': text, 'marker': ABSENT})
            paths += [f'/clusters?{asked}', f'/nodes?{asked}']
        for path in paths:
            with self.subTest(path):
                page = self.visitor.get(f'/dashboard{path}')
                self.assertNotEqual(500, page.status)
                scripts = [given for tag, given in page.tags if tag == 'script']
                self.assertEqual(
                    [{'type': 'module', 'src': '/dashboard/static/dashboard.js'}],
                    scripts,
                )
                for tag, given in page.tags:
                    self.assertNotIn(tag, ('img', 'svg', 'iframe', 'object', 'style'))
                    self.assertEqual(
                        [], [n for n in given if n.startswith('on') or n == 'style']
                    )


class TestRoles(ClusterCase):
    fixture = ProjectFixture

    def log_in(self, user: str, path: str) -> Shown:
        """Return a page after the login of another user."""
        self.visitor.cookie = ''
        form = self.visitor.get(path)
        return self.visitor.submit(form, '/login', user=user, password='secret')

    def test_a_reader_sees_no_buttons_and_a_member_does(self) -> None:
        for user, forms in (
            ('reader', ['logout']),
            ('member', ['logout', 'check', 'recover']),
        ):
            for path in (self.cluster_path, self.node_path):
                with self.subTest(user=user, path=path):
                    page = self.log_in(user, path)
                    self.assertEqual(200, page.status)
                    self.assertEqual(forms, page.actions())

    def test_a_form_that_the_policies_refuse_is_refused_by_the_api(self) -> None:
        for path, rule in (
            (self.cluster_path, 'clusters:action'),
            (self.node_path, 'nodes:action'),
        ):
            with self.subTest(path):
                page = self.log_in('reader', path)
                token = page.form('/logout').hidden['form_token']
                response = self.visitor.request(
                    'POST', f'{path}/check', f'form_token={token}'
                )
                self.assertEqual(403, response.status_code)
                self.assertIn(rule, response.text)


class TestProjects(ClusterCase):
    """Callers with projects, as keystone provides them."""

    def change_caller(
        self, *roles: str, project: str | None = 'there', **values: Any
    ) -> None:
        """Replace the caller of the visitor."""
        caller = Caller(
            user_id='eve', project_id=project, roles=frozenset(roles), **values
        )
        self.patch(authentication, 'SYNTHETIC', caller)

    def test_an_administrator_chooses_between_the_own_and_all_projects(self) -> None:
        self.change_caller('admin')
        for noun, path in (('clusters', self.cluster_path), ('nodes', self.node_path)):
            with self.subTest(noun):
                own = self.visitor.get(f'/dashboard/{noun}')
                everywhere = self.visitor.get(f'/dashboard/{noun}?global_project=true')
                self.assertIn('All projects', own.text)
                self.assertNotIn(path, own.links)
                self.assertIn(path, everywhere.links)

    def test_an_administrator_checks_a_cluster_of_another_project(self) -> None:
        self.change_caller('admin')
        page = self.visitor.get(self.cluster_path)
        self.assertIn(self.node_path, page.links)

        page = self.visitor.submit(page, '/check')

        self.assertIn('CLUSTER_CHECK ○ READY', page.text)

    def test_an_administrator_of_the_system_sees_all_projects(self) -> None:
        self.change_caller('admin', project=None, system_scope='all')
        page = self.visitor.get('/dashboard/clusters')
        self.assertIn(self.cluster_path, page.links)
        self.assertNotIn('All projects', page.text)

    def test_the_objects_of_other_projects_are_not_found(self) -> None:
        self.change_caller('manager')
        for path, status in (
            (self.cluster_path, 404),
            (self.node_path, 404),
            ('/dashboard/clusters', 200),
            ('/dashboard/clusters?global_project=true', 403),
            ('/dashboard/nodes?global_project=true', 403),
        ):
            with self.subTest(path):
                page = self.visitor.get(path)
                self.assertEqual(status, page.status)
                self.assertNotIn('web-2', page.text)

    def test_a_token_without_a_project_is_refused_in_the_words_of_the_api(self) -> None:
        self.change_caller('reader', project=None, system_scope='all')
        page = self.visitor.get('/dashboard/clusters')
        self.assertEqual(403, page.status)
        self.assertIn('The token has no project', page.text)
