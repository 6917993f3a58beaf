"""Lines to standard output and standard error that cannot harm the command.

Whoever reads the output may go away (`| head`), or take characters that the text
does not fit in; a plan must not stop half way for that.
"""

import os
import threading
from typing import TextIO

from watcherlite.cmd import exits


class Output:
    """A stream to which whole lines are written, from any thread."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._lock = threading.Lock()
        self._gone = False

    @property
    def is_terminal(self) -> bool:
        """Say whether what is written can be changed in place."""
        return self.stream.isatty() and os.environ.get('TERM', '') not in ('', 'dumb')

    @property
    def has_colours(self) -> bool:
        return self.is_terminal and not os.environ.get('NO_COLOR')

    def line(self, text: str = '') -> None:
        """Write a line now."""
        self.write(text + '\n')

    def write(self, text: str) -> None:
        """Write a text now; nothing any more once nobody reads it."""
        with self._lock:
            if self._gone:
                return
            try:
                self.stream.write(_fitting(text, self.stream))
                self.stream.flush()
            except (BrokenPipeError, ValueError):
                self._gone = True
                exits.discard(self.stream)


def _fitting(text: str, stream: TextIO) -> str:
    encoding = getattr(stream, 'encoding', None) or 'utf-8'
    return text.encode(encoding, 'backslashreplace').decode(encoding)
