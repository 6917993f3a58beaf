"""Regular expressions from users, with bounded matching time.

`re` uses backtracking, and a short pattern can take years without a way to interrupt
it. RE2 matches in time linear in the length of the text, and releases the interpreter's
lock. Its missing features, look-around and back-references, are refused; on request,
lookahead at the start of a pattern is matched by patterns of its own.
"""

import functools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import re2

#: Maximum memory of a compiled pattern in bytes; larger ones are refused.
MEMORY = 256 * 1024
#: Maximum of the size of a pattern times the length of a text: about a fifth of a
#: second in the worst case.
STEPS = 10_000_000
#: Features of Python's syntax, which most users know, that RE2 lacks -> its message.
_LACKS = ('invalid perl operator', 'invalid escape sequence', 'bad repetition operator')


#: `\\uXXXX`, which RE2 writes in another way.
_CODE_POINT = re.compile(r'((?<!\\)(?:\\\\)*)\\u([0-9a-fA-F]{4})')
#: A lookahead that may be absent, and has no effect.
_OPTIONAL_LOOKAHEAD = re.compile(
    r'(?<!\\)\(\?[=!](?:\\.|\[(?:\\.|[^\]])*\]|[^()\\\[])*\)[*?]'
)
_TOKEN = re.compile(r'\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.', re.DOTALL)


class InvalidPattern(Exception):
    """A text is not a valid pattern; the message has the reason and an alternative."""


class TooLong(Exception):
    """A match would take too long; the message has the limits."""


class Lookahead(NamedTuple):
    """A condition for the text after the start of a pattern.

    :param negative: the text must not match
    """

    program: Any
    negative: bool

    def holds(self, text: str) -> bool:
        """Return whether it holds for a text."""
        return (self.program.match(text) is None) == self.negative


#: Alternatives, each of several conditions.
Condition = tuple[tuple[Lookahead, ...], ...]


class Pattern(NamedTuple):
    """A compiled pattern; created by `compiled`.

    :param conditions: all have to hold
    """

    written: str
    program: Any
    conditions: tuple[Condition, ...] = ()

    @property
    def size(self) -> int:
        """Return the size of its programs."""
        programs = [one.program for c in self.conditions for a in c for one in a]
        return sum(program.programsize for program in [self.program, *programs])

    def matches(self, text: str, whole: bool = True) -> bool:
        """Return whether a text matches from its start.

        :param whole: to its end, too
        :raises TooLong: the text is too long for this pattern
        """
        size = self.size
        if size * len(text) > STEPS:
            raise TooLong(
                f'{len(text)} characters are too many for the pattern {self.written}, '
                f'which can be compared with {STEPS // size}'
            )
        for condition in self.conditions:
            if not any(all(one.holds(text) for one in given) for given in condition):
                return False
        match = self.program.fullmatch if whole else self.program.match
        return match(text) is not None


@functools.lru_cache(maxsize=256)
def compiled(written: str, lookahead: bool = False) -> Pattern:
    """Return a pattern in RE2 syntax; raises InvalidPattern.

    :param lookahead: accept lookahead at its start, and `\\uXXXX`
    """
    if not lookahead:
        return Pattern(written, _program(written))
    known = _OPTIONAL_LOOKAHEAD.sub('', _CODE_POINT.sub(r'\1\\x{\2}', written))
    conditions, rest = _split_conditions(known)
    return Pattern(written, _program(rest), conditions)


def _program(written: str) -> Any:
    try:
        return re2.compile(written, _options())
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


def _split_conditions(written: str) -> tuple[tuple[Condition, ...], str]:
    """Return the conditions at the start of a pattern, and its rest."""
    if not written.startswith(('(?=', '(?!', '^(?=', '^(?!')):
        return (), written
    conditions: list[Condition] = []
    left = written
    while True:
        left = left.removeprefix('^')
        group = _first_group(left)
        if group is None or left[len(group) : len(group) + 1] in ('+', '{'):
            break
        condition = _condition(group)
        if condition is None:
            break
        conditions.append(condition)
        left = left[len(group) :]
    return tuple(conditions), left


def _condition(group: str) -> Condition | None:
    """Return the condition that a group is; None: it is none."""
    if group.startswith(('(?=', '(?!')):
        return ((Lookahead(_program(group[3:-1]), group[2] == '!'),),)
    inner = group[1:-1].removeprefix('?:')
    alternatives: list[list[Lookahead]] = [[]]
    while inner:
        if inner[0] == '|':
            alternatives.append([])
            inner = inner[1:]
            continue
        found = _first_group(inner)
        if found is None or not found.startswith(('(?=', '(?!')):
            return None
        alternatives[-1].append(Lookahead(_program(found[3:-1]), found[2] == '!'))
        inner = inner[len(found) :]
    return tuple(tuple(given) for given in alternatives)


def _first_group(text: str) -> str | None:
    """Return the group in parentheses that a text begins with; None: there is none."""
    if not text.startswith('('):
        return None
    depth = 0
    for match in _tokens(text):
        depth += {'(': 1, ')': -1}.get(match[0], 0)
        if depth == 0:
            return text[: match.end()]
    return None


def _tokens(text: str) -> Iterator[re.Match[str]]:
    """Yield the escapes, classes and characters of a pattern."""
    return _TOKEN.finditer(text)


def _options() -> Any:
    options = re2.Options()
    # Otherwise it writes to standard error.
    options.log_errors = False
    options.max_mem = MEMORY
    # Groups are not used, and take long if there are many.
    options.never_capture = True
    return options
