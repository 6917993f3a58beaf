"""Templates in which the values of some parameters are unknown."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite.domain.templates import document, formats

#: A placeholder for an unknown parameter, by the type of the parameter.
_NEUTRAL: Mapping[str, Any] = {
    'string': '',
    'number': 0,
    'boolean': False,
    'json': {},
    'comma_delimited_list': '',
}


@dataclasses.dataclass(frozen=True, slots=True)
class _Functions:
    """The functions of a format with a name as their argument.

    :param parameter: the function that returns a parameter
    :param resource: functions that return a value of a resource
    :param naming: functions whose argument must name something that exists
    """

    parameter: str
    resource: frozenset[str]
    naming: frozenset[str]


_FUNCTIONS: Mapping[str, _Functions] = {
    formats.HOT.type: _Functions(
        'get_param',
        frozenset({'get_resource', 'get_attr'}),
        frozenset({'get_file', 'get_resource', 'get_attr'}),
    ),
    formats.CFN.type: _Functions(
        'Ref', frozenset({'Fn::GetAtt'}), frozenset({'Ref', 'Fn::GetAtt'})
    ),
}


class UnknownNames:
    """The names in a template whose values are unknown.

    :param template: it may be invalid
    :ivar parameters: the names of the unknown parameters
    """

    def __init__(self, template: Mapping[str, Any], parameters: frozenset[str]) -> None:
        self._template = template
        self._format = formats.format_of(template)
        self._functions = _FUNCTIONS[self._format.type]
        self.parameters = parameters
        self._names = parameters
        if self._format is formats.CFN:
            # Ref names resources, too.
            resources = formats.mapping_section(template, 'resources')
            self._names = parameters.union(resources)

    def mask(self, written: Any, value: Any) -> Any:
        """Return a value with None in place of what depends on unknown names.

        :param written: the value as the template has it
        """
        if not self.affect(written):
            return value
        match written, value:
            case dict(), dict() if value.keys() <= written.keys():
                return {k: self.mask(written[k], v) for k, v in value.items()}
            case list(), list() if len(written) == len(value):
                pairs = zip(written, value, strict=True)
                return [self.mask(raw, inner) for raw, inner in pairs]
        return None

    def affect(self, written: Any) -> bool:
        """Return whether a value depends on resources or on unknown parameters."""
        if isinstance(written, dict):
            if len(written) == 1:
                ((name, given),) = written.items()
                if name in self._functions.resource:
                    return True
                if name == self._functions.parameter:
                    first = given[0] if isinstance(given, list) and given else given
                    return isinstance(first, str) and first in self._names
            return any(self.affect(inner) for inner in written.values())
        if isinstance(written, list):
            return any(self.affect(inner) for inner in written)
        return False

    def relaxed_template(self) -> dict[str, Any]:
        """Return a template that accepts any value for its unknown parameters."""
        found = document.Document(self._template)
        found.markup = getattr(self._template, 'markup', None)
        key = self._format.key
        found[key('parameters')] = self._relaxed_parameters()
        declared = formats.section(self._template, 'conditions')
        conditions = self._conditions(declared)
        if isinstance(declared, dict):
            found[key('conditions')] = {
                n: n in conditions or v for n, v in declared.items()
            }
        for section in map(key, ('resources', 'outputs')):
            if isinstance(found.get(section), dict):
                found[section] = {
                    name: self._without_condition(
                        self._without_unknown_names(written), conditions
                    )
                    for name, written in found[section].items()
                }
        return found

    def _relaxed_parameters(self) -> dict[str, Any]:
        """Return the section of the parameters, with defaults for unknown ones."""
        found = dict(formats.mapping_section(self._template, 'parameters'))
        key = self._format.key
        names = {written: name for name, written in self._format.types.items()}
        for name in self.parameters:
            one = found.get(name)
            kind = one.get(key('type')) if isinstance(one, Mapping) else None
            if isinstance(kind, str) and kind in names:
                default = _NEUTRAL[names[kind]]
                found[name] = {key('type'): kind, key('default'): default}
        return found

    def _conditions(self, written: Any) -> frozenset[str]:
        """Return the names of the conditions that depend on unknown parameters."""
        found: set[str] = set()
        before = -1
        while isinstance(written, dict) and before != len(found):
            before = len(found)
            found |= {
                name
                for name, value in written.items()
                if self.affect(value) or _names_condition(value, found)
            }
        return frozenset(found)

    def _without_condition(self, written: Any, conditions: frozenset[str]) -> Any:
        """Return a resource or output without its condition, if that is unknown."""
        name = self._format.key('condition')
        if not isinstance(written, dict) or name not in written:
            return written
        condition = written[name]
        if not (self.affect(condition) or _names_condition(condition, conditions)):
            return written
        return {key: value for key, value in written.items() if key != name}

    def _without_unknown_names(self, written: Any) -> Any:
        """Return a value with None in place of names that are unknown."""
        if isinstance(written, dict):
            if len(written) == 1:
                ((name, given),) = written.items()
                if name in self._functions.naming and self._names_unknown(given):
                    return None
            return {
                name: self._without_unknown_names(inner)
                for name, inner in written.items()
            }
        if isinstance(written, list):
            return [self._without_unknown_names(inner) for inner in written]
        return written

    def _names_unknown(self, given: Any) -> bool:
        """Return whether the name that a function takes is unknown."""
        parts = given if isinstance(given, list) else [given]
        return any(isinstance(part, dict) and self.affect(part) for part in parts)


def _names_condition(written: Any, names: frozenset[str] | set[str]) -> bool:
    if isinstance(written, dict):
        return any(_names_condition(inner, names) for inner in written.values())
    if isinstance(written, list):
        return any(_names_condition(inner, names) for inner in written)
    return isinstance(written, str) and written in names
