"""`action logs`: pages, streams, and hostile output."""

import json

from tests.functional.cli import api_objects
from tests.functional.cli.fake_api import RemoteCase, fault, stream

UUID = api_objects.ACTION_UUID
ACTION = f'GET /v1/actions/{UUID}'
LOGS = f'{ACTION}/logs'
END = b'event: end\ndata: {}\n\n'


def entry(sequence, text, stream='stdout'):
    return {
        'sequence': sequence,
        'logged_at': f'2026-11-23T12:00:0{sequence}.000000+00:00',
        'attempt': 1,
        'stream': stream,
        'text': text,
    }


def sent(*entries):
    """Return log entries as they are in a stream."""
    return ''.join(
        f'id: {one["sequence"]}\ndata: {json.dumps(one)}\n\n' for one in entries
    ).encode()


class LogsTest(RemoteCase):
    def setUp(self):
        super().setUp()
        self.api.answers[ACTION] = api_objects.of(api_objects.ACTION, state='SUCCEEDED')

    def test_all_pages_are_shown(self):
        follow = f'{self.api.url}/v1/actions/{UUID}/logs?after=2&limit=1000'
        self.api.answers[f'{LOGS}?limit=1000'] = {
            'logs': [entry(1, 'a\nb\n'), entry(2, 'warning', 'stderr')],
            'next': follow,
        }
        self.api.answers[f'{LOGS}?after=2&limit=1000'] = {'logs': [entry(3, 'c\n')]}
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

    def test_a_stream_is_shown_to_its_end(self):
        self.api.answers[LOGS] = stream(
            b': events follow\n\n', sent(entry(1, 'a\n')), sent(entry(2, 'b\n')), END
        )
        self.assertEqual((0, 'a\nb\n', ''), self.call('action', 'logs', '-f', UUID))

    def test_without_a_stream_the_log_is_polled_until_the_action_has_ended(self):
        self.api.answers[LOGS] = fault(404, 'no stream')
        self.api.answers[f'{LOGS}?after=0&limit=1000'] = {'logs': [entry(1, 'a\n')]}
        self.assertEqual((0, 'a\n', ''), self.call('action', 'logs', '-f', UUID))

    def test_output_cannot_control_the_terminal(self):
        text = 'a\x1b]0;title\x07\tb\r\n\x9b31mred\u202e\n'
        self.api.answers[f'{LOGS}?limit=1000'] = {'logs': [entry(1, text)]}
        code, out, _ = self.call('action', 'logs', UUID)
        self.assertEqual(
            (0, 'a\\x1b]0;title\\x07\tb\n\\x9b31mred\\u202e\n'), (code, out)
        )

    def test_an_unknown_action_and_an_api_before_logs_are_reported(self):
        text = 'API microversion 1.8 or higher is required.'
        self.api.answers[f'{LOGS}?limit=1000'] = fault(404, text)
        code, message = self.fail('action', 'logs', UUID)
        self.assertEqual(2, code)
        self.assertIn('1.8', message)
        self.api.answers[ACTION] = fault(404, 'Action could not be found.')
        code, message = self.fail('action', 'logs', '-f', UUID)
        self.assertEqual(2, code)
        self.assertIn('Action could not be found', message)
