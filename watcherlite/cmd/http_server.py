"""The HTTP server of the API: waitress, with limits on the resources of a client.

One thread receives requests and sends responses for all connections. Only complete
requests are passed to the worker threads, so a slow client occupies a connection and
never a thread.
"""

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib import parse

from waitress import adjustments, channel, parser, server, task, utilities, wasyncore

LOG = logging.getLogger(__name__)

#: The backlog of the socket.
BACKLOG = 128
#: Seconds that a connection may be idle between two requests.
IDLE = 30
#: Seconds between two checks of the deadlines.
INTERVAL = 1
#: The header Server.
SOFTWARE = 'watcherlite'
#: Maximum number of bytes of the framing of a chunked body.
FRAMING = 65536
#: Memory for the bodies of incomplete and queued requests, in maximum-size bodies.
HELD_BODIES = 32
#: Bytes of bodies received between two checks of that memory.
UNCHECKED = 1024 * 1024

_SLASH = '%2F'
_TIMED_OUT = (
    b'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'
)


class _TooLarge(utilities.RequestEntityTooLarge):
    """A body that is too large; the application answers, in its error format."""


class _Parser(parser.HTTPRequestParser):
    """The parser of waitress, with stricter checks of targets and lengths."""

    error: Any
    body_rcv: Any
    completed: bool
    body_bytes_received: int

    def received(self, data: bytes) -> int:
        """Parse received bytes; the application refuses a body that is too large."""
        consumed: int = super().received(data)
        limit = self.adj.max_request_body_size
        if not self.completed and getattr(self.body_rcv, 'chunk_remainder', 0) >= limit:
            # The client has announced the length and may never send the body.
            self.body_bytes_received += limit
            self.error = utilities.RequestEntityTooLarge(f'exceeds max_body of {limit}')
            self.completed = True
        if type(self.error) is utilities.RequestEntityTooLarge:
            self.error = _TooLarge(self.error.body)
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the request line and the headers.

        :raises ParsingError: it is not one
        """
        try:
            super().parse_header(header_plus)
        except ValueError:
            # Python limits the number of digits.
            raise parser.ParsingError('Content-Length is invalid') from None
        if not self.path.startswith('/'):
            raise parser.ParsingError('The request target must start with a slash')

    def buffered_bytes(self) -> int:
        """Return the bytes of the body that were received."""
        return 0 if self.body_rcv is None else len(self.body_rcv)


class _WSGITask(task.WSGITask):
    """A request for the application."""

    def get_environment(self) -> dict[str, Any]:
        """Return the WSGI environment; encoded slashes in the path stay encoded."""
        environ: dict[str, Any] = super().get_environment()
        path = self.request.request_uri.partition('?')[0].partition('#')[0]
        if _SLASH in path.upper():
            environ['PATH_INFO'] = '/' + _unquoted(path).lstrip('/')
        return environ

    def set_close_on_finish(self) -> None:
        """Close the connection after the response, unless that has no body.

        waitress closes it after each response without a length, also after 204 and 304,
        which end with their headers.
        """
        closes = self.request.headers.get('CONNECTION', '').lower() == 'close'
        if self.has_body or closes or self.version != '1.1':
            super().set_close_on_finish()


class _OversizedTask(_WSGITask):
    """A request whose body is too large: the application gets only its length."""

    def start(self) -> None:
        """Close the connection after the response: the rest of the body is not read."""
        super().start()
        self.set_close_on_finish()

    def get_environment(self) -> dict[str, Any]:
        """Return the WSGI environment, with a length above the limit."""
        environ = super().get_environment()
        length = max(self.request.content_length, self.request.body_bytes_received)
        environ['CONTENT_LENGTH'] = str(length)
        return environ


def _error_task(connection: '_Channel', request: _Parser) -> task.Task:
    if isinstance(request.error, _TooLarge):
        return _OversizedTask(connection, request)
    return task.ErrorTask(connection, request)


class _Channel(channel.HTTPChannel):
    """A connection with deadlines; only `write_soon` runs in worker threads."""

    parser_class = _Parser
    request: Any
    task_class = _WSGITask
    error_task_class = staticmethod(_error_task)

    def __init__(self, *args: Any, **options: Any) -> None:
        self.opened = time.monotonic()
        self._receiving_since: float | None = self.opened
        self._enqueued = 0
        self._owed: tuple[int, float] | None = None
        super().__init__(*args, **options)

    @property
    def is_served(self) -> bool:
        """Return whether a request is queued or in progress."""
        return bool(self.requests)

    @property
    def is_receiving(self) -> bool:
        """Return whether a request, or the first one, is still incomplete."""
        return self._receiving_since is not None and not self.requests

    @property
    def since(self) -> float:
        """Return the time since which the server waits for the client."""
        return self._receiving_since or self.opened

    def readable(self) -> bool:
        """Return whether more data may be received."""
        request = self.request
        if self.server.is_full and request is not None and request.headers_finished:
            return False
        return bool(super().readable())

    def received(self, data: bytes) -> bool:
        """Receive bytes, and record the start of an incomplete request."""
        before = self.request
        had = self._receiving_since
        result = bool(super().received(data))
        if self.request is None:
            self._receiving_since = None
        elif had is None or (before is not None and self.request is not before):
            self._receiving_since = time.monotonic()
        self.server.count_received(len(data))
        return result

    def write_soon(self, data: Any) -> int:
        """Enqueue a part of a response; called by worker threads."""
        count: int = super().write_soon(data)
        self._enqueued += count
        return count

    def buffered_bytes(self) -> int:
        """Return the size of the bodies in memory for this connection."""
        requests = [*self.requests, self.request]
        return sum(
            request.buffered_bytes() for request in requests if request is not None
        )

    def check_deadlines(self, timeout: float) -> None:
        """Close the connection if its client exceeds a deadline.

        :param timeout: seconds to send a whole request, and to receive a response
        """
        now = time.monotonic()
        if self._is_output_late(now, timeout):
            LOG.info(
                '%s did not receive its response within %g s', self.addr[0], timeout
            )
            self.handle_close()
        elif self.requests or self.total_outbufs_len:
            if self._receiving_since is not None:
                # Receiving was paused in the meantime.
                self._receiving_since = now
        elif self._receiving_since is not None:
            if now - self._receiving_since > timeout:
                self._reject_timeout()
        elif time.time() - self.last_activity > IDLE:
            self.handle_close()

    def _is_output_late(self, now: float, timeout: float) -> bool:
        pending = self.total_outbufs_len
        if not pending:
            self._owed = None
            return False
        # Later parts of a stream have their own deadline.
        if self._owed is None or self._enqueued - pending >= self._owed[0]:
            self._owed = (self._enqueued, now)
            return False
        return now - self._owed[1] > timeout

    def _reject_timeout(self) -> None:
        """Answer 408 if the client reads, and close the connection."""
        LOG.info('%s did not complete its request in time', self.addr[0])
        if self.request is not None:
            try:
                self.socket.send(_TIMED_OUT)
            except OSError:
                LOG.debug('%s has closed the connection', self.addr[0])
        self.handle_close()

    def handle_close(self) -> None:
        """Close the connection and release its memory."""
        request, self.request = self.request, None
        if request is not None:
            request.close()
        super().handle_close()


class _Threads(task.ThreadedTaskDispatcher):
    """The worker threads."""

    def add_task(self, task: Any) -> None:
        """Enqueue a request, without waitress' warning about the queue."""
        with self.lock:
            self.queue.append(task)
            self.queue_cv.notify()


class _Server(server.TcpWSGIServer):
    """The server of waitress, with limits on connections and their memory."""

    channel_class = _Channel

    def __init__(
        self, *args: Any, max_connections: int, timeout: float, **options: Any
    ) -> None:
        self._max_connections = max_connections
        self._timeout = timeout
        self._unchecked = 0
        self._next_check = time.monotonic()
        #: Whether receiving of bodies is paused.
        self.is_full = False
        self.draining = False
        super().__init__(*args, **options)

    def readable(self) -> bool:
        """Return whether connections are accepted."""
        return bool(super().readable()) and not self.draining

    def handle_accept(self) -> None:
        """Accept a connection; if there are too many, close another one."""
        victim = None
        if len(self.active_channels) >= self._max_connections:
            victim = next(self._closable_channels(), None)
            if victim is None:
                self._reject()
                return
        super().handle_accept()
        # Only now: otherwise the new connection could get its descriptor, and the
        # events of this poll that belong to the victim.
        if victim is not None:
            victim.handle_close()

    def maintenance(self, now: float) -> None:
        """Do nothing; see `enforce_deadlines`.

        It is called while the descriptors of a poll are collected. That of a connection
        closed meanwhile would be reported as invalid, and a new connection that gets
        the same number in this poll would be closed for it.
        """

    def enforce_deadlines(self) -> None:
        """Enforce the deadlines, every `INTERVAL` seconds.

        Called after a poll, when everything that has arrived is received.
        """
        now = time.monotonic()
        if now < self._next_check:
            return
        self._next_check = now + INTERVAL
        for connection in list(self.active_channels.values()):
            connection.check_deadlines(self._timeout)
        self._check_held()

    def count_received(self, size: int) -> None:
        """Count received bytes."""
        self._unchecked += size
        if self._unchecked >= UNCHECKED:
            self._check_held()

    def is_drained(self) -> bool:
        """Close connections without a request; return whether none is left."""
        for connection in list(self.active_channels.values()):
            if not connection.requests and not connection.total_outbufs_len:
                connection.handle_close()
        return not self.active_channels

    def _check_held(self) -> None:
        self._unchecked = 0
        most = HELD_BODIES * self.adj.max_request_body_size
        held = {
            key: item.buffered_bytes() for key, item in self.active_channels.items()
        }
        total = sum(held.values())
        if total > most:
            for connection in list(self._closable_channels()):
                size = held.get(connection.fileno(), 0)
                if size and connection.is_receiving:
                    LOG.warning(
                        'More than %d bytes of requests are being received; the '
                        'connection of %s is closed',
                        most,
                        connection.addr[0],
                    )
                    connection.handle_close()
                    total -= size
                if total <= most:
                    break
        self.is_full = total > most

    def _closable_channels(self) -> Iterator[_Channel]:
        """Return the connections that may be closed: idle ones, then slow ones."""
        connections = [
            connection
            for connection in self.active_channels.values()
            if not connection.is_served and not connection.total_outbufs_len
        ]
        return iter(
            sorted(connections, key=lambda item: (item.is_receiving, item.since))
        )

    def _reject(self) -> None:
        """Close a new connection at once."""
        try:
            connection, _ = self.socket.accept()
        except OSError:
            return
        connection.close()


class HttpServer:
    """Serves a WSGI application on a listening socket.

    :param threads: number of worker threads
    :param max_connections: maximum number of open connections
    :param max_header_size: maximum size of the request line and the headers in bytes
    :param max_body_size: maximum size of a body in bytes; of a larger one the
        application gets only the length
    :param timeout: seconds in which a client has to send a whole request, and to
        receive a response
    """

    def __init__(
        self,
        listening: socket.socket,
        application: Callable[..., Iterable[bytes]],
        threads: int,
        *,
        max_connections: int = 512,
        max_header_size: int = 65536,
        max_body_size: int = 4 * 1024 * 1024,
        timeout: float = 60,
    ) -> None:
        self.listening = listening
        self._application = application
        self._threads = threads
        self._max_connections = max_connections
        self._timeout = timeout
        self._adjustments = adjustments.Adjustments(
            ident=SOFTWARE,
            server_name=SOFTWARE,
            threads=threads,
            backlog=BACKLOG,
            # Our own limit closes another connection instead of accepting none.
            connection_limit=1_000_000,
            max_request_header_size=max_header_size,
            max_request_body_size=max_body_size + FRAMING,
            # The application decides whether to trust them, see [oslo_middleware].
            clear_untrusted_proxy_headers=False,
            log_socket_errors=False,
            asyncore_use_poll=True,
        )
        self._map: dict[int, Any] = {}
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._server: _Server | None = None
        self._dispatcher = _Threads()

    def prepare(self) -> None:
        """Start the threads and listen; raises RuntimeError if no thread can start."""
        shared = self.listening.dup()
        self._dispatcher.set_thread_count(self._threads)
        self._server = _Server(
            self._application,
            self._map,
            True,
            shared,
            dispatcher=self._dispatcher,
            adj=self._adjustments,
            sockinfo=(shared.family, shared.type, shared.proto, shared.getsockname()),
            bind_socket=False,
            max_connections=self._max_connections,
            timeout=self._timeout,
        )

    @property
    def connections(self) -> int:
        """Return the number of open connections."""
        return 0 if self._server is None else len(self._server.active_channels)

    def serve(self) -> None:
        """Serve until `stop`; responses in progress are completed."""
        serving = self._server
        if serving is None:
            raise RuntimeError('The server is not prepared')
        try:
            while not self._ended.is_set():
                if self._stopping.is_set():
                    serving.draining = True
                    if serving.is_drained():
                        break
                wasyncore.loop(INTERVAL, True, self._map, 1)
                serving.enforce_deadlines()
        finally:
            # They end when they are idle, or with the process.
            self._dispatcher.set_thread_count(0)
            wasyncore.close_all(self._map)
            self._ended.set()

    def stop(self, timeout: float = 5) -> bool:
        """Accept no more requests; finish those that have been received.

        :param timeout: seconds after which the others are dropped
        :returns: whether all were answered in time
        """
        self._stopping.set()
        if self._server is None:
            return True
        self._wake(self._server)
        answered = self._ended.wait(timeout)
        if not answered:
            self._ended.set()
            self._wake(self._server)
        return answered

    def _wake(self, serving: _Server) -> None:
        try:
            serving.pull_trigger()
        except OSError:
            # It has ended in the meantime.
            return


def _unquoted(path: str) -> str:
    """Return a path unquoted, except for encoded slashes."""
    head, *rest = path.replace('%2f', _SLASH).split(_SLASH)
    parts = [
        parse.unquote_to_bytes(part.encode('latin-1')).decode('latin-1')
        for part in (head, *rest)
    ]
    return _SLASH.join(parts)
