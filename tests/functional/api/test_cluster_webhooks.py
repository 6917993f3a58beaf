"""Webhooks, which need no credentials but their token."""

from tests import base
from tests.functional.api import fixtures
from tests.unit.api.requests import Answered, ask
from watcherlite.domain.clusters import Owner
from watcherlite.engine.clusters.requests.values import (
    ClusterRequest,
    ReceiverRequest,
    RequestContext,
)

SPEC = {'type': 'os.heat.value', 'version': '1.0', 'properties': {'value': 'x'}}
#: What the log has instead of the address.
SHOWN = '/clustering/v1/webhooks/{receiver}/trigger'


class WebhookCase(base.TestCase):
    """A receiver of a cluster that is busy."""

    fixture: type[fixtures.ApiFixture]

    def setUp(self) -> None:
        super().setUp()
        running = self.fixture.of(self)
        clusters = running.runtime.clusters
        by = RequestContext(Owner('default', 'ada'), True)
        clusters.profiles.create('thing', SPEC, by)
        clusters.create(ClusterRequest('web', 'thing'), by)
        new = ReceiverRequest('hook', 'webhook', 'web', 'CLUSTER_CHECK')
        issued = clusters.receivers.create(new, by, 'http://127.0.0.1/v1')
        self.uuid, self.token = issued.receiver.uuid, str(issued.token)

    def trigger(self, method: str = 'POST', prefix: str = '/v1', **headers: str):
        url = f'/clustering{prefix}/webhooks/{self.uuid}/trigger?V=2'
        url += f'&token={self.token}'
        application = fixtures.application()
        answer: Answered = ask(
            application, method, url, **{'Host': 'localhost', **headers}
        )
        return answer


class TestWithAuthentication(WebhookCase):
    fixture = fixtures.ProjectFixture

    def test_the_log_does_not_have_the_address(self):
        statuses = [
            self.trigger().status,
            self.trigger(prefix='').status,
            self.trigger('GET').status,
        ]

        # It is asked for, and busy
        self.assertEqual([409, 409, 405], statuses)
        self.assertEqual(3, self.log.output.count(SHOWN))
        self.assertNotIn(self.token, self.log.output)

    def test_other_credentials_are_not_looked_at(self):
        self.assertEqual(409, self.trigger(authorization='Basic wrong').status)

    def test_without_its_token_it_is_not_there(self):
        self.token = ''

        self.assertEqual(404, self.trigger().status)


class TestWithoutAuthentication(WebhookCase):
    fixture = fixtures.ApiFixture

    def test_this_machine_may_trigger(self):
        self.assertEqual(409, self.trigger().status)

    def test_a_web_page_from_elsewhere_may_not(self):
        self.assertEqual(403, self.trigger(Host='evil.example.org').status)
        self.assertEqual(403, self.trigger(Origin='http://evil.example.org').status)
