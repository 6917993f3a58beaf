"""Built-in plugins have no effect once the lease of their worker has expired."""

from tests import base
from tests.bounded import TIMEOUT
from tests.functional.plugins.http_server import Server
from watcherlite import testing
from watcherlite.clock import SystemClock
from watcherlite.plugins.action_types.command import Command
from watcherlite.plugins.action_types.http_request import HttpRequest
from watcherlite.plugins.resource_handlers import process_table
from watcherlite.plugins.resource_handlers.local_file import LocalFile
from watcherlite.plugins.resource_handlers.local_process import LocalProcess

SLEEP = ['/bin/sleep', '600']


def make_context_without_lease():
    """Return the context of an action whose worker has lost its lease."""
    context = testing.FakeContext()
    context.lease_lost = True
    return context


class FenceTest(base.TestCase):
    def test_no_command_is_started(self):
        path = self.home / 'made'

        ended = testing.run_action(
            Command,
            {'argv': ['/usr/bin/touch', str(path)]},
            options={'allowed': [f'/usr/bin/touch {path}']},
            context=make_context_without_lease(),
        )

        self.assertEqual(('FAILED', False), (ended.status, path.exists()))

    def test_no_request_is_sent(self):
        server = Server(lambda exchange, request: None)
        self.useFixture(server)

        ended = testing.run_action(
            HttpRequest,
            {'method': 'POST', 'url': server.url},
            context=make_context_without_lease(),
        )

        self.assertEqual(('FAILED', []), (ended.status, server.received))

    def test_no_file_is_written_and_none_deleted(self):
        path = self.home / 'motd'
        run = testing.ResourceRun(LocalFile, options={'directories': [str(self.home)]})
        run.lease_lost = True
        refused = run.create({'path': str(path), 'content': 'new'})
        self.assertEqual(('FAILED', False), (refused.status, path.exists()))

        run.lease_lost = False
        run.create({'path': str(path), 'content': 'new'})
        run.lease_lost = True
        for operate in (run.lock, run.delete):
            self.assertEqual('FAILED', operate().status)

        self.assertEqual(
            ('new', 0o644), (path.read_text(), path.stat().st_mode & 0o777)
        )

    def test_no_process_is_started_and_none_stopped(self):
        run = testing.ResourceRun(
            LocalProcess,
            options={
                'allowed': [' '.join(SLEEP)],
                'directories': [str(self.home)],
                'log_directory': str(self.home),
            },
            clock=SystemClock(),
            timeout=TIMEOUT,
        )
        run.lease_lost = True
        self.assertEqual('FAILED', run.create({'argv': SLEEP}).status)
        self.assertEqual([], process_table.of_resource(run.uuid))

        run.lease_lost = False
        run.create({'argv': SLEEP})
        self.addCleanup(run.delete)
        before = process_table.of_resource(run.uuid)
        run.lease_lost = True
        for operate in (run.suspend, run.delete):
            self.assertEqual('FAILED', operate().status)

        self.assertEqual(
            (1, before), (len(before), process_table.of_resource(run.uuid))
        )
        run.lease_lost = False
