"""The HTTP server of the example plan: it answers one request and exits.

`python -m watcherlite.cmd.example_endpoint --port PORT` serves a JSON description of
this machine on 127.0.0.1. It uses only the standard library to start fast, and exits
after a deadline.
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

#: Seconds after which a silent client is disconnected.
CLIENT_TIMEOUT = 2.0
#: Seconds between two attempts to bind a port in use.
PORT_CHECK = 0.05


class ExampleEndpoint(http.server.HTTPServer):
    """A server that counts its responses."""

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
    """Answer one request; return 0 if one came in time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--port', type=int, required=True)
    parser.add_argument(
        '--seconds', type=float, default=30.0, help='timeout of the request in seconds'
    )
    options = parser.parse_args(args)
    deadline = time.monotonic() + options.seconds
    endpoint = listen(options.port, deadline)
    if endpoint is None:
        print(f'port {options.port} is in use by another program', file=sys.stderr)
        return 1
    with endpoint:
        print(f'listening on 127.0.0.1:{endpoint.server_port}', flush=True)
        while not endpoint.answered:
            endpoint.timeout = deadline - time.monotonic()
            if endpoint.timeout <= 0:
                print(f'no request within {options.seconds} s', file=sys.stderr)
                return 1
            endpoint.handle_request()
    return 0


def listen(
    port: int, deadline: float, wait: Callable[[float], object] = time.sleep
) -> ExampleEndpoint | None:
    """Return the server; None if its port is in use until the deadline.

    Another run of the example may use the port briefly.

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
