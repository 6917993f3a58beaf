"""Finding all that is wrong with what a stack, and each in it, is to be."""

import dataclasses
import json
import logging
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import outcomes
from watcherlite.domain.handling import Batch, Expansion
from watcherlite.domain.markup import path_text, text_path
from watcherlite.domain.stacks import Definition, Stack
from watcherlite.domain.templates import document
from watcherlite.domain.templates.blueprint import Blueprint, NothingMade
from watcherlite.domain.templates.nodes import Attribute, Failed
from watcherlite.domain.yaml_values import Path
from watcherlite.engine.stacks import expansion, handlers, nesting, problems
from watcherlite.engine.stacks.parts import Limits, Parts
from watcherlite.engine.stacks.resolving import blueprint
from watcherlite.engine.stacks.resource_context import Imagined, handler_context
from watcherlite.plugins.base import NestedHandler, ResourceHandler

LOG = logging.getLogger(__name__)

#: A value of each type of parameters, for one that is not known yet.
_NEUTRAL: Mapping[str, Any] = {
    'string': '',
    'number': 0,
    'boolean': False,
    'json': {},
    'comma_delimited_list': '',
}
_NOTHING: frozenset[str] = frozenset()
#: How problems begin that say what in a resource they are about.
_PART = re.compile(
    r"((?:properties|update_policy)(?:[.\[](?:[^:'\"]|'[^']*'|\"[^\"]*\")*)?): (.*)",
    re.DOTALL,
)


def check_sizes(definition: Definition, limits: Limits) -> None:
    """Refuse texts that are too large; raises RequestLimitExceeded."""
    sizes = {}
    if not isinstance(definition.template, document.Document):
        # That one was measured when it was parsed.
        text = json.dumps(definition.template, default=str)
        sizes['template'] = len(text)
    for name, text in definition.files.items():
        sizes[f'files.{name}'] = len(text.encode(errors='replace'))
    wrong = [
        f'{place}: its size ({size} bytes) exceeds maximum allowed size '
        f'({limits.template} bytes).'
        for place, size in sizes.items()
        if size > limits.template
    ]
    if wrong:
        raise exceptions.RequestLimitExceeded('; '.join(wrong))


class Checking:
    """One look at a stack and those in it.

    What depends on resources that have not been made, or on parameters that are
    not known, is not known, and nothing is said against it.

    :ivar resources: how many there were
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._limits = parts.limits
        self._known: dict[tuple[Any, ...], int] = {}
        self._parsed: dict[str, Mapping[str, Any]] = {}
        self._fitting: dict[tuple[str, str], dict[str, Any]] = {}
        self._problems = problems.Problems()
        self.resources = 0

    @property
    def told(self) -> list[str]:
        """Return the problems, or the first of very many, each with its place."""
        return self._problems.told

    def walk(
        self,
        stack: Stack,
        made: Blueprint,
        outer: '_One | None' = None,
        around: tuple[str, ...] = (),
        unknown: frozenset[str] = _NOTHING,
    ) -> None:
        """Look at all resources of a stack.

        :param outer: the resource that the stack is
        :param around: the templates around it
        :param unknown: names of parameters whose values are not known
        :raises RequestLimitExceeded: it becomes too large
        """
        self.resources += len(made.resources)
        self._check_count()
        looked_at = {
            name: _One(stack, made, name, outer, around, unknown)
            for name in made.resources
        }
        for one in looked_at.values():
            self._resource(one)
        for attribute in made.attributes:
            of = looked_at.get(attribute.resource)
            if of is not None and of.attributes is not None:
                self._attribute(of, attribute, of.attributes)

    def blueprint(
        self, stack: Stack, definition: Definition, unknown: frozenset[str]
    ) -> Blueprint:
        """Return a blueprint in which some parameters are None: not known."""
        if not unknown:
            return blueprint(stack, definition)
        made = blueprint(
            stack,
            dataclasses.replace(
                definition, template=_tolerant(definition.template, unknown)
            ),
        )
        return dataclasses.replace(
            made, parameters={**made.parameters, **dict.fromkeys(unknown)}
        )

    # one resource

    def _resource(self, one: '_One') -> None:
        handler_name = one.made.handler(one.name)
        if handler_name in one.around:
            path = ' -> '.join([*one.around, handler_name])
            self._add(one, f'templates contain each other in a circle: {path}')
            return
        try:
            handler = handlers.make(self._parts.handlers, handler_name)
        except exceptions.PluginError as error:
            self._add(one, str(error), '.type')
            return
        external = one.made.resources[one.name].external_id is not None
        if external and isinstance(handler, NestedHandler):
            text = f'{handler_name} is a stack, which cannot be one that is there'
            self._add(one, text, '.external_id')
            return
        fitted = self._fitted(one, handler, handler_name, external)
        if fitted is None:
            return
        one.attributes = self._attributes(handler, fitted)
        if isinstance(handler, NestedHandler):
            one.has_members = True
            self._nested(one, handler, handler_name, fitted)

    def _attributes(
        self, handler: ResourceHandler, fitted: Mapping[str, Any]
    ) -> Collection[str] | None:
        """Return the attributes that a resource has; None: nobody knows."""
        try:
            return handler.attribute_names(fitted)
        except Exception:
            LOG.exception('A resource handler could not say which attributes it has')
            return None

    def _attribute(
        self, one: '_One', attribute: Attribute, known: Collection[str]
    ) -> None:
        """Say so if a resource has no such attribute."""
        name = attribute.name
        # All of them, and what is of a member.
        of_member = one.has_members and name.startswith('resource.')
        if name in known or name == 'show' or of_member:
            return
        kind = one.made.resources[one.name].type
        has = f'it has {", ".join(sorted(known))}' if known else 'it has none'
        text = (
            f'The Referenced Attribute ({one.name} {attribute.shown}) is incorrect: '
            f'{kind} has no such attribute; {has}'
        )
        self._note(one, f'{path_text(attribute.path)}: {text}', attribute.path)

    def _fitted(
        self, one: '_One', handler: ResourceHandler, handler_name: str, external: bool
    ) -> dict[str, Any] | None:
        """Return the properties of a resource; None: they are wrong."""
        try:
            values = one.properties()
            one.made.metadata(one.name, NothingMade())
            one.made.update_policy(one.name, NothingMade())
        except exceptions.StackValidationFailed as error:
            if not one.unknown:
                path = error.path if isinstance(error, Failed) else ()
                for text in error.problems:
                    self._note(one, text, path)
            return None
        if external:
            return values
        alike = (handler_name, json.dumps(values, sort_keys=True, default=str))
        if alike in self._fitting:
            return self._fitting[alike]
        try:
            fitted = self._parts.handlers.fit_properties(handler, values, known=False)
            handler.validate(fitted)
        except exceptions.StackValidationFailed as error:
            self._add_all(one, error.problems)
            return None
        except exceptions.Invalid as error:
            self._add_all(one, [str(error)])
            return None
        except Exception as error:
            LOG.exception('A resource handler could not check properties')
            text = f'they could not be checked: {outcomes.public_text(error)}'
            self._add(one, text, '.properties')
            return None
        self._fitting[alike] = fitted
        return fitted

    # stacks in it

    def _nested(
        self,
        one: '_One',
        handler: NestedHandler,
        handler_name: str,
        fitted: dict[str, Any],
    ) -> None:
        """Look at the stack that a resource is."""
        if one.stack.depth + 1 > self._limits.depth:
            raise exceptions.RequestLimitExceeded(
                f'{one.at}: this is {one.stack.depth + 1} stacks deep; at most '
                f'{self._limits.depth} may be in each other'
            )
        is_template = handlers.is_template(handler_name)
        key: tuple[Any, ...] | None = None
        if is_template:
            batch = self._template(one, handler_name, fitted)
        else:
            batch = self._batch(one, handler, fitted)
        if batch is None:
            return
        definition = nesting.definition(batch, one.made.definition, one.name)
        if is_template:
            outputs = definition.template.get('outputs') or {}
            one.attributes = outputs if isinstance(outputs, Mapping) else None
            # A thousand alike are looked at once.
            given = (definition.parameters, definition.environment)
            alike = json.dumps(given, sort_keys=True, default=str)
            key = (handler_name, one.stack.depth, alike)
            if key in self._known:
                self.resources += self._known[key]
                self._check_count()
                return
        before = self.resources
        self._stack_in(one, handler_name if is_template else None, definition, fitted)
        if key is not None:
            self._known[key] = self.resources - before

    def _stack_in(
        self,
        one: '_One',
        file: str | None,
        definition: Definition,
        fitted: Mapping[str, Any],
    ) -> None:
        unknown = _NOTHING
        if file is not None:
            unknown = frozenset(n for n in one.obscured if fitted.get(n) is None)
            declared = definition.template.get('parameters')
            unknown &= set(declared) if isinstance(declared, Mapping) else set()
        inner = nesting.stack_of(one.stack, one.row(), 0, Imagined().now())
        try:
            made = self.blueprint(inner, definition, unknown)
        except exceptions.StackValidationFailed as error:
            if file is not None or not one.obscured:
                for text in error.problems:
                    self._add(one, text)
            return
        around = one.around if file is None else (*one.around, file)
        lenient = unknown or (one.obscured if file is None else _NOTHING)
        self.walk(inner, made, one, around, frozenset(lenient))

    def _template(
        self, one: '_One', name: str, fitted: Mapping[str, Any]
    ) -> Batch | None:
        text = one.made.definition.files.get(name)
        if text is None:
            self._add(one, f'there is no {name} among the files; send it', '.type')
            return None
        if name not in self._parsed:
            try:
                self._parsed[name] = document.parse(text, name, self._limits.template)
            except exceptions.TemplateInvalid as error:
                for problem in error.problems:
                    self._add(one, problem)
                return None
        return Batch(self._parsed[name], dict(fitted))

    def _batch(
        self, one: '_One', handler: NestedHandler, fitted: Mapping[str, Any]
    ) -> Batch | None:
        """Return what a group would end up as; None: that is not known yet."""
        try:
            return planned(one.stack, one.made, one.name, handler, fitted)
        except Exception as error:
            if one.obscured:
                LOG.debug('Not known yet: %s: %s', one.at, type(error).__name__)
                return None
            if not isinstance(error, exceptions.Invalid):
                LOG.exception('A resource handler could not say what a stack is')
            told = [outcomes.public_text(error)]
            if isinstance(error, exceptions.StackValidationFailed):
                told = error.problems
            self._add_all(one, told)
            return None

    # what was found

    def _add(self, one: '_One', text: str, part: str = '') -> None:
        """Note a problem of a resource, or of a part of it."""
        path = ('resources', one.name, *text_path(part))
        self._note(one, f'resources.{one.name}{part}: {text}', path)

    def _add_all(self, one: '_One', texts: Sequence[str]) -> None:
        """Note problems of its properties, which may say of which, or its policies."""
        for problem in texts:
            found = _PART.match(problem)
            part, text = 'properties', problem
            if found is not None:
                part, text = found.groups()
            self._add(one, text, f'.{part}')

    def _note(self, one: '_One', text: str, path: Path) -> None:
        """Note a problem in the template of a resource.

        :param text: begins with its place there
        """
        whole = one.within + text
        written = one
        while not problems.is_text(written.template) and written.outer is not None:
            # What a group has made has no lines; the group has.
            written = written.outer
            path = ('resources', written.name)
        at = len(written.within)
        found = problems.Problem(whole, at, written.template, path)
        self._problems.add(found)

    def _check_count(self) -> None:
        if self.resources > self._limits.resources:
            raise exceptions.RequestLimitExceeded(
                f'The stack would have {self.resources} resources or more, with those '
                f'of the stacks in it; at most {self._limits.resources} are allowed'
            )


class _One:
    """A resource that is looked at.

    :ivar at: its place; `within` is what comes before that of the resource
    :ivar obscured: names of properties of which some is not known
    :ivar attributes: those that it has; None: nobody knows
    :ivar has_members: it is a stack
    """

    def __init__(
        self,
        stack: Stack,
        made: Blueprint,
        name: str,
        outer: '_One | None',
        around: tuple[str, ...],
        unknown: frozenset[str],
    ) -> None:
        self.stack = stack
        self.made = made
        self.name = name
        self.outer: _One | None = outer
        self.within: str = '' if outer is None else f'{outer.at}: '
        self.at: str = f'{self.within}resources.{name}'
        self.around = around
        self.unknown = unknown
        self.obscured: frozenset[str] = _NOTHING
        self.attributes: Collection[str] | None = None
        self.has_members = False

    @property
    def template(self) -> Mapping[str, Any]:
        """Return the template that it is in."""
        return self.made.definition.template

    def properties(self) -> dict[str, Any]:
        """Return its properties; what is not known in them is None."""
        written = self.made.resources[self.name].properties
        values = self.made.properties(self.name, NothingMade())
        self.obscured = frozenset(
            name for name, raw in written.items() if _refers(raw, self.unknown)
        )
        return {
            name: obscured(written.get(name), value, self.unknown)
            for name, value in values.items()
        }

    def row(self) -> Any:
        """Return the row that it would have."""
        now = Imagined().now()
        return expansion.new_row(self.stack, self.made, self.name, now)


def planned(
    stack: Stack,
    made: Blueprint,
    name: str,
    handler: NestedHandler,
    properties: Mapping[str, Any],
) -> Batch:
    """Return what a new resource that is a stack would end up as.

    :raises Exception: whatever its handler raises
    """
    row = expansion.new_row(stack, made, name, Imagined().now())
    files = made.definition.files
    context = dataclasses.replace(
        handler_context(*(Imagined(), stack, row, files), properties, {}),
        update_policy=made.update_policy(name, NothingMade()),
    )
    batches = Expansion.of(handler.expand(context, ())).batches
    if not batches:
        raise exceptions.Invalid(f'{row.handler} says nothing of its stack')
    return batches[-1]


def obscured(written: Any, value: Any, unknown: frozenset[str]) -> Any:
    """Return a value with None where it is not known what it will be.

    :param written: as the template says
    """
    if not _refers(written, unknown):
        return value
    match written, value:
        case dict(), dict() if value.keys() <= written.keys():
            return {k: obscured(written[k], v, unknown) for k, v in value.items()}
        case list(), list() if len(written) == len(value):
            pairs = zip(written, value, strict=True)
            return [obscured(raw, inner, unknown) for raw, inner in pairs]
    return None


def _refers(written: Any, unknown: frozenset[str]) -> bool:
    """Say whether it depends on resources, or on what is not known."""
    if isinstance(written, dict):
        if len(written) == 1:
            ((name, given),) = written.items()
            if name in ('get_resource', 'get_attr'):
                return True
            if name == 'get_param':
                first = given[0] if isinstance(given, list) and given else given
                return isinstance(first, str) and first in unknown
        return any(_refers(inner, unknown) for inner in written.values())
    if isinstance(written, list):
        return any(_refers(inner, unknown) for inner in written)
    return False


def _tolerant(template: Mapping[str, Any], unknown: frozenset[str]) -> dict[str, Any]:
    """Return a template whose parameters that are not known take anything."""
    declared = dict(template['parameters'])
    for name in unknown:
        one = declared.get(name)
        kind = one.get('type') if isinstance(one, Mapping) else None
        if isinstance(kind, str) and kind in _NEUTRAL:
            declared[name] = {'type': kind, 'default': _NEUTRAL[kind]}
    found = document.Document({**template, 'parameters': declared})
    found.markup = getattr(template, 'markup', None)
    return found
