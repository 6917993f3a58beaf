"""The page of services and of their health."""

from tests import base
from tests.factories import make_worker
from tests.functional.api.fixtures import ApiFixture, ProjectFixture, ServicesFixture
from tests.functional.dashboard.test_pages import HOSTILE
from tests.functional.dashboard.visitor import Visitor
from watcherlite import conf
from watcherlite.domain.actions import LANES

PATH = '/dashboard/services'


class DisabledFixture(ApiFixture):
    """A machine that an operator has disabled."""

    def configure(self, configuration: conf.Configuration) -> None:
        mark = self.directory / 'disabled'
        mark.touch()
        configuration.set_override('healthcheck_disable_file', str(mark), 'api')


class TestServices(base.TestCase):
    def test_each_service_has_its_host_its_status_and_its_time(self) -> None:
        site = ServicesFixture.of(self)

        page = Visitor(site.application).get(PATH)

        self.assertEqual(200, page.status)
        self.assertIn('watcher-applier applier alpha ● ACTIVE', page.text)
        self.assertIn('watcher-decision-engine engine beta ✗ FAILED', page.text)
        times = [given for tag, given in page.tags if tag == 'time']
        self.assertEqual(12, len(times))

    def test_without_services_the_page_names_the_daemons_to_start(self) -> None:
        page = Visitor(ApiFixture.of(self).application).get(PATH)
        self.assertIn('watcherlite-engine', page.text)
        self.assertIn('watcherlite standalone', page.text)

    def test_many_services_have_pages(self) -> None:
        site = ApiFixture.of(self)
        for number in range(30):
            host = f'host-{number:02}'
            worker = make_worker(uuid=host, host=host, lanes=LANES)
            site.runtime.store.register_worker(worker, 3600)
        visitor = Visitor(site.application)
        first = visitor.get(PATH)
        path = next(a for a, text in first.links.items() if text == 'Next page')

        second = visitor.get(path)

        self.assertIn('host-00', first.text)
        self.assertIn('watcher-decision-engine engine host-29', second.text)
        self.assertNotIn('Next page', second.links.values())

    def test_hosts_are_text(self) -> None:
        site = ApiFixture.of(self)
        for number, host in enumerate(HOSTILE):
            worker = make_worker(uuid=str(number), host=host, lanes=LANES)
            site.runtime.store.register_worker(worker, 3600)

        page = Visitor(site.application).get(PATH)

        self.assertEqual(200, page.status)
        self.assertEqual(1, sum(tag == 'script' for tag, _ in page.tags))
        self.assertNotIn('img', [tag for tag, _ in page.tags])


class TestHealth(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = ServicesFixture.of(self)
        self.visitor = Visitor(self.site.application)

    def test_the_report_has_the_parts_of_the_service(self) -> None:
        page = self.visitor.get(PATH)

        for text in (
            'Health ✓ OK',
            'Database ✓ OK available',
            'Broker ✓ OK available',
            'Lane applier ✓ OK 2 live workers: alpha, gamma',
            'Outbox ✓ OK no event is pending',
        ):
            self.assertIn(text, page.text)

    def test_a_lane_without_workers_degrades_the_service(self) -> None:
        self.site.runtime.store.end_lease('gamma')

        page = self.visitor.get(PATH)

        self.assertIn('Health △ DEGRADED', page.text)
        self.assertIn('Lane engine ✗ FAILED no live worker', page.text)

    def test_a_disabled_service_is_reported_without_an_error(self) -> None:
        site = DisabledFixture.of(self)

        page = Visitor(site.application).get(PATH)

        self.assertEqual(200, page.status)
        self.assertIn('Health ⊘ DISABLED', page.text)
        self.assertIn('Database ✓ OK available', page.text)

    def test_users_without_the_rule_see_the_plain_health(self) -> None:
        site = ProjectFixture.of(self)
        for user, is_shown in (('reader', False), ('boss', True)):
            with self.subTest(user):
                visitor = Visitor(site.application)
                form = visitor.get(PATH)
                page = visitor.submit(form, '/login', user=user, password='secret')
                self.assertEqual(200, page.status)
                self.assertEqual(is_shown, 'Database' in page.text)
                self.assertEqual(not is_shown, 'healthcheck:detail' in page.text)
