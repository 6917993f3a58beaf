"""`action logs`: pages, streams, and hostile output."""

import json

from tests.functional.cli import api_objects
from tests.functional.cli.fake_api import ApiCommandCase, fault, stream

UUID = api_objects.ACTION_UUID
ACTION = f'GET /v1/actions/{UUID}'
LOGS = f'{ACTION}/logs'
END = b'event: end\ndata: {}\n\n'


def make_entry(sequence, text, stream='stdout'):
    return {
        'sequence': sequence,
        'logged_at': f'2026-11-23T12:00:0{sequence}.000000+00:00',
        'attempt': 1,
        'stream': stream,
        'text': text,
    }


def encode_stream(*entries):
    """Return log entries as they are in a stream."""
    return ''.join(
        f'id: {one["sequence"]}\ndata: {json.dumps(one)}\n\n' for one in entries
    ).encode()


class ActionLogsTest(ApiCommandCase):
    def setUp(self):
        super().setUp()
        self.api.responses[ACTION] = api_objects.copy_with(
            api_objects.ACTION, state='SUCCEEDED'
        )

    def test_all_pages_of_a_log_are_printed(self):
        follow = f'{self.api.url}/v1/actions/{UUID}/logs?after=2&limit=1000'
        self.api.responses[f'{LOGS}?limit=1000'] = {
            'logs': [make_entry(1, 'a\nb\n'), make_entry(2, 'warning', 'stderr')],
            'next': follow,
        }
        self.api.responses[f'{LOGS}?after=2&limit=1000'] = {
            'logs': [make_entry(3, 'c\n')]
        }
        stamp = '2026-11-23T12:00:0{}.000000+00:00 {} '
        cases = {
            (): 'a\nb\nwarning\nc\n',
            ('--stream', 'stderr'): 'warning\n',
            ('--timestamps', '--stream', 'stdout'): ''.join(
                stamp.format(number, 'stdout') + text
                for number, text in ((1, 'a\n'), (1, 'b\n'), (3, 'c\n'))
            ),
        }
        for options, expected in cases.items():
            code, out, err = self.call('action', 'logs', UUID, *options)
            self.assertEqual((0, expected, ''), (code, out, err), options)

    def test_follow_prints_a_stream_to_its_end(self):
        self.api.responses[LOGS] = stream(
            b': events follow\n\n',
            encode_stream(make_entry(1, 'a\n')),
            encode_stream(make_entry(2, 'b\n')),
            END,
        )
        self.assertEqual((0, 'a\nb\n', ''), self.call('action', 'logs', '-f', UUID))

    def test_follow_polls_an_api_without_streams_until_the_action_ends(self):
        self.api.responses[LOGS] = fault(404, 'no stream')
        self.api.responses[f'{LOGS}?after=0&limit=1000'] = {
            'logs': [make_entry(1, 'a\n')]
        }
        self.assertEqual((0, 'a\n', ''), self.call('action', 'logs', '-f', UUID))

    def test_control_characters_in_logs_are_escaped(self):
        text = 'a\x1b]0;title\x07\tb\r\n\x9b31mred\u202e\n'
        self.api.responses[f'{LOGS}?limit=1000'] = {'logs': [make_entry(1, text)]}
        code, out, _ = self.call('action', 'logs', UUID)
        self.assertEqual(
            (0, 'a\\x1b]0;title\\x07\tb\n\\x9b31mred\\u202e\n'), (code, out)
        )

    def test_unknown_actions_and_unsupported_microversions_are_reported(self):
        text = 'API microversion 1.8 or higher is required.'
        self.api.responses[f'{LOGS}?limit=1000'] = fault(404, text)
        code, message = self.fail('action', 'logs', UUID)
        self.assertEqual(2, code)
        self.assertIn('1.8', message)
        self.api.responses[ACTION] = fault(404, 'Action could not be found.')
        code, message = self.fail('action', 'logs', '-f', UUID)
        self.assertEqual(2, code)
        self.assertIn('Action could not be found', message)
