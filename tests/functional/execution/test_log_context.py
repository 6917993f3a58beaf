"""The log lines of a worker name the request and the action, in all its threads."""

import logging
from typing import Any

from oslo_log import formatters

from tests.factories import make_action
from tests.functional.execution.test_dispatcher import DispatcherCase
from tests.unit.execution.test_log_context import request_context
from tests.worlds import kind
from watcherlite import conf
from watcherlite.domain.actions import Action
from watcherlite.plugins.base import ActionContext
from watcherlite.states import action as states

PLUGIN = logging.getLogger('acme.plugin')
FORMAT = '[%(request_id)s %(user_identity)s] %(instance)s%(message)s'


class Lines(logging.Handler):
    """Records lines as oslo.log formats them."""

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


class LoggedTest(DispatcherCase):
    """The lines of plugins and of the worker itself."""

    def setUp(self) -> None:
        super().setUp()
        self.handler = Lines()
        # The fixture of all tests handles these loggers as well.
        for name in ('acme', 'watcherlite.execution'):
            logger = logging.getLogger(name)
            logger.addHandler(self.handler)
            self.addCleanup(logger.removeHandler, self.handler)

    def make_action_of(self, number: int, **values: Any) -> Action:
        values = {'action_type': 'says', 'context': request_context(number), **values}
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
        # The second action is prepared in the thread of the first.
        self.create_plan(
            self.make_action_of(1),
            self.make_action_of(2, parents=('uuid-1',)),
            self.make_action_of(3, context={}),
        )
        for name in ('a1', 'a2', 'a3'):
            self.wait_for_status(name, states.SUCCEEDED)

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

    def test_a_line_of_the_watchdog_has_the_request_and_the_action(self) -> None:
        gate = self.create_gate()

        def stays(context: ActionContext) -> bool:
            gate(context)
            PLUGIN.warning('came back')
            return True

        self.build({'says': kind(execute=stays)}, signal_grace=5)
        self.create_plan(self.make_action_of(1, timeout=10))
        gate.wait_until_entered()
        for _ in range(2):
            self.clock.advance(11)
            self.dispatcher._watchdog.check()
        self.wait_for_status('a1', states.FAILED)
        gate.open()
        self.wait_until(lambda: len(self.handler.lines) == 2)

        who = '[req-1 user-1 project-1] [action: uuid-1] '
        self.assertEqual([True, True], [w.startswith(who) for w in self.handler.lines])
        self.assertIn('ignores its deadline in execute', self.handler.lines[0])
        self.assertIn('came back', self.handler.lines[1])
