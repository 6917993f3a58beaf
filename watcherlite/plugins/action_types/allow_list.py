"""The allow list of executables and their arguments.

An entry is a whole command: users cannot add arguments unless the entry permits it.
Many programs ignore the first of two `--directory` options, for instance.
"""

import dataclasses
import functools
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from oslo_config import cfg, types

from watcherlite.domain import patterns
from watcherlite.plugins import paths

#: In the option and in `argv`: the interpreter that runs watcherlite, in whatever
#: virtual environment.
PYTHON = '{python}'
#: A word of an entry that matches one argument that is not an option.
VALUE = '{value}'
#: The delimiters of a pattern within a word, which that part of the argument must
#: match.
_OPEN, _CLOSE = '{~', '}'
#: The last word of an entry that permits any further arguments.
REST = '...'


class CommandLine(types.String):
    """The type of an option that is a command: it starts with an absolute path."""

    def __call__(self, value: Any) -> str:
        text = str(super().__call__(value))
        words = shlex.split(text)
        if not words:
            raise ValueError('a path is needed')
        wrong = _path_problem(words[0])
        if wrong:
            raise ValueError(wrong)
        return text

    def __repr__(self) -> str:
        return 'CommandLine'


class AllowedCommand(CommandLine):
    """The type of one value of the option `allowed`."""

    def __call__(self, value: Any) -> str:
        text = super().__call__(value)
        _rule(text)
        return text

    def __repr__(self) -> str:
        return 'AllowedCommand'


def option(what: str, rule: str, example: str) -> cfg.Opt:
    """Return the option `allowed`.

    :param what: the content of the option, as a sentence
    :param rule: what it permits, and to which users, as the start of a sentence
    """
    return cfg.MultiOpt(
        'allowed',
        item_type=AllowedCommand(),
        sample_default=example,
        mutable=True,
        help=f'{what} Repeat the option to allow several; nothing is allowed by '
        'default.\n'
        '\n'
        'A value is a whole command, an absolute path and all arguments: `argv` '
        'must be equal to it, links are not followed, and no further arguments '
        'are accepted. `{python}` in place of the path is the interpreter '
        'that runs watcherlite. These words permit choices:\n'
        '\n'
        '`{value}`: one argument that does not start with `-`;\n'
        '\n'
        '`{~PATTERN}`: an argument that matches a regular expression (RE2), '
        'also within a word: `--port={~[0-9]{4}}`; enclose a word with a '
        'backslash in single quotes;\n'
        '\n'
        '`...` at the end: any arguments, including options. Use it only for '
        'programs that are harmless with any arguments.\n'
        '\n'
        f'{rule}: do not allow a shell, `env`, or an interpreter without the name '
        'of a program.',
    )


def problem(
    place: str, argv: Sequence[str], allowed: Sequence[str] | None, named: str
) -> str | None:
    """Return the reason why a command may not be run, or None.

    :param place: the position of `argv` for messages
    :param allowed: the values of the option
    :param named: the name of the option for messages
    """
    wrong = _path_problem(argv[0])
    if wrong:
        return f'{place}.0: {wrong}'
    rules = [_rule(text) for text in allowed or ()]
    if any(rule.matches(argv) for rule in rules):
        return None
    near = [rule.text for rule in rules if rule.words[0] == argv[0]]
    if near:
        return (
            f'{place}: {argv[0]} is allowed only as {" or ".join(near)} '
            f'(option {named})'
        )
    return (
        f'{place}.0: {argv[0]} is not allowed; an operator may add it to the option '
        f'{named}'
    )


def resolved(argv: Sequence[str]) -> list[str]:
    """Return the command to run, with `{python}` replaced by the interpreter."""
    first, *rest = argv
    return [sys.executable if first == PYTHON else first, *rest]


@dataclasses.dataclass(frozen=True, slots=True)
class _Rule:
    """An entry of the list.

    :param text: the entry for messages
    :param words: the words of the entry, without `...`
    :param open: whether any further arguments are accepted
    """

    text: str
    words: tuple[str, ...]
    open: bool

    def matches(self, argv: Sequence[str]) -> bool:
        """Return whether the entry allows a command."""
        more = len(argv) - len(self.words)
        if more < 0 or (more > 0 and not self.open):
            return False
        # The path is never a pattern.
        return argv[0] == self.words[0] and all(
            _matches(word, argument)
            for word, argument in zip(self.words[1:], argv[1:], strict=False)
        )


@functools.lru_cache
def _rule(text: str) -> _Rule:
    """Return the rule of a value of `allowed`, for one action.

    :raises ValueError: a pattern is invalid
    """
    words = shlex.split(text)
    is_open = len(words) > 1 and words[-1] == REST
    fixed = tuple(words[:-1] if is_open else words)
    for word in fixed[1:]:
        parts = _split_pattern(word)
        if parts is not None:
            try:
                patterns.compiled(parts[1])
            except patterns.InvalidPattern as error:
                raise ValueError(f'the pattern {parts[1]!r}: {error}') from None
    shown = ' '.join(
        word if word in (VALUE, REST) or _split_pattern(word) else shlex.quote(word)
        for word in words[1:]
    )
    return _Rule(f'{words[0]} {shown}'.strip(), fixed, is_open)


def _matches(word: str, argument: str) -> bool:
    if word == VALUE:
        return not argument.startswith('-')
    parts = _split_pattern(word)
    if parts is None:
        return word == argument
    before, pattern, after = parts
    if len(argument) < len(before) + len(after):
        return False
    if not (argument.startswith(before) and argument.endswith(after)):
        return False
    chosen = argument[len(before) : len(argument) - len(after)]
    try:
        return patterns.compiled(pattern).matches(chosen)
    except patterns.TooLong:
        return False


def _split_pattern(word: str) -> tuple[str, str, str] | None:
    """Return the text before, in and after the pattern of a word; None: it has no
    pattern.
    """
    before, mark, rest = word.partition(_OPEN)
    pattern, end, after = rest.rpartition(_CLOSE)
    return (before, pattern, after) if mark and end else None


def _path_problem(path: str) -> str | None:
    """Return the problem of the path of an executable, or None."""
    return None if path == PYTHON else paths.problem(path)
