"""Webhooks, which need no credentials but their token."""

from tests import base
from tests.functional.api import fixtures
from tests.unit.api.requests import ReceivedResponse, ask
from watcherlite.domain.clusters import Owner
from watcherlite.engine.clusters.requests.values import (
    ClusterRequest,
    ReceiverRequest,
    RequestContext,
)

SPEC = {'type': 'os.heat.value', 'version': '1.0', 'properties': {'value': 'x'}}
#: The log contains this instead of the path.
SHOWN = '/clustering/v1/webhooks/{receiver}/trigger'


class TestWebhooks(base.TestCase):
    """The webhooks of a receiver whose cluster is busy."""

    def issue(self, fixture: type[fixtures.ApiFixture]) -> None:
        """Store the receiver in an application; keep its uuid and its token."""
        running = fixture.of(self)
        clusters = running.runtime.clusters
        by = RequestContext(Owner('default', 'ada'), True)
        clusters.profiles.create('sample', SPEC, by)
        clusters.create(ClusterRequest('web', 'sample'), by)
        new = ReceiverRequest('hook', 'webhook', 'web', 'CLUSTER_CHECK')
        issued = clusters.receivers.create(new, by, 'http://127.0.0.1/v1')
        self.uuid, self.token = issued.receiver.uuid, str(issued.token)

    def trigger(self, method: str = 'POST', prefix: str = '/v1', **headers: str):
        url = f'/clustering{prefix}/webhooks/{self.uuid}/trigger?V=2'
        url += f'&token={self.token}'
        application = fixtures.application()
        answer: ReceivedResponse = ask(
            application, method, url, **{'Host': 'localhost', **headers}
        )
        return answer

    def test_webhook_requires_only_its_token_which_is_not_logged(self):
        self.issue(fixtures.ProjectFixture)

        statuses = [
            self.trigger().status,
            self.trigger(prefix='').status,
            self.trigger(authorization='Basic wrong').status,
            self.trigger('GET').status,
        ]

        # The requests are valid, but the cluster is busy.
        self.assertEqual([409, 409, 409, 405], statuses)
        self.assertEqual(4, self.log.output.count(SHOWN))
        self.assertNotIn(self.token, self.log.output)
        self.token = ''
        self.assertEqual(404, self.trigger().status)

    def test_webhook_without_authentication_rejects_foreign_host_and_origin(self):
        self.issue(fixtures.ApiFixture)

        self.assertEqual(409, self.trigger().status)
        self.assertEqual(403, self.trigger(Host='evil.example.org').status)
        self.assertEqual(403, self.trigger(Origin='http://evil.example.org').status)
