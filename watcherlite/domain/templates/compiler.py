"""The compiler from the values of a template to nodes."""

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.plan_values import Findings
from watcherlite.domain.documents.yaml_values import Path
from watcherlite.domain.templates import nodes, versions
from watcherlite.domain.templates.functions.function import Function, Operator
from watcherlite.domain.templates.functions.function_tables import FunctionTable
from watcherlite.domain.templates.nodes import Referent
from watcherlite.domain.templates.scope import MAX_MADE, Scope
from watcherlite.domain.templates.versions import Version

_EITHER = 'parameter or resource'
#: Kind of a reference -> the noun for its name; other names are not checked.
_NOUNS: Mapping[Referent | None, str] = {
    Referent.PARAMETER: 'parameter',
    Referent.RESOURCE: 'resource',
    Referent.ATTRIBUTE: 'resource',
}
#: The budget for functions with constant arguments, which are evaluated early.
_TRIED = MAX_MADE


class Compiler:
    """Compiles the values of one template.

    Problems are recorded in `findings`; an invalid part becomes a harmless node.

    :param version: of the template
    :param table: the functions of the version
    :param parameters, resources, conditions: the declared names; None: the section is
        invalid, and references to it are not checked
    """

    def __init__(
        self,
        findings: Findings,
        version: Version,
        table: FunctionTable,
        parameters: Collection[str] | None,
        resources: Collection[str] | None,
        conditions: Collection[str] | None,
    ) -> None:
        self._findings = findings
        self._version = version
        self._functions = table.values
        self._conditions = table.conditions
        self._missing = table.unsupported
        pseudo = version.format.pseudo
        self._known: dict[str, set[str] | None] = {
            'parameter': None if parameters is None else {*parameters, *pseudo},
            'resource': None if resources is None else set(resources),
            'condition': None if conditions is None else set(conditions),
        }
        known = (self._known['parameter'], self._known['resource'])
        self._known[_EITHER] = (
            None if None in known else {name for one in known for name in one or ()}
        )
        self._left = _TRIED
        #: The references of the condition in compilation; None: no condition.
        self._within: list[str] | None = None

    # values

    def value(self, written: Any, path: Path) -> nodes.ValueNode:
        """Return the node of a value."""
        if isinstance(written, dict):
            if len(written) == 1:
                name = next(iter(written))
                if name in self._missing:
                    text = f'the function {name} is not supported here; '
                    self._findings.add(path, text + self._missing[name])
                    return nodes.Static(None)
                if name in self._functions:
                    return self._call(self._functions[name], written[name], path)
            members = {k: self.value(v, (*path, k)) for k, v in written.items()}
            if all(isinstance(node, nodes.Static) for node in members.values()):
                return nodes.Static(written)
            return nodes.Mapped(tuple(members.items()))
        if isinstance(written, list):
            items = [self.value(v, (*path, i)) for i, v in enumerate(written)]
            if all(isinstance(node, nodes.Static) for node in items):
                return nodes.Static(written)
            return nodes.Listed(tuple(items))
        return nodes.Static(written)

    def _call(self, function: Function, written: Any, path: Path) -> nodes.ValueNode:
        place = (*path, function.name)
        problem = function.shape(written)
        if problem:
            self._findings.add(place, problem)
            return nodes.Static(None)
        noun = _NOUNS.get(function.refers)
        if function.otherwise is not None and not self._is_resource(written):
            function, noun = function.otherwise, _EITHER
        if function.call is None:
            return self._choice(function, written, place)
        if function.rewrite is not None:
            written = function.rewrite(written)
        if noun == 'resource' and self._within is not None:
            text = 'a condition is evaluated before resources exist; use '
            self._findings.add(place, text + self._version.format.parameter_usage)
            return nodes.Static(None)
        if noun is not None:
            first = written[:1] if isinstance(written, list) else [written]
            # Clients look for this text at the place of the value.
            shown = path if noun == 'parameter' else place
            self._check_known(noun, first[0] if first else None, shown)
        arguments = self.value(written, place)
        node = nodes.Call(
            function.name, function.call, arguments, place, function.refers
        )
        if function.pure and isinstance(arguments, nodes.Static):
            self._evaluate_constant(node)
        return node

    def _is_resource(self, name: Any) -> bool:
        return isinstance(name, str) and name in (self._known['resource'] or ())

    def _check_known(self, noun: str, name: Any, place: Path) -> None:
        known = self._known[noun]
        if known is None or not isinstance(name, str) or name in known:
            return
        near = self._findings.closest_name(name, known)
        hint = f'did you mean {near}?' if near else f'name a {noun} of the template'
        text = f'there is no {noun} {name}; {hint}'
        if noun == 'parameter':
            text = f'The Parameter ({name}) was not provided. {hint.capitalize()}'
        self._findings.add(place, text)

    def _evaluate_constant(self, node: nodes.Call) -> None:
        """Report a function with constant arguments that fails."""
        if self._left <= 0:
            return
        scope = Scope(left=min(self._left, MAX_MADE))
        before = scope.left
        try:
            node.value(scope)
        except nodes.EvaluationFailed as error:
            # A function that exceeds only the remaining budget is valid.
            if scope.left >= 0 or before == MAX_MADE:
                self._findings.add(error.path, error.text)
        self._left -= before - scope.left

    def _choice(self, function: Function, written: Any, place: Path) -> nodes.ValueNode:
        if not isinstance(written, list):
            usage = f'{function.name}: [CONDITION, VALUE, OTHERWISE]'
            text = f'its arguments are {kind(written)}, not a list; write {usage}'
            self._findings.add(place, text)
            return nodes.Static(None)
        if len(written) == 2 and self._version.date < versions.OPEN_IF:
            self._findings.add(
                place,
                'it has 2 arguments, not 3; add the value for when the condition does '
                f'not hold, or use {versions.KEY} {versions.OPEN_IF}',
            )
            return nodes.Static(None)
        condition = self.condition(written[0], (*place, 0))
        then = self.value(written[1], (*place, 1))
        otherwise = None
        if len(written) == 3:
            otherwise = self.value(written[2], (*place, 2))
        return nodes.Choice(condition, then, otherwise, place)

    # conditions

    def definition(
        self, written: Any, path: Path
    ) -> tuple[nodes.ValueNode, tuple[str, ...]]:
        """Return the node of a named condition, and the conditions that it refers
        to."""
        self._within = []
        try:
            node = self.condition(written, path)
            return node, tuple(dict.fromkeys(self._within))
        finally:
            self._within = None

    def condition(self, written: Any, path: Path) -> nodes.ValueNode:
        """Return the node of a condition: a name, true or false, or a function."""
        if isinstance(written, bool):
            return nodes.Static(written)
        if isinstance(written, str):
            self._check_known('condition', written, path)
            if self._within is not None:
                self._within.append(written)
            return nodes.NamedCondition(written)
        if not isinstance(written, dict) or len(written) != 1:
            self._findings.add(
                path,
                f'this is {kind(written)}; a condition is a name of one, true or '
                f'false, or one function like {self._version.format.condition_example}',
            )
            return nodes.Static(False)
        outer = self._within
        self._within = [] if outer is None else outer
        try:
            return self._decision(*next(iter(written.items())), written, path)
        finally:
            self._within = outer

    def _decision(
        self, name: str, arguments: Any, written: Any, path: Path
    ) -> nodes.ValueNode:
        place = (*path, name)
        function = self._conditions.get(name)
        if function is None:
            if name not in self._functions and name not in self._missing:
                known = sorted({*self._conditions, *self._functions})
                text = f'there is no function {name}; known are {", ".join(known)}'
                self._findings.add(path, text)
                return nodes.Static(False)
            return self.value(written, path)
        if function.call is not None:
            return self._call(function, arguments, path)
        problem = function.shape(arguments)
        negates = function.operator is Operator.NOT
        if not problem and not negates and not isinstance(arguments, list):
            problem = f'its arguments are {kind(arguments)}; they must be a list'
        if problem:
            self._findings.add(place, problem)
            return nodes.Static(False)
        if not isinstance(arguments, list):
            return _Combined(_evaluate_not, (self.condition(arguments, place),), place)
        each = [self.condition(a, (*place, i)) for i, a in enumerate(arguments)]
        return _Combined(_COMBINED[function.operator], tuple(each), place)


@dataclasses.dataclass(frozen=True, slots=True)
class _Combined:
    """A `not`, `and` or `or` of conditions, which are evaluated as far as needed."""

    combine: Callable[[Iterator[bool]], bool]
    items: tuple[nodes.ValueNode, ...]
    place: Path

    def value(self, scope: Scope) -> Any:
        return self.combine(
            nodes.evaluate_condition(node, scope, self.place) for node in self.items
        )

    def add_references(self, scope: Scope, named: nodes.ReferencedNames) -> None:
        """Do nothing: conditions cannot refer to resources."""


def _evaluate_not(given: Iterator[bool]) -> bool:
    return not next(given)


_COMBINED: Mapping[Operator | None, Callable[[Iterator[bool]], bool]] = {
    Operator.NOT: _evaluate_not,
    Operator.AND: all,
    Operator.OR: any,
}
