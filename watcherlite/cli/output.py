"""Robust output of lines to standard output and standard error.

A closed pipe (`| head`) or a character outside the stream's encoding must not stop the
execution of a plan.
"""

import os
import threading
from typing import TextIO

from watcherlite.cmd import exits


class Output:
    """A stream for whole lines, usable from all threads."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._lock = threading.Lock()
        self._gone = False

    @property
    def is_terminal(self) -> bool:
        """Return whether the stream is a terminal."""
        return self.stream.isatty() and os.environ.get('TERM', '') not in ('', 'dumb')

    @property
    def has_colours(self) -> bool:
        return self.is_terminal and not os.environ.get('NO_COLOR')

    def line(self, text: str = '') -> None:
        """Write and flush a line."""
        self.write(text + '\n')

    def write(self, text: str) -> None:
        """Write and flush a text; discard it if the reader is gone."""
        with self._lock:
            if self._gone:
                return
            try:
                self.stream.write(_encodable(text, self.stream))
                self.stream.flush()
            except (BrokenPipeError, ValueError):
                self._gone = True
                exits.discard(self.stream)


def _encodable(text: str, stream: TextIO) -> str:
    encoding = getattr(stream, 'encoding', None) or 'utf-8'
    return text.encode(encoding, 'backslashreplace').decode(encoding)
