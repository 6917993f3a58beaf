"""The ceiling of the API: falcon on waitress with a static response.

A process of its own; its argument is a file with the body.
"""

import pathlib
import socket
import sys
from typing import Any

import falcon

from watcherlite import conf
from watcherlite.cmd.http_server import HttpServer


class Constant:
    """A resource with a static representation."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def on_get(
        self, request: falcon.Request, response: falcon.Response, **path: Any
    ) -> None:
        """Return the static body."""
        response.content_type = falcon.MEDIA_JSON
        response.data = self._body


def main() -> None:
    """Serve until the process is terminated."""
    app = falcon.App()
    app.add_route(
        '/v1/actions/{uuid}', Constant(pathlib.Path(sys.argv[1]).read_bytes())
    )
    threads = conf.new([], [], []).api.threads
    listening = socket.create_server(('127.0.0.1', 0))
    server = HttpServer(listening, app, threads)
    server.prepare()
    # The same message as in the log of the API.
    print(f'It is served on 127.0.0.1, port {listening.getsockname()[1]}', flush=True)
    try:
        server.serve()
    finally:
        server.stop()


if __name__ == '__main__':
    main()
