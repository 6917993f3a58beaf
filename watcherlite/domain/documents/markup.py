"""The parser of YAML or JSON text to plain values, with their line numbers.

A value is the result of `yaml.safe_load`, except that dates stay text, as in JSON. Some
input that this function accepts is a problem here: a duplicate key, a tag, a second
document, aliases that repeat an excessive amount.

Only the values are stored: the text is parsed again for the line of a problem, so that
a document of 100 000 actions needs only the memory of its values.
"""

import ast
import collections
import contextlib
import json
import re
from collections.abc import Iterable
from typing import Any

import yaml

from watcherlite import exceptions
from watcherlite.domain.documents.bounded_list import BoundedList
from watcherlite.domain.documents.yaml_values import Builder, Path, Unreadable

MAX_BYTES = 64 * 1024 * 1024
#: Maximum number of characters of a key in messages.
_LONGEST_KEY = 256
_PLAIN_KEY = re.compile(r'[\w-]+')
_STEP = re.compile(
    r"""\[(\d+)\]|\.?(?:([\w-]+)|('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))"""
)


def path_text(path: Path) -> str:
    """Return the notation of a path in messages: `actions[2].timeout`."""
    text = ''
    for step in path:
        if isinstance(step, int):
            text += f'[{step}]'
        else:
            shown = step if _PLAIN_KEY.fullmatch(step) else repr(step)
            if len(shown) > _LONGEST_KEY:
                shown = f'{shown[:_LONGEST_KEY]}...'
            text += f'.{shown}' if text else shown
    return text


def problem_line(place: str, path: Path, text: str) -> str:
    """Return a problem as a line; place and path may be empty."""
    return ': '.join(part for part in (place, path_text(path), text) if part)


def text_path(text: str) -> Path:
    """Return the path written in a message, as far as it is valid."""
    path: list[str | int] = []
    at = 0
    while found := _STEP.match(text, at):
        index, plain, quoted = found.groups()
        if index is not None:
            path.append(int(index))
        elif plain is not None:
            path.append(plain)
        else:
            try:
                path.append(ast.literal_eval(quoted))
            except (SyntaxError, ValueError):
                break
        at = found.end()
    return tuple(path)


class Markup:
    """Parsed text with positions.

    :ivar value: plain values
    :ivar problems: (line, path, text) of all problems that did not prevent parsing
    """

    def __init__(self, text: str | bytes, source: str, noun: str = 'plan') -> None:
        """Parse a text.

        :param source: its name in messages, for instance a file
        :param noun: its content, for messages
        :raises InvalidDocument: it cannot be parsed
        """
        self.source = source
        self._noun = noun
        self.problems: BoundedList[tuple[int | None, Path, str]] = BoundedList()
        self._text = _decoded(text, source, noun)
        self.value = self._json() if self._text.lstrip()[:1] == '{' else self._yaml()

    def locations(self, paths: Iterable[Path]) -> dict[Path, tuple[int | None, str]]:
        """Return the line of each path, counted from 1, and its place in messages.

        A path that does not exist has the line of its nearest ancestor.
        """
        above = {path: [path[:n] for n in range(len(path), -1, -1)] for path in paths}
        builder = Builder({path for ancestors in above.values() for path in ancestors})
        if above:
            # JSON that is not valid YAML is so rare that its problems may lack a line.
            with contextlib.suppress(yaml.YAMLError, UnicodeError, Unreadable):
                builder.build(self._text)
        known = builder.lines
        return {
            path: self._location(
                next((known[p] for p in ancestors if p in known), None)
            )
            for path, ancestors in above.items()
        }

    def _location(self, line: int | None) -> tuple[int | None, str]:
        return line, self.source if line is None else f'{self.source}:{line}'

    def located_lines(self, problems: Iterable[tuple[Path, Path, str]]) -> list[str]:
        """Return problems as lines, in the order of the text, including its own.

        :param problems: the path whose line to report, the path to show, the problem
        """
        others = list(problems)
        places = self.locations(path for path, _, _ in others)
        whole = [
            (self._location(line), path, text) for line, path, text in self.problems
        ]
        whole += [(places[path], shown, text) for path, shown, text in others]
        whole.sort(key=lambda problem: problem[0][0] or 0)
        return [problem_line(place, path, text) for (_, place), path, text in whole]

    def _json(self) -> Any:
        repeated: list[str] = []

        def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            found = dict(pairs)
            if len(found) < len(pairs):
                keys = collections.Counter(key for key, _ in pairs)
                repeated.extend(key for key, count in keys.items() if count > 1)
            return found

        try:
            value = json.loads(
                self._text, object_pairs_hook=collect, parse_constant=_reject
            )
        except (ValueError, RecursionError):
            # Not JSON: possibly YAML flow style; if not, YAML reports the position
            return self._yaml()
        # JSON allows tabs where YAML does not; JSON strings contain none
        self._text = self._text.replace('\t', ' ')
        if not repeated:
            return value
        try:
            return self._yaml()
        except exceptions.InvalidDocument:
            for key in repeated:
                self.problems.append((None, (), f'the key {key!r} is duplicated'))
            return value

    def _yaml(self) -> Any:
        builder = Builder(None, self._noun)
        try:
            value = builder.build(self._text)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = f':{mark.line + 1}' if mark else ''
            what = ', '.join(t for t in (error.context, error.problem) if t)
            raise exceptions.InvalidDocument(
                [f'{self.source}{line}: this is neither YAML nor JSON: {what}']
            ) from None
        except (yaml.YAMLError, UnicodeError) as error:
            raise exceptions.InvalidDocument(
                [f'{self.source}{self._unreadable_character(error)}']
            ) from None
        except Unreadable as error:
            raise exceptions.InvalidDocument(
                [f'{self.source}:{error.line}: {error}']
            ) from None
        self.problems = builder.problems
        return value

    def _unreadable_character(self, error: Exception) -> str:
        """Return the position of the first character that YAML does not allow, and its
        code.
        """
        found = yaml.reader.Reader.NON_PRINTABLE.search(self._text)
        if not found:
            return f': this cannot be read as YAML: {type(error).__name__}'
        line = self._text.count('\n', 0, found.start()) + 1
        code = f'U+{ord(found.group()):04X}'
        return f':{line}: there is a character that YAML does not allow, {code}'


def _decoded(text: str | bytes, source: str, noun: str) -> str:
    size = len(text)
    if size > MAX_BYTES:
        raise exceptions.InvalidDocument(
            [f'{source}: is larger than {MAX_BYTES // 1024**2} MiB; split the {noun}']
        )
    if isinstance(text, str):
        return text.removeprefix('\ufeff')
    try:
        return text.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        line = text.count(b'\n', 0, error.start) + 1
        raise exceptions.InvalidDocument(
            [f'{source}:{line}: this is not text in UTF-8']
        ) from None


def _reject(name: str) -> Any:
    raise ValueError(name)
