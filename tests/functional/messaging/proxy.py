"""A TCP proxy for faults that a broker does not have on demand."""

import contextlib
import dataclasses
import select
import socket
import threading

import fixtures

#: Frame type 8 on channel 0, without content (AMQP 0-9-1, 4.2.7).
HEARTBEAT = b'\x08\x00\x00\x00\x00\x00\x00\xce'


@dataclasses.dataclass
class Pair:
    """A connection of a client, and the corresponding one to the server."""

    client: socket.socket
    server: socket.socket
    frozen: bool = False


class Proxy(fixtures.Fixture):
    """Forwards connections to (host, port) in threads of its own.

    :param context: an ssl.SSLContext for TLS with the clients
    :ivar port: its port on 127.0.0.1
    :ivar accepted: the number of connections that it accepted
    :ivar heartbeats: the number of heartbeats that idle clients sent
    """

    def __init__(self, host, port, context=None):
        super().__init__()
        self.port = 0
        self.accepted = 0
        self.heartbeats = 0
        self._target = (host, port)
        self._context = context
        self._pairs = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._listener = None

    def _setUp(self):
        self.accept()
        self.addCleanup(self.refuse)

    def accept(self):
        """Listen, always on the same port."""
        self._over = threading.Event()
        self._listener = socket.create_server(('127.0.0.1', self.port))
        self.port = self._listener.getsockname()[1]
        self._acceptor = self._spawn(self._serve, self._listener, self._over)

    def stop_listening(self):
        """Accept no new connections."""
        self._over.set()
        self._acceptor.join()
        self._listener.close()

    def refuse(self):
        """Close all connections, and accept no new ones."""
        self.stop_listening()
        self.close_connections()

    def close_connections(self):
        """Close all connections."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            self._close(pair)

    def freeze(self, heartbeats=False):
        """Stop forwarding on all current connections without closing them.

        :param heartbeats: continue to send heartbeats to the client, as a broker does
            that is short of memory
        """
        with self._lock:
            for pair in self._pairs:
                pair.frozen = True
                if heartbeats:
                    self._spawn(self._beat, pair)

    def _spawn(self, target, *arguments):
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        thread.start()
        return thread

    def _serve(self, listener, over):
        while not over.is_set():
            ready, _, _ = select.select([listener], [], [], 0.05)
            if ready:
                # Ignore clients that break off.
                with contextlib.suppress(OSError):
                    self._connect(listener.accept()[0])

    def _connect(self, client):
        if self._context is not None:
            client.settimeout(5)
            client = self._context.wrap_socket(client, server_side=True)
        pair = Pair(client, socket.create_connection(self._target, timeout=5))
        for item in (pair.client, pair.server):
            item.settimeout(None)
        with self._lock:
            self._pairs.append(pair)
            self.accepted += 1
        self._spawn(self._pump, pair, pair.client, pair.server)
        self._spawn(self._pump, pair, pair.server, pair.client)

    def _pump(self, pair, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if pair.frozen:
                    return
                if source is pair.client and data == HEARTBEAT:
                    self.heartbeats += 1
                sink.sendall(data)
        if not pair.frozen:
            self._close(pair)

    def _beat(self, pair):
        with contextlib.suppress(OSError):
            while not self._over.wait(0.05):
                pair.client.sendall(HEARTBEAT)

    def _close(self, pair):
        for item in (pair.client, pair.server):
            with contextlib.suppress(OSError):
                item.shutdown(socket.SHUT_RDWR)
            item.close()
