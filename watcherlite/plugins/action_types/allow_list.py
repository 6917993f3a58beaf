"""Which executables the operator lets plans and stacks run."""

import functools
import os
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from oslo_config import cfg, types

#: In the option and in `argv`: the interpreter that runs watcherlite, wherever a
#: virtual environment has put it.
PYTHON = '{python}'


class AllowedCommand(types.String):
    """The type of one value of the option `allowed`."""

    def __call__(self, value: Any) -> str:
        text = str(super().__call__(value))
        words = shlex.split(text)
        if not words:
            raise ValueError('a path is needed')
        wrong = _wrong_path(words[0])
        if wrong:
            raise ValueError(wrong)
        return text

    def __repr__(self) -> str:
        return 'AllowedCommand'


def option(what: str, who: str, example: str) -> cfg.Opt:
    """Return the option `allowed`.

    :param what: what stands in it, as a sentence
    :param who: who may do what by it, as the beginning of one
    """
    return cfg.MultiOpt(
        'allowed',
        item_type=AllowedCommand(),
        sample_default=example,
        mutable=True,
        help=f'{what} Repeat the option to allow several; '
        'nothing is allowed by default.\n\n'
        'It is an absolute path, and `argv` has to begin with exactly '
        'this text: links are not followed to compare them. Words behind the path '
        'have to be in `argv` as well, in front of all others, so that '
        '`/usr/bin/systemctl restart` allows to restart and not to stop; what comes '
        'behind them is free. `{python}` stands for the interpreter that runs '
        'watcherlite.\n\n'
        f'{who}: do not allow a shell, `env`, or an interpreter without the name '
        'of a program.',
    )


def problem(
    place: str, argv: Sequence[str], allowed: Sequence[str] | None, named: str
) -> str | None:
    """Say why a command may not be run, or None.

    :param place: of `argv`, as messages name it
    :param allowed: the values of the option
    :param named: the option, as messages name it
    """
    wrong = _wrong_path(argv[0])
    if wrong:
        return f'{place}.0: {wrong}'
    rules = [_words(text) for text in allowed or ()]
    if any(tuple(argv[: len(rule)]) == rule for rule in rules):
        return None
    near = [shlex.join(rule) for rule in rules if rule[0] == argv[0]]
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
    """Return what is to be run, with the interpreter where it is asked for."""
    first, *rest = argv
    return [sys.executable if first == PYTHON else first, *rest]


@functools.lru_cache
def _words(text: str) -> tuple[str, ...]:
    """Return the words of a value of `allowed`; needed for each action anew."""
    return tuple(shlex.split(text))


def _wrong_path(path: str) -> str | None:
    """Say what is wrong with the path of an executable, or None."""
    if path == PYTHON:
        return None
    if not path.startswith('/'):
        return f'{path!r} is not an absolute path'
    if os.path.normpath(path) != path:
        return f'{path!r} is not in its shortest form, {os.path.normpath(path)!r}'
    return None
