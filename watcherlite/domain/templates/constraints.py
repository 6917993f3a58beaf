"""Constraints of the values of parameters."""

import dataclasses
import math
import re
from collections.abc import Mapping
from typing import Any

from watcherlite.domain import patterns
from watcherlite.domain.documents import json_values
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.plan_values import Findings, check_keys, quote
from watcherlite.domain.documents.yaml_values import Path

LENGTH, RANGE, MODULO = 'length', 'range', 'modulo'
VALUES, PATTERN, CUSTOM = 'allowed_values', 'allowed_pattern', 'custom_constraint'
_NUMBER = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?', re.ASCII)
_KINDS = (LENGTH, RANGE, MODULO, VALUES, PATTERN, CUSTOM)
#: Maximum number of allowed values in a message.
_NAMED = 20
#: Kind -> the types of parameters that may have it.
_FITS = {
    LENGTH: ('string', 'json', 'comma_delimited_list'),
    RANGE: ('number',),
    MODULO: ('number',),
    VALUES: ('string', 'number', 'boolean', 'comma_delimited_list'),
    PATTERN: ('string',),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint of a parameter.

    :param kind: length, range, modulo, allowed_values, allowed_pattern, or
        custom_constraint, which refers to a cloud and is not checked
    :param settings: `min`, `max`, `step`, `offset`; allowed values are in `value`
    :param description: the message for an invalid value
    """

    kind: str
    settings: Mapping[str, Any]
    description: str = ''

    def problem(self, value: Any, secret: bool = False) -> str | None:
        """Return the message for an invalid value; None: the value is valid.

        :param secret: omit the allowed values from the message
        """
        text = self._problem(value)
        if text and secret and self.kind == VALUES:
            text = 'it must be one of the values that the template allows'
        if text and self.description:
            return f'{text} ({self.description})'
        return text

    def _problem(self, value: Any) -> str | None:
        settings = self.settings
        if self.kind == LENGTH:
            size = len(value)
            return (
                None
                if _is_in_range(size, settings)
                else f'its length {_range(settings)}'
            )
        if self.kind == RANGE:
            return None if _is_in_range(value, settings) else f'it {_range(settings)}'
        if self.kind == MODULO:
            step, offset = settings['step'], settings['offset']
            if value % step == offset % step:
                return None
            return f'divided by {step}, it must leave {offset}'
        if self.kind == VALUES:
            allowed = settings['value']
            values = value if isinstance(value, list) else [value]
            if all(one in allowed for one in values):
                return None
            named = ', '.join(quote(one) for one in allowed[:_NAMED])
            return f'it must be one of {named}{", ..." if allowed[_NAMED:] else ""}'
        if self.kind == PATTERN:
            return _mismatch(settings['value'], value)
        return None


def _mismatch(pattern: str, value: str) -> str | None:
    try:
        if patterns.compiled(pattern, lookahead=True).matches(value):
            return None
    except patterns.TooLong as error:
        return str(error)
    return f'it must match the pattern {pattern}'


def _is_in_range(value: float, settings: Mapping[str, Any]) -> bool:
    low, high = settings.get('min'), settings.get('max')
    return (low is None or value >= low) and (high is None or value <= high)


def _range(settings: Mapping[str, Any]) -> str:
    low, high = settings.get('min'), settings.get('max')
    if low is None:
        return f'must be at most {high}'
    if high is None:
        return f'must be at least {low}'
    return f'must be from {low} to {high}'


def read(
    findings: Findings, path: Path, written: Any, parameter_type: str
) -> tuple[Constraint, ...]:
    """Return the constraints of a parameter; report problems with them.

    Allowed values are not yet of the type of the parameter.
    """
    if written is None:
        return ()
    if not isinstance(written, list):
        text = (
            f'this is {kind(written)}; it must be a list like [{{length: {{max: 8}}}}]'
        )
        findings.add(path, text)
        return ()
    found = [
        _constraint(findings, (*path, at), one, parameter_type)
        for at, one in enumerate(written)
    ]
    return tuple(one for one in found if one is not None)


def _constraint(
    findings: Findings, path: Path, written: Any, parameter_type: str
) -> Constraint | None:
    if not isinstance(written, dict):
        findings.add(path, f'this is {kind(written)}; it must be a mapping')
        return None
    check_keys(findings, path, written, (*_KINDS, 'description'))
    names = [name for name in written if name in _KINDS]
    if len(names) != 1:
        findings.add(
            path,
            f'there are {len(names)} constraints here; write one, like '
            '{range: {min: 1, max: 9}}',
        )
        return None
    name = names[0]
    if not is_applicable(findings, (*path, name), name, parameter_type):
        return None
    found = settings(findings, (*path, name), name, written[name])
    description = written.get('description')
    if found is None:
        return None
    return Constraint(name, found, description if isinstance(description, str) else '')


def is_applicable(
    findings: Findings, path: Path, name: str, parameter_type: str
) -> bool:
    """Return whether parameters of a type may have a constraint; report otherwise."""
    if parameter_type in _FITS.get(name, (parameter_type,)):
        return True
    text = f'a {parameter_type} has no such constraint; this one is for '
    findings.add(path, text + ' and '.join(_FITS[name]))
    return False


def settings(
    findings: Findings, path: Path, name: str, written: Any
) -> dict[str, Any] | None:
    """Return the settings of a constraint; None: they are invalid."""
    if name in (LENGTH, RANGE):
        found = numbers(findings, path, written, ('min', 'max'), whole=name == LENGTH)
        if found == {}:
            findings.add(path, 'min and max are missing; set at least one')
        return found or None
    if name == MODULO:
        found = numbers(findings, path, written, ('step', 'offset'), whole=False)
        if found is None:
            return None
        step, offset = found.get('step'), found.get('offset')
        if step is None or offset is None or not step or abs(offset) >= abs(step):
            text = 'write a step other than 0 and a smaller offset, like '
            findings.add(path, text + '{step: 2, offset: 0}')
            return None
        return found
    if name == VALUES:
        if not isinstance(written, list) or not written:
            text = f'this is {kind(written)}' if written != [] else 'this list is empty'
            findings.add(
                path, f'{text}; write a list of the values, like [small, large]'
            )
            return None
        return {'value': written}
    if not isinstance(written, str) or not written:
        findings.add(path, f'this is {kind(written)}; it must be text')
        return None
    if name == PATTERN:
        try:
            patterns.compiled(written, lookahead=True)
        except patterns.InvalidPattern as error:
            findings.add(path, f'this is no regular expression: {error}')
            return None
    return {'value': written}


def numbers(
    findings: Findings, path: Path, written: Any, names: tuple[str, str], whole: bool
) -> dict[str, Any] | None:
    """Return the numbers of a mapping; None: one is invalid.

    :param whole: they must be whole numbers
    """
    if not isinstance(written, dict):
        example = f'{{{names[0]}: 2, {names[1]}: 0}}'
        findings.add(
            path, f'this is {kind(written)}; it must be a mapping like {example}'
        )
        return None
    check_keys(findings, path, written, names)
    found: dict[str, Any] = {}
    for name in names:
        value = written.get(name)
        if value is None:
            continue
        number = number_of(value)
        if number is None or (whole and not isinstance(number, int)):
            noun = 'a whole number' if whole else 'a number'
            findings.add((*path, name), f'{quote(value)} is not {noun}')
            return None
        found[name] = number
    return found


def number_of(value: Any) -> int | float | None:
    """Return a number, which may be a text, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = value.strip()
        if not _NUMBER.fullmatch(value):
            return None
        try:
            value = int(value)
        except ValueError:
            value = float(value) if len(value) < 400 else None
    if isinstance(value, int):
        return value if value.bit_length() <= json_values.MAX_BITS else None
    if isinstance(value, float) and math.isfinite(value):
        return value
    return None
