"""What is logged while an action is worked on says for whom, and about which."""

import logging
from typing import Any

import fixtures
from oslo_context import context as contexts
from oslo_log import formatters

from tests import base
from tests.factories import make_action
from tests.unit.execution.test_dispatcher import DispatcherCase
from tests.worlds import kind
from watcherlite import conf
from watcherlite.domain.actions import Action
from watcherlite.execution.context import LogContext, about
from watcherlite.plugins.base import ActionContext
from watcherlite.states import action as states

PLUGIN = logging.getLogger('acme.plugin')
FORMAT = '[%(request_id)s %(user_identity)s] %(instance)s%(message)s'


class Lines(logging.Handler):
    """Keeps lines as oslo.log writes them."""

    def __init__(self) -> None:
        super().__init__()
        configuration = conf.new([])
        configuration.set_override('logging_context_format_string', FORMAT)
        configuration.set_override(
            'logging_user_identity_format', '%(user)s %(project)s'
        )
        configuration.set_override('logging_default_format_string', FORMAT)
        self.setFormatter(formatters.ContextFormatter(config=configuration))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


def asked(number: int) -> dict[str, Any]:
    """Return the context of an action."""
    return {
        'request_id': f'req-{number}',
        'user_id': f'user-{number}',
        'project_id': f'project-{number}',
    }


class LogContextTest(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        # The thread of the tests is one that others run in.
        own = fixtures.MonkeyPatch('oslo_context.context._request_store', _())
        self.useFixture(own)

    def test_it_is_what_libraries_expect_of_a_context(self) -> None:
        said = LogContext(make_action(uuid='a', context=asked(1)))
        said.enter()

        found = contexts.get_current()

        assert found is not None
        self.assertEqual(
            ('req-1', 'req-1', 'user-1', 'project-1', 'a', None, []),
            (
                *(found.request_id, found.global_id, found.user_id, found.project_id),
                *(found.resource_uuid, found.auth_token, found.roles),
            ),
        )
        self.assertFalse(hasattr(found, 'what nobody has'))

    def test_it_makes_no_request_up(self) -> None:
        said = LogContext(make_action(uuid='a'))

        self.assertEqual('', said.request_id)
        self.assertEqual('a', said.get_logging_values()['resource_uuid'])

    def test_to_be_read_by_a_thread_does_not_make_it_that_of_the_thread(self) -> None:
        said = about(make_action(context=asked(1)))['context']

        self.assertEqual('req-1', said.request_id)
        self.assertIsNone(contexts.get_current())


class _:
    """A store of contexts that is empty."""


class LoggedTest(DispatcherCase):
    """Lines of a worker: of plugins, of itself, in any of its threads."""

    def setUp(self) -> None:
        super().setUp()
        self.handler = Lines()
        # Where the fixture of all tests listens, too.
        for name in ('acme', 'watcherlite.execution'):
            logger = logging.getLogger(name)
            logger.addHandler(self.handler)
            self.addCleanup(logger.removeHandler, self.handler)

    def an_action(self, number: int, **values: Any) -> Action:
        values = {'action_type': 'says', 'context': asked(number), **values}
        return make_action(uuid=f'uuid-{number}', name=f'a{number}', **values)

    def test_each_line_of_a_plugin_has_the_request_and_the_action(self) -> None:
        def says(step: str) -> Any:
            return lambda context: PLUGIN.warning('%s of %s', step, context.name)

        self.build(
            {
                'says': kind(
                    pre_condition=says('pre_condition'),
                    execute=lambda context: says('execute')(context) is None,
                    post_condition=says('post_condition'),
                )
            },
            max_parallel=1,
        )
        # The second one is checked in the thread of the first.
        self.a_plan(
            self.an_action(1),
            self.an_action(2, parents=('uuid-1',)),
            self.an_action(3, context={}),
        )
        for name in ('a1', 'a2', 'a3'):
            self.until_status(name, states.SUCCEEDED)

        steps = ('pre_condition', 'execute', 'post_condition')
        for number in (1, 2):
            who = f'[req-{number} user-{number} project-{number}]'
            self.assertEqual(
                [f'{who} [action: uuid-{number}] {s} of a{number}' for s in steps],
                [line for line in self.handler.lines if f' a{number}' in line],
            )
        self.assertEqual(
            [f'[ - -] [action: uuid-3] {step} of a3' for step in steps],
            [line for line in self.handler.lines if ' a3' in line],
        )

    def test_what_the_worker_says_of_it_elsewhere_has_them_too(self) -> None:
        gate = self.a_gate()

        def stays(context: ActionContext) -> bool:
            gate(context)
            PLUGIN.warning('came back')
            return True

        self.build({'says': kind(execute=stays)}, signal_grace=5)
        self.a_plan(self.an_action(1, timeout=10))
        gate.until_entered()
        for _ in range(2):
            self.clock.advance(11)
            self.dispatcher._watchdog.check()
        self.until_status('a1', states.FAILED)
        gate.open()
        self.until(lambda: len(self.handler.lines) == 2)

        who = '[req-1 user-1 project-1] [action: uuid-1] '
        self.assertEqual([True, True], [w.startswith(who) for w in self.handler.lines])
        self.assertIn('ignores its deadline in execute', self.handler.lines[0])
        self.assertIn('came back', self.handler.lines[1])
