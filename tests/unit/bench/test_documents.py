"""Tests of tests.bench.documents."""

import json
import re
from typing import Any

from tests import base
from tests.bench import documents

ACTIONS = (
    '0c9f3a52-7a0e-4e7e-9b5c-4a1f6f0c1e11',
    '5d2e8f10-3b64-4a68-8d0c-9a7b1c2d3e44',
)


def unwrapped(message: documents.Message) -> dict[str, Any]:
    """Return the inner document."""
    inner: dict[str, Any] = json.loads(json.loads(message[1])['oslo.message'])
    return inner


def without_ids_and_times(body: bytes) -> str:
    """Return a body whose ids and digits, which differ each time, are blanks."""
    text = re.sub('[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}', '_', body.decode())
    return re.sub('[0-9]', '_', text)


class TestDocuments(base.TestCase):
    """What the ceiling publishes."""

    def test_each_action_has_two_messages_a_change_with_its_own_ids(self) -> None:
        for kind in (documents.DICTIONARIES, documents.TEMPLATE):
            made = [*documents.began(kind)(ACTIONS), *documents.ended(kind)(ACTIONS)]

            inner = [unwrapped(message) for message in made]
            said = [
                (
                    message['event_type'],
                    message['payload']['watcher_object.data']['uuid'],
                    message['payload']['watcher_object.data']['state'],
                )
                for message in inner
            ]
            self.assertEqual(
                [
                    (event_type, action, state)
                    for state, event_types in (
                        ('ONGOING', ('action.update', 'action.execution.start')),
                        ('SUCCEEDED', ('action.update', 'action.execution.end')),
                    )
                    for action in ACTIONS
                    for event_type in event_types
                ],
                said,
                kind,
            )
            ids = [message['message_id'] for message in inner]
            self.assertEqual(len(ids), len(set(ids)), kind)
            self.assertEqual(
                [text.replace('-', '') for text in ids],
                [message['_unique_id'] for message in inner],
                kind,
            )

    def test_both_ways_of_making_them_make_the_same_ones(self) -> None:
        made = [
            [without_ids_and_times(body) for _, body in documents.began(kind)(ACTIONS)]
            for kind in (documents.DICTIONARIES, documents.TEMPLATE)
        ]

        self.assertEqual(made[0], made[1])
