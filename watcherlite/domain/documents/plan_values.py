"""The values of a plan document and their validation.

Every function takes the value at a path and returns its normalized form. For an invalid
value, it records a problem and returns a harmless value, so that all problems of a
document are found in one pass.
"""

import datetime
import difflib
import math
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

import yaml

from watcherlite.clock import UTC
from watcherlite.domain.documents import json_values
from watcherlite.domain.documents.bounded_list import BoundedList
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.yaml_values import Path
from watcherlite.states import action_plan as states

#: The columns String(255) of plans and actions.
NAME_LENGTH = 255
#: The maximum number of seconds, or limit, in the database.
MAX_NUMBER = 2**31 - 1
#: Searching for a similar name takes some 0.1 ms for each candidate: the maximum number
#: of candidates for one document.
_MAX_COMPARISONS = 10_000
_UNUSABLE = frozenset({'Cc', 'Cs', 'Zl', 'Zp'})


class Findings:
    """The problems: (path, text)."""

    def __init__(self) -> None:
        self.problems: BoundedList[tuple[Path, str]] = BoundedList()
        self._comparisons_left = _MAX_COMPARISONS

    def add(self, path: Path, text: str) -> None:
        self.problems.append((path, text))

    def closest_name(self, name: object, known: Collection[str]) -> str | None:
        """Return the similar known name, or None."""
        if not isinstance(name, str) or len(known) > self._comparisons_left:
            return None
        self._comparisons_left -= len(known)
        found = difflib.get_close_matches(name, list(known), n=1)
        return found[0] if found else None


def check_keys(
    findings: Findings, place: Path, obj: Mapping[Any, Any], known: tuple[str, ...]
) -> None:
    """Report unknown keys of a mapping."""
    for key in obj:
        if key not in known:
            near = findings.closest_name(key, known)
            hint = f'did you mean {near}?' if near else f'known are {", ".join(known)}'
            findings.add((*place, str(key)), f'there is no such key; {hint}')


def name(findings: Findings, path: Path, value: object) -> str | None:
    """Return a text that is a valid name; None for null or other values.

    An invalid text is returned as well: others may refer to it.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        findings.add(path, f'{_type_name(value)}, not text{_quotes(value)}')
        return None
    if not value or len(value) > NAME_LENGTH:
        findings.add(
            path, f'this has {len(value)} characters; it must have 1 to {NAME_LENGTH}'
        )
    elif value != value.strip():
        findings.add(path, f'{quote(value)} starts or ends with a space')
    elif not value.isprintable() and any(
        unicodedata.category(c) in _UNUSABLE for c in value
    ):
        findings.add(path, f'{quote(value)} has a character that cannot be shown')
    return value


def on_failure(findings: Findings, path: Path, value: object) -> str:
    """Return one of `states.ON_FAILURE`, the first one for null."""
    if isinstance(value, str) and value in states.ON_FAILURE:
        return value
    if value is not None:
        known = ', '.join(states.ON_FAILURE)
        findings.add(path, f'{quote(value)} is not one of {known}')
    return next(iter(states.ON_FAILURE))


def max_parallel(findings: Findings, path: Path, value: Any) -> int | None:
    """Return the maximum number of parallel actions, None for no limit."""
    if value is None:
        return None
    if _is_number(value, int) and 1 <= value <= MAX_NUMBER:
        return value
    findings.add(
        path,
        f'{quote(value)} is not a whole number of actions from 1 to {MAX_NUMBER}; '
        'leave it out for no limit',
    )
    return None


def timeout(findings: Findings, path: Path, value: Any) -> int:
    """Return whole seconds; 0 for null."""
    if value is None:
        return 0
    if _is_number(value, (int, float)) and 0 <= value <= MAX_NUMBER:
        # Rounded down, half a second would become 0, the default
        return math.ceil(value)
    findings.add(
        path,
        f'{quote(value)} is not a number of seconds from 0 to {MAX_NUMBER}; 0 is '
        'the default',
    )
    return 0


def not_before(
    findings: Findings, path: Path, value: object
) -> datetime.datetime | None:
    """Return a time in UTC; None for null.

    Accepted: ISO 8601 and YAML's timestamps as text, with a zone; aware datetimes.
    """
    if value is None:
        return None
    found = _time(value) if isinstance(value, str) else value
    if isinstance(found, datetime.datetime) and found.tzinfo is not None:
        try:
            return found.astimezone(UTC)
        except OverflowError:
            findings.add(path, f'{quote(value)} is out of range')
            return None
    findings.add(
        path,
        f'{quote(value)} is not a time with a zone; write it as 2030-01-31T22:00:00Z, '
        'or with +01:00 for the Z',
    )
    return None


def _time(text: str) -> object:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        pass
    if yaml.SafeLoader.timestamp_regexp.match(text):
        node = yaml.ScalarNode('tag:yaml.org,2002:timestamp', text)
        try:
            return yaml.SafeLoader('').construct_yaml_timestamp(node)
        except (ValueError, OverflowError):
            return None
    return None


def inputs(findings: Findings, path: Path, value: object) -> Mapping[str, Any]:
    """Return a mapping that is entirely JSON; an empty one for null."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        findings.add(path, f'this is {kind(value)}; it must be a mapping')
        return {}
    for inner, text in json_values.problems(value):
        findings.add(path + inner, text)
        if findings.problems.is_full:
            break
    return value


def parents(findings: Findings, path: Path, value: object) -> tuple[str, ...]:
    """Return a list of names; none for null, empty text for an invalid name."""
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)):
        hint = (
            f'; write [{value}]' if isinstance(value, str) and len(value) < 60 else ''
        )
        findings.add(
            path, f'this is {kind(value)}; it must be a list of names of actions{hint}'
        )
        return ()
    found: list[str] = []
    seen: set[str] = set()
    for i, item in enumerate(value):
        if not isinstance(item, str) or not item:
            text = f'{_type_name(item)}, not the name of an action{_quotes(item)}'
            findings.add((*path, i), text)
            item = ''
        elif item in seen:
            findings.add((*path, i), f'{quote(item)} is duplicated; name it once')
        found.append(item)
        seen.add(item)
        if findings.problems.is_full:
            break
    return tuple(found)


def quote(value: object) -> str:
    """Return a value for a message; long or nested ones as their type."""
    if value is None or isinstance(value, (dict, list, tuple)):
        return kind(value)
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + '…'


def _is_number(value: object, types: type | tuple[type, ...]) -> bool:
    return isinstance(value, types) and not isinstance(value, bool)


def _type_name(value: object) -> str:
    subject = quote(value)
    return f'{"this" if subject == kind(value) else subject} is {kind(value)}'


def _quotes(value: object) -> str:
    return '' if isinstance(value, (str, dict, list, tuple)) else '; put it in quotes'
