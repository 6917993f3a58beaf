"""JSON values that every database, broker and client can represent, and paths in them.

A path is a subset of JSONPath with bounded cost: steps, optionally after `$`. A step is
a member by name (`.details`, `['a name']`), an element by index (`[0]`, from the end
`[-1]`), all members or elements (`.*`, `[*]`), or at most once all descendants
(`..pid`, `..*`). There are no filters, slices, functions or references to parents.
"""

import dataclasses
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from watcherlite import exceptions

#: Deeper than real documents, and below the limits of libraries.
MAX_DEPTH = 100
#: Of whole numbers: supported by every JSON library, and by floating-point numbers.
MAX_BITS = 1023


def kind(value: object) -> str:
    """Return the type of a value, in words for users."""
    if value is None:
        return 'nothing'
    if isinstance(value, bool):
        return 'true or false'
    if isinstance(value, (int, float)):
        return 'a number'
    if isinstance(value, str):
        return 'text'
    if isinstance(value, (list, tuple)):
        return 'a list'
    if isinstance(value, dict):
        return 'a mapping'
    return f'a {type(value).__name__}'


def problems(value: object) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the parts of a value that are not JSON: (path within it, problem).

    The messages contain no values: inputs may contain secrets.
    """
    todo: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while todo:
        path, here = todo.pop()
        if here is None or isinstance(here, (bool, int)):
            if here is not None and here.bit_length() > MAX_BITS:
                yield path, 'this number has too many digits; put it in quotes'
        elif isinstance(here, str):
            problem = text_problem(here)
            if problem:
                yield path, problem
        elif isinstance(here, float):
            if not math.isfinite(here):
                yield path, f'{here} is not a number in JSON'
        elif not isinstance(here, (dict, list, tuple)):
            yield path, f'this is {kind(here)}, which JSON does not have'
        elif len(path) >= MAX_DEPTH:
            yield path, f'this is nested deeper than {MAX_DEPTH} levels'
        elif isinstance(here, dict):
            for key, inner in reversed(here.items()):
                if not isinstance(key, str):
                    what = f'a key must be text and this is {kind(key)}'
                    yield (*path, str(key)), f'{what}; put it in quotes'
                elif text_problem(key):
                    yield (*path, key), f'as a key, {text_problem(key)}'
                else:
                    todo.append(((*path, key), inner))
        else:
            todo.extend(((*path, i), here[i]) for i in range(len(here) - 1, -1, -1))


def text_problem(text: str) -> str | None:
    """Return why a text cannot be stored, or None."""
    if '\0' in text:
        return 'this text has a NUL character, which databases cannot store'
    if not text.isascii() and any('\ud800' <= c <= '\udfff' for c in text):
        return 'this text has half of a surrogate pair, which is not a character'
    return None


#: Maximum number of characters and steps of a path.
MAX_LENGTH = 1024
MAX_STEPS = 64
#: Maximum number of characters of a path in a message.
SHOWN = 80

_STEP = re.compile(
    r'(?P<descend>\.\.)?(?:'
    r'(?<=\.)(?P<name>[^\W\d][\w@-]*)'
    r'|(?<=\.)(?P<star>\*)'
    r'|\[(?P<all>\*)\]'
    r'|\[(?P<index>-?\d{1,9})\]'
    r"""|\[(?:'(?P<single>[^'\\]*)'|"(?P<double>[^"\\]*)")\]"""
    r')',
    re.ASCII,
)


@dataclasses.dataclass(frozen=True, slots=True)
class PathStep:
    """One step of a path.

    :param key: the name of a member or the index of an element; None: all of them
    :param descends: it applies to all descendants, too
    """

    key: str | int | None
    descends: bool = False


class Budget:
    """The number of values that a search may still visit."""

    def __init__(self, visits: int) -> None:
        self.visits = visits
        self._left = visits

    def spend(self) -> None:
        """Count a value; raise BadRequest if the limit is exceeded."""
        self._left -= 1
        if self._left < 0:
            raise exceptions.BadRequest(
                f'The JSON path leads to more than {self.visits} values: name more of '
                'its steps.'
            )


def parse(path: str) -> tuple[PathStep, ...]:
    """Return the steps of a path; raises BadRequest for an invalid one."""
    if not path or len(path) > MAX_LENGTH:
        raise exceptions.BadRequest(
            f'A JSON path has 1 to {MAX_LENGTH} characters, not {len(path)}.'
        )
    rest = path.removeprefix('$') if path != '$' else ''
    if rest == path and rest[0] not in '.[':
        rest = f'.{rest}'
    steps: list[PathStep] = []
    at = 0
    while at < len(rest):
        # A name follows a single point, or the two of a descent.
        start = at + 1 if rest[at] == '.' and rest[at : at + 2] != '..' else at
        match = _STEP.match(rest, start)
        if match is None or (start > at and rest[start] == '['):
            raise exceptions.BadRequest(
                f"'{path[:SHOWN]}' is no JSON path: names, [indexes], * and one '..' "
                'are understood.'
            )
        steps.append(_step(match))
        at = match.end()
    if sum(step.descends for step in steps) > 1:
        raise exceptions.BadRequest(f"'{path[:SHOWN]}' has more than one '..'.")
    if len(steps) > MAX_STEPS:
        raise exceptions.BadRequest(
            f"'{path[:SHOWN]}' has more than {MAX_STEPS} steps."
        )
    return tuple(steps)


def _step(match: re.Match[str]) -> PathStep:
    descends = match['descend'] is not None
    if match['index'] is not None:
        return PathStep(int(match['index']), descends)
    for group in ('name', 'single', 'double'):
        if match[group] is not None:
            return PathStep(match[group], descends)
    return PathStep(None, descends)


def find(steps: tuple[PathStep, ...], value: Any, budget: Budget) -> Iterator[Any]:
    """Yield the values at a path, in the order of the document.

    :raises BadRequest: visiting them exceeds the budget
    """
    if not steps:
        yield value
        return
    step, *rest = steps
    for origin in _walk(value, budget) if step.descends else (value,):
        for taken in _take(step, origin):
            budget.spend()
            yield from find(tuple(rest), taken, budget)


def _walk(value: Any, budget: Budget) -> Iterator[Any]:
    pending = [value]
    while pending:
        value = pending.pop()
        budget.spend()
        yield value
        pending.extend(reversed(_contents(value)))


def _take(step: PathStep, value: Any) -> list[Any]:
    if step.key is None:
        return _contents(value)
    if isinstance(step.key, str):
        found = isinstance(value, Mapping) and step.key in value
        return [value[step.key]] if found else []
    if isinstance(value, list | tuple) and -len(value) <= step.key < len(value):
        return [value[step.key]]
    return []


def _contents(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []
