"""The log context of an action."""

from typing import Any

import fixtures
from oslo_context import context as contexts

from tests import base
from tests.factories import make_action
from watcherlite.execution.context import LogContext, log_extra


def request_context(number: int) -> dict[str, Any]:
    """Return the context of an action, which names its request."""
    return {
        'request_id': f'req-{number}',
        'user_id': f'user-{number}',
        'project_id': f'project-{number}',
    }


class LogContextTest(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        # Other tests run in the same thread.
        own = fixtures.MonkeyPatch('oslo_context.context._request_store', _())
        self.useFixture(own)

    def test_a_log_context_has_the_attributes_of_a_request_context(self) -> None:
        log_context = LogContext(make_action(uuid='a', context=request_context(1)))
        log_context.enter()

        found = contexts.get_current()

        assert found is not None
        self.assertEqual(
            ('req-1', 'req-1', 'user-1', 'project-1', 'a', None, []),
            (
                *(found.request_id, found.global_id, found.user_id, found.project_id),
                *(found.resource_uuid, found.auth_token, found.roles),
            ),
        )
        self.assertFalse(hasattr(found, 'what unknown has'))

    def test_a_log_context_without_a_request_has_an_empty_request_id(self) -> None:
        log_context = LogContext(make_action(uuid='a'))

        self.assertEqual('', log_context.request_id)
        self.assertEqual('a', log_context.get_logging_values()['resource_uuid'])

    def test_reading_a_log_context_does_not_change_that_of_the_thread(self) -> None:
        log_context = log_extra(make_action(context=request_context(1)))['context']

        self.assertEqual('req-1', log_context.request_id)
        self.assertIsNone(contexts.get_current())


class _:
    """An empty store of contexts."""
