"""The ceiling of the API: falcon on cheroot, answering what it was told to.

A process of its own; its argument is a file with the body.
"""

import pathlib
import sys
from typing import Any

import falcon
from cheroot import wsgi

from watcherlite import conf
from watcherlite.cmd import serving


class Constant:
    """A resource that always is the same."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def on_get(
        self, request: falcon.Request, response: falcon.Response, **path: Any
    ) -> None:
        """Answer."""
        response.content_type = falcon.MEDIA_JSON
        response.data = self._body


def main() -> None:
    """Serve until the process is ended."""
    app = falcon.App()
    app.add_route(
        '/v1/actions/{uuid}', Constant(pathlib.Path(sys.argv[1]).read_bytes())
    )
    threads = conf.new([], [], []).api.threads
    server = wsgi.Server(
        ('127.0.0.1', 0),
        app,
        numthreads=threads,
        max=threads,
        request_queue_size=serving.BACKLOG,
        timeout=serving.SILENCE,
    )
    server.prepare()
    # In the words of the API's log.
    print(f'It is served on 127.0.0.1, port {server.bind_addr[1]}', flush=True)
    try:
        server.serve()
    finally:
        server.stop()


if __name__ == '__main__':
    main()
