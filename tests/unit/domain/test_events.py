"""The ids of events and of their messages."""

import os
import uuid

from tests import base, factories
from watcherlite.domain import events

UUID = '0d6e5c1a-9f0b-4c5d-8e7f-1a2b3c4d5e60'


class TestIds(base.TestCase):
    def test_an_event_has_sixteen_messages_which_differ_in_the_last_digit(self):
        self.assertEqual(
            [f'{UUID[:-1]}{digit}' for digit in '0123456789abcdef'],
            [events.message_id(UUID, index) for index in range(16)],
        )
        error = self.assertRaises(ValueError, events.message_id, UUID, 16)
        self.assertEqual('an event has at most 16 messages, not 17', str(error))
        self.assertRaises(ValueError, events.message_id, UUID, -1)

    def test_a_new_id_is_a_uuid_that_leaves_room_for_the_messages(self):
        made = [events.new_uuid() for _ in range(200)]

        self.assertEqual(made, [str(uuid.UUID(one)) for one in made])
        self.assertEqual({'0'}, {one[-1] for one in made})
        self.assertEqual(200, len(set(made)))

    def test_a_forked_process_generates_other_ids(self):
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            os.write(writing, events.new_uuid().encode())
            os._exit(0)
        self.addCleanup(os.close, reading)
        os.close(writing)
        os.waitpid(pid, 0)

        self.assertNotEqual(events.new_uuid(), os.read(reading, 100).decode())

    def test_no_message_of_one_event_has_an_id_of_another(self):
        plan = factories.make_plan(id=1)
        ids = [
            events.message_id(event.uuid, index)
            for event in (factories.make_event(plan), factories.make_event(plan))
            for index in range(16)
        ]

        self.assertEqual(32, len(set(ids)))

    def test_every_kind_has_a_description(self):
        self.assertEqual(
            {
                *('created', 'state_changed', 'message_changed', 'signalled'),
                *('deleted', 'stepped'),
            },
            set(events.KINDS),
        )
        self.assertEqual(6, len(set(events.KINDS.values())))
