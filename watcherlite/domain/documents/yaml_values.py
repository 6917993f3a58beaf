"""Construction of values from the events of the YAML parser, without recursion."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from watcherlite.domain.documents import json_values
from watcherlite.domain.documents.bounded_list import BoundedList

Path = tuple[str | int, ...]

#: Maximum number of values represented by all aliases.
MAX_REPEATED = 1_000_000
#: Maximum nesting depth: the time of the parser for a further level grows with the
#: depth.
_MAX_OPEN = 200
_TOO_DEEP = f'this is nested deeper than {_MAX_OPEN} levels'
#: The error of libyaml for a text that is nested deeper than 1,000 levels.
_PARSER_LIMIT = 'exceeded maximum nesting depth'

_TAG = 'tag:yaml.org,2002:'
_MERGE = _TAG + 'merge'
_SCALARS = frozenset(_TAG + name for name in ('null', 'bool', 'int', 'float'))
#: Longer numbers are not JSON, see json_values.MAX_BITS.
_MAX_DIGITS = json_values.MAX_BITS + 3
#: YAML 1.1 numbers, without base 60, which YAML 1.2 does not have and whose parsing
#: time is quadratic; and the octal notation of YAML 1.2.
_INTEGER = re.compile(
    r'[-+]?(?:0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+|0[0-7_]+|0|[1-9][0-9_]*)\Z'
)
_FLOAT = re.compile(
    r'(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?'
    r'|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?'
    r'|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z'
)
_NUMBERS = {_TAG + 'int': _INTEGER, _TAG + 'float': _FLOAT}
_BASES = {'0b': 2, '0o': 8, '0x': 16}
_NO_KEY = object()
_MERGE_KEY = object()


class _Loader(getattr(yaml, 'CSafeLoader', yaml.SafeLoader)):  # type: ignore[misc]
    """The safe loader, in C if available, without dates and base 60."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, _NUMBERS.get(tag, regexp))
        for tag, regexp in found
        if tag != _TAG + 'timestamp'
    ]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class Unreadable(Exception):
    """The rest of the text cannot be parsed."""

    def __init__(self, line: int, text: str) -> None:
        self.line = line
        super().__init__(text)


class _Open:
    """An open mapping or list."""

    __slots__ = ('anchor', 'key', 'line', 'merged', 'repeated', 'size', 'value')

    def __init__(self, value: Any, anchor: str | None, line: int) -> None:
        self.value = value
        self.anchor = anchor
        self.line = line
        self.size = 1
        self.key: Any = _NO_KEY
        self.merged: list[dict[Any, Any]] = []
        self.repeated = False


class Builder:
    """The construction of values from the events of the YAML parser.

    :param desired: the paths whose lines to record, or None
    :param noun: the content of a text, for messages
    """

    def __init__(self, desired: set[Path] | None, noun: str = 'plan') -> None:
        self.desired = desired
        self.noun = noun
        self.lines: dict[Path, int] = {}
        self.problems: BoundedList[tuple[int | None, Path, str]] = BoundedList()
        self.root: Any = None
        self.open: list[_Open] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.repeated = 0
        self.plain: dict[str, Any] = {}

    def build(self, text: str) -> Any:
        loader = _Loader(text)
        try:
            documents = 0
            for event in _events(loader):
                line = event.start_mark.line + 1
                if isinstance(event, yaml.ScalarEvent):
                    self._add(self._scalar(loader, event, line), line, event.anchor)
                elif isinstance(event, yaml.MappingStartEvent):
                    self._begin({}, event, line)
                elif isinstance(event, yaml.SequenceStartEvent):
                    self._begin([], event, line)
                elif isinstance(event, yaml.CollectionEndEvent):
                    self._end()
                elif isinstance(event, yaml.AliasEvent):
                    self._alias(str(event.anchor), line)
                elif isinstance(event, yaml.DocumentStartEvent):
                    documents += 1
                    if documents > 1:
                        raise Unreadable(
                            line,
                            'a second document starts here; a file contains one '
                            f'{self.noun}: remove the line of dashes, or use two files',
                        )
        finally:
            loader.dispose()
        return self.root

    def _path(self) -> Path:
        return tuple(
            len(o.value)
            if isinstance(o.value, list)
            else '<<'
            if o.key is _MERGE_KEY
            else o.key
            if isinstance(o.key, str)
            else str(o.key)
            for o in self.open
        )

    def _begin(self, value: Any, event: Any, line: int) -> None:
        kind = 'seq' if isinstance(value, list) else 'map'
        if event.tag not in (None, '!', _TAG + kind):
            self._tag(event.tag, line)
        if self.open:
            top = self.open[-1]
            if isinstance(top.value, dict) and top.key is _NO_KEY:
                raise Unreadable(line, 'a mapping or a list cannot be a key')
        if len(self.open) > _MAX_OPEN:
            raise Unreadable(line, _TOO_DEEP)
        self._record_line(line)
        self.open.append(_Open(value, event.anchor, line))

    def _end(self) -> None:
        done = self.open.pop()
        for other in done.merged:
            for key, value in other.items():
                done.value.setdefault(key, value)
        self._add(done.value, done.line, done.anchor, done.size, noted=True)

    def _alias(self, name: str, line: int) -> None:
        if name not in self.anchors:
            if any(o.anchor == name for o in self.open):
                raise Unreadable(line, f'the alias *{name} contains itself')
            raise Unreadable(line, f'there is no anchor &{name} for the alias *{name}')
        value, size = self.anchors[name]
        self.repeated += size
        if self.repeated > MAX_REPEATED:
            raise Unreadable(
                line, f'aliases repeat more than {MAX_REPEATED} values; write fewer'
            )
        self._add(value, line, None, size)

    def _add(
        self,
        value: Any,
        line: int,
        anchor: str | None,
        size: int = 1,
        noted: bool = False,
    ) -> None:
        """Add a value to its parent: the root, a list, or a mapping as key or value."""
        if anchor is not None:
            self.anchors[anchor] = (value, size)
        if not self.open:
            if not noted:
                self._record_line(line)
            self.root = value
            return
        top = self.open[-1]
        top.size += size
        if isinstance(top.value, list):
            if not noted:
                self._record_line(line)
            top.value.append(value)
        elif top.key is _NO_KEY:
            self._key(top, value, line)
        else:
            if top.key is _MERGE_KEY:
                self._merge(top, value, line)
            elif not top.repeated:
                top.value[top.key] = value
            top.key, top.repeated = _NO_KEY, False

    def _key(self, top: _Open, key: Any, line: int) -> None:
        if isinstance(key, (dict, list)):
            raise Unreadable(line, 'a mapping or a list cannot be a key')
        top.key = key
        if key is _MERGE_KEY:
            return
        top.repeated = key in top.value
        if top.repeated:
            self._report(line, 'this key is duplicated; remove one of them')
        else:
            self._record_line(line)

    def _merge(self, top: _Open, value: Any, line: int) -> None:
        merged = value if isinstance(value, list) else [value]
        if all(isinstance(m, dict) for m in merged):
            top.merged += merged
        else:
            self._report(line, 'only mappings can be merged; name an alias of one')

    def _report(self, line: int, text: str) -> None:
        self.problems.append((line, self._path(), text))

    def _record_line(self, line: int) -> None:
        """Record the line of the next value, or of its key."""
        if self.desired is not None:
            path = self._path()
            if path in self.desired:
                self.lines.setdefault(path, line)

    def _scalar(self, loader: Any, event: Any, line: int) -> Any:
        text: str = event.value
        if event.tag is None and not event.implicit[0]:
            return text  # quoted, or a block
        if event.tag is None and text in self.plain:
            return self.plain[text]
        tag = event.tag
        if tag is None:
            tag = loader.resolve(yaml.ScalarNode, text, event.implicit)
        if tag in (_TAG + 'str', '!'):
            value: Any = text
        elif tag == _MERGE:
            value = _MERGE_KEY if self._expects_key() else text
        elif tag in _NUMBERS and len(text) > _MAX_DIGITS:
            self._report(line, 'this number has too many digits; put it in quotes')
            return None
        elif tag in _SCALARS:
            try:
                value = _converted(loader, tag, text)
            except (ValueError, KeyError, IndexError, OverflowError):
                what = tag.removeprefix(_TAG)
                self._report(line, f'{text[:40]!r} is not of the type {what}')
                return None
        else:
            self._tag(tag, line)
            return None
        if event.tag is None and tag != _MERGE and len(self.plain) < 10_000:
            self.plain[text] = value
        return value

    def _expects_key(self) -> bool:
        top = self.open[-1] if self.open else None
        return top is not None and isinstance(top.value, dict) and top.key is _NO_KEY

    def _tag(self, tag: str, line: int) -> None:
        shown = tag.replace(_TAG, '!!', 1)
        self._report(line, f'the tag {shown} is not allowed; write a plain value')


def _converted(loader: Any, tag: str, text: str) -> Any:
    """Return the value of a scalar; raises ValueError or KeyError if it is invalid."""
    if tag in _NUMBERS and ':' in text:
        raise ValueError(text)
    if tag == _TAG + 'int':
        digits = text.replace('_', '').lower()
        unsigned = digits.lstrip('+-')
        base = _BASES.get(
            unsigned[:2], 8 if len(unsigned) > 1 and unsigned[0] == '0' else 10
        )
        return int(digits, base)
    return loader.yaml_constructors[tag](loader, yaml.ScalarNode(tag, text))


def _events(loader: Any) -> Iterator[Any]:
    try:
        while loader.check_event():
            yield loader.get_event()
    except yaml.MarkedYAMLError as error:
        # libyaml since 0.2.6 has a limit, and reads a line of brackets in advance.
        if error.problem != _PARSER_LIMIT or error.problem_mark is None:
            raise
        raise Unreadable(error.problem_mark.line + 1, _TOO_DEEP) from None
