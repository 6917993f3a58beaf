"""The HTTP server of the example plan: it answers one request and ends.

`python -m watcherlite.cmd.example_endpoint --port PORT` tells of this machine in
JSON, on 127.0.0.1 only. It needs nothing but the standard library, so that it
starts fast, and it never stays behind.
"""

import argparse
import errno
import http.server
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence

#: Seconds after which a client that says nothing is not listened to any more.
CLIENT_TIMEOUT = 2.0
#: Seconds between two looks at a port that is taken.
PORT_CHECK = 0.05


class ExampleEndpoint(http.server.HTTPServer):
    """Counts what it has answered."""

    answered = 0


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers GET with the state of this machine."""

    timeout = CLIENT_TIMEOUT
    server: ExampleEndpoint

    def do_GET(self) -> None:
        """Answer any path."""
        load = os.getloadavg()
        state = {
            'system': platform.system(),
            'release': platform.release(),
            'python': platform.python_version(),
            'cpus': os.cpu_count(),
            'load': [round(value, 2) for value in load],
        }
        body = json.dumps(state).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.server.answered += 1


def main(args: Sequence[str] | None = None) -> int:
    """Answer one request; 0 when there was one in time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--port', type=int, required=True)
    parser.add_argument(
        '--seconds', type=float, default=30.0, help='how long to wait for the request'
    )
    options = parser.parse_args(args)
    deadline = time.monotonic() + options.seconds
    endpoint = listen(options.port, deadline)
    if endpoint is None:
        print(f'port {options.port} is taken by another program', file=sys.stderr)
        return 1
    with endpoint:
        print(f'listening on 127.0.0.1:{endpoint.server_port}', flush=True)
        while not endpoint.answered:
            endpoint.timeout = deadline - time.monotonic()
            if endpoint.timeout <= 0:
                print(f'nobody asked within {options.seconds} s', file=sys.stderr)
                return 1
            endpoint.handle_request()
    return 0


def listen(
    port: int, deadline: float, wait: Callable[[float], object] = time.sleep
) -> ExampleEndpoint | None:
    """Return the server; None when its port is not free before the deadline.

    Another run of the example may have the port for a moment. Nobody tells when it is
    free again, so it is tried again and again.

    :param deadline: of `time.monotonic`
    :param wait: called with seconds between two attempts
    """
    while True:
        try:
            return ExampleEndpoint(('127.0.0.1', port), Handler)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            if time.monotonic() + PORT_CHECK > deadline:
                return None
            wait(PORT_CHECK)


if __name__ == '__main__':
    sys.exit(main())
