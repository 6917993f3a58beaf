"""Regular expressions of users, which must not take a process down.

`re` tries one way after the other to match, and a short pattern can have it try for
years; nothing stops it meanwhile. RE2 follows all ways at once, in a time that grows
with the length of the text only, and lets other threads run. What that cannot do,
looking around and referring back, is refused.
"""

import functools
from typing import Any, NamedTuple

import re2

#: Bytes that one compiled pattern may take; more are refused when it is written.
MEMORY = 256 * 1024
#: The most that the size of a pattern, times the length of a text, may be: about a
#: fifth of a second at worst.
STEPS = 10_000_000
#: What RE2 lacks of Python's syntax, which is what most people know -> what it says.
_LACKS = ('invalid perl operator', 'invalid escape sequence', 'bad repetition operator')


class Refused(Exception):
    """A text is no pattern that can be used; the text of this says why, and what is."""


class TooLong(Exception):
    """A comparison would take too long; the text says of what with what."""


class Pattern(NamedTuple):
    """A pattern that can be compared with texts; made by `compiled`."""

    written: str
    program: Any

    def matches(self, text: str, whole: bool = True) -> bool:
        """Return whether a text matches from its begin.

        :param whole: to its end, too
        :raises TooLong: it is too long a text for this pattern
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
    """Return a pattern in the syntax of RE2; raises Refused."""
    try:
        return Pattern(written, re2.compile(written, _options()))
    except UnicodeEncodeError:
        raise Refused('it is no text that can be written as UTF-8') from None
    except re2.error as error:
        said = error.args[0]
        reason = said.decode(errors='replace') if isinstance(said, bytes) else str(said)
    if reason.startswith('pattern too large'):
        raise Refused('it is too large; write fewer or smaller repetitions')
    if reason.startswith(_LACKS):
        reason += (
            '; the syntax is that of RE2, without looking around and references back: '
            'write several constraints for what has to hold at once'
        )
    raise Refused(reason)


def _options() -> Any:
    options = re2.Options()
    # It would write to standard error.
    options.log_errors = False
    options.max_mem = MEMORY
    # Nobody asks what the groups matched, which takes long for many of them.
    options.never_capture = True
    return options
