"""An HTTP server that answers each request after a fixed time, with kept connections.

A process of its own; its argument is the time in seconds. At its end, on a line of
standard input, it prints the number of its requests and connections and the largest
number of concurrent requests as JSON.
"""

import asyncio
import json
import sys

RESPONSE = b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'


class Slow:
    """The server and its counters."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._running = 0
        self.counts = {'requests': 0, 'connections': 0, 'most': 0}

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer the requests of a connection."""
        self.counts['connections'] += 1
        try:
            while True:
                await reader.readuntil(b'\r\n\r\n')
                self.counts['requests'] += 1
                self._running += 1
                self.counts['most'] = max(self.counts['most'], self._running)
                await asyncio.sleep(self._seconds)
                self._running -= 1
                writer.write(RESPONSE)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def main() -> None:
    """Serve until a line arrives."""
    slow = Slow(float(sys.argv[1]))
    server = await asyncio.start_server(slow.serve, '127.0.0.1', 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    print(json.dumps(slow.counts), flush=True)
    server.close()


if __name__ == '__main__':
    asyncio.run(main())
