import json

from tests.unit.api.test_app import AppCase, operation
from watcherlite import exceptions
from watcherlite.api.event_streams import TooManyStreams
from watcherlite.api.operation import Response


def raising(error):
    """Return an operation that raises an error."""

    def call(request):
        raise error

    return call


class TestResponses(AppCase):
    """Responses and exceptions of operations."""

    def answer(self, call):
        return self.ask(self.app({'/v1/x': {'GET': operation(call)}}), 'GET', '/v1/x')

    def test_response_has_status_headers_and_body_of_operation(self):
        answer = self.answer(
            lambda r: Response({'name': 'ä'}, 201, {'Location': 'http://api/v1/x/1'})
        )

        self.assertEqual((201, {'name': 'ä'}), (answer.status, answer.body))
        self.assertEqual('application/json', answer.headers['Content-Type'])
        self.assertEqual('http://api/v1/x/1', answer.headers['Location'])

    def test_stream_is_sent_in_chunks_and_closed(self):
        events = []

        class Stream:
            def __iter__(self):
                yield b'data: 1\n\n'
                yield b'data: 2\n\n'

            def close(self):
                events.append('closed')

        answer = self.answer(lambda r: Response(stream=Stream()))

        self.assertEqual(b'data: 1\n\ndata: 2\n\n', answer.data)
        self.assertEqual('text/event-stream', answer.headers['Content-Type'])
        self.assertEqual('no-store', answer.headers['Cache-Control'])
        self.assertEqual(['closed'], events)

    def test_each_exception_maps_to_status_and_hides_secrets(self):
        for error, status in (
            (exceptions.Invalid('amqp://u:secret@host'), 400),
            (exceptions.InvalidDocument(['a', 'b']), 400),
            (exceptions.PluginNotFound('No.'), 400),
            (exceptions.Unauthorized(), 401),
            (exceptions.Forbidden('No.'), 403),
            (exceptions.NotFound('No.'), 404),
            (exceptions.NotAcceptable('No.'), 406),
            (exceptions.Conflict('No.'), 409),
            (exceptions.TransitionNotAllowed('No.'), 409),
            (TooManyStreams('No.'), 503),
            (exceptions.PluginError('secret'), 500),
            (ValueError('secret'), 500),
            (KeyError('secret'), 500),
            (exceptions.StoreUnavailable('secret'), 503),
            (exceptions.StoreConflict('secret'), 503),
            (exceptions.SchemaMismatch('secret'), 503),
            (MemoryError('secret'), 503),
        ):
            with self.subTest(error=error):
                answer = self.answer(raising(error))

                self.assertEqual(status, answer.status)
                self.assertNotIn(b'secret', answer.data)

    def test_error_body_matches_watcher(self):
        answer = self.answer(raising(exceptions.Conflict('It runs.')))

        inner = {'faultcode': 'Client', 'faultstring': 'It runs.', 'debuginfo': None}
        self.assertEqual({'error_message': json.dumps(inner)}, answer.body)

    def test_unexpected_error_is_logged_but_hidden_from_client(self):
        answer = self.answer(raising(ZeroDivisionError('division of secrets')))

        inner = json.loads(answer.body['error_message'])
        self.assertEqual('Server', inner['faultcode'])
        self.assertEqual(
            'Internal server error. See the log of the API under the request id req-1.',
            inner['faultstring'],
        )
        self.assertIn('Request req-1, GET /v1/x', self.log.output)
        self.assertIn('division of secrets', self.log.output)

    def test_unavailable_store_and_excess_stream_return_retry_after(self):
        away = 'The database is not available. Try again later.'
        for error, expected in (
            (TooManyStreams('5 streams are open'), ('10', '5 streams are open')),
            (exceptions.StoreUnavailable('at 10.0.0.1'), ('2', away)),
        ):
            answer = self.answer(raising(error))

            self.assertEqual(expected, (answer.headers['Retry-After'], answer.fault))
            if isinstance(error, TooManyStreams):
                self.assertNotIn('failed with', self.log.output)
