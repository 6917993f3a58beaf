"""The built-in action types with the context and the signals of a worker."""

import functools
import os
import threading

from tests import base, bounded
from tests.functional.plugins.http_server import Server
from tests.worlds import WorldCase, action
from watcherlite import exceptions
from watcherlite.clock import SystemClock
from watcherlite.destinations import WITH_LOOPBACK
from watcherlite.domain.actions import Action
from watcherlite.execution.context import Context
from watcherlite.plugins import options
from watcherlite.plugins.action_types import processes
from watcherlite.plugins.action_types.command import Command
from watcherlite.plugins.action_types.http_request import HttpRequest
from watcherlite.states import action as states

UUID = '7a6b0d9c-53c7-4d3e-9d3b-3f1f6f1c7e55'


def pid_in(path):
    """Return the process id that a command has written to a file, or None."""
    text = path.read_text() if path.exists() else ''
    return int(text) if text.endswith('\n') else None


class TestSignals(base.TestCase):
    def execute(self, kind, inputs, timeout=60, **values):
        """Execute in a thread; return the context and a function to wait for it."""
        context = Context(Action(UUID, 'x', id=1, inputs=inputs), None, SystemClock())
        context.set_deadline(timeout)
        context.mark_started()
        instance = kind(options.standalone_group(kind, values))
        instance.read_destinations = lambda: WITH_LOOPBACK
        ends = []

        def run():
            try:
                ends.append(instance.execute(context))
            except (exceptions.Cancelled, exceptions.TimedOut) as error:
                ends.append(type(error).__name__)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()

        def end():
            thread.join(bounded.TIMEOUT)
            self.assertFalse(thread.is_alive(), 'the action did not end')
            return ends[0]

        return context, end

    def command(self, script, **settings):
        return self.execute(
            Command,
            {'argv': ['/bin/sh', '-c', script]},
            allowed=['/bin/sh -c {value}'],
            kill_grace=1,
            **settings,
        )

    def test_a_command_ends_with_a_cancel_and_with_its_deadline(self):
        # A poll would notice the signal only after the test.
        self.patch(processes, '_SLICE', 3600.0)
        for signal, timeout, outcome in (
            (states.CANCEL, 60, 'Cancelled'),
            (None, 1, 'TimedOut'),
        ):
            written = self.home / outcome
            context, end = self.command(
                f'echo $$ > {written}; exec sleep 60', timeout=timeout
            )

            if signal:
                bounded.wait_until(functools.partial(pid_in, written))
                context.deliver(signal)

            self.assertEqual(outcome, end())
            # On a busy machine the deadline expires before the command writes it.
            if pid := pid_in(written):
                self.assertRaises(ProcessLookupError, os.kill, pid, 0)


class Request(HttpRequest):
    """HttpRequest with its default options."""

    def __init__(self, given=None):
        super().__init__(options.standalone_group(HttpRequest))


class TestRequests(WorldCase):
    def test_a_request_ends_with_a_cancel_and_with_its_deadline(self):
        for signal, timeout, outcome in (
            (states.CANCEL, 60, ('CANCELLED', 'Action was cancelled while it ran.')),
            (
                *(None, 1),
                ('FAILED', 'Action failed in execute: it ran longer than its timeout'),
            ),
        ):
            server = self.useFixture(Server(lambda exchange, request: exchange.hang()))
            world = self.create_world({'http_request': Request})
            world.worker()
            inputs = {'method': 'GET', 'url': server.url, 'retries': 0}
            plan = world.start(
                action('a', 'http_request', input_parameters=inputs, timeout=timeout)
            )

            if signal:
                server.wait_until_received()
                world.plans.signal_action(world.action('a').uuid, signal)

            world.wait_until_ended(plan)
            ended = world.action('a')
            self.assertEqual(outcome, (ended.status, ended.status_message))
