"""Regular expressions from users, with bounded matching time.

`re` uses backtracking, and a short pattern can take years without a way to interrupt
it. RE2 matches in time linear in the length of the text, and releases the interpreter's
lock. Its missing features, look-around and back-references, are refused.
"""

import functools
from typing import Any, NamedTuple

import re2

#: Maximum memory of a compiled pattern in bytes; larger ones are refused.
MEMORY = 256 * 1024
#: Maximum of the size of a pattern times the length of a text: about a fifth of a
#: second in the worst case.
STEPS = 10_000_000
#: Features of Python's syntax, which most users know, that RE2 lacks -> its message.
_LACKS = ('invalid perl operator', 'invalid escape sequence', 'bad repetition operator')


class InvalidPattern(Exception):
    """A text is not a valid pattern; the message has the reason and an alternative."""


class TooLong(Exception):
    """A match would take too long; the message has the limits."""


class Pattern(NamedTuple):
    """A compiled pattern; created by `compiled`."""

    written: str
    program: Any

    def matches(self, text: str, whole: bool = True) -> bool:
        """Return whether a text matches from its start.

        :param whole: to its end, too
        :raises TooLong: the text is too long for this pattern
        """
        size = self.program.programsize
        if size * len(text) > STEPS:
            raise TooLong(
                f'{len(text)} characters are too many for the pattern {self.written}, '
                f'which can be compared with {STEPS // size}'
            )
        match = self.program.fullmatch if whole else self.program.match
        return match(text) is not None


@functools.lru_cache(maxsize=256)
def compiled(written: str) -> Pattern:
    """Return a pattern in RE2 syntax; raises Refused."""
    try:
        return Pattern(written, re2.compile(written, _options()))
    except UnicodeEncodeError:
        raise InvalidPattern('it is no text that can be written as UTF-8') from None
    except re2.error as error:
        message = error.args[0]
        reason = (
            message.decode(errors='replace')
            if isinstance(message, bytes)
            else str(message)
        )
    if reason.startswith('pattern too large'):
        raise InvalidPattern('it is too large; write fewer or smaller repetitions')
    if reason.startswith(_LACKS):
        reason += (
            '; the syntax is that of RE2, without lookaround and backreferences: write '
            'several constraints instead'
        )
    raise InvalidPattern(reason)


def _options() -> Any:
    options = re2.Options()
    # Otherwise it writes to standard error.
    options.log_errors = False
    options.max_mem = MEMORY
    # Groups are not used, and take long if there are many.
    options.never_capture = True
    return options
