"""Validation of the templates of a stack and of its nested stacks."""

import dataclasses
import json
import logging
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import outcomes
from watcherlite.domain.documents.markup import path_text, text_path
from watcherlite.domain.documents.yaml_values import Path
from watcherlite.domain.resource_results import Batch, Expansion, Member
from watcherlite.domain.stacks import Definition, NewResource, NewStack
from watcherlite.domain.templates import document, formats
from watcherlite.domain.templates.blueprint import Blueprint, NoReferences, References
from watcherlite.domain.templates.nodes import Attribute, EvaluationFailed
from watcherlite.domain.templates.scope import EvaluationBudget
from watcherlite.engine.stacks import handlers, resolution, resource_context, tree
from watcherlite.engine.stacks.actions import expansion
from watcherlite.engine.stacks.requests.unknown_parameters import UnknownNames
from watcherlite.engine.stacks.services import StackLimits, StackServices
from watcherlite.plugins.base import NestedHandler, ResourceHandler

LOG = logging.getLogger(__name__)

#: The maximum number of problems in one report.
MAX_LINES = 100
_NOTHING: frozenset[str] = frozenset()
_NO_REFERENCES = NoReferences()
#: A problem that names the part of the resource that it is about.
_PART = re.compile(
    r"((?:properties|update_policy)(?:[.\[](?:[^:'\"]|'[^']*'|\"[^\"]*\")*)?): (.*)",
    re.DOTALL,
)
_FIRST_KEY = re.compile(r'\.(\w+)')


def check_sizes(definition: Definition, limits: StackLimits) -> None:
    """Refuse texts that are too large; raises RequestLimitExceeded."""
    sizes = {}
    if not isinstance(definition.template, document.Document):
        # The parser has checked the size of a document.
        text = json.dumps(definition.template, default=str)
        sizes['template'] = len(text)
    for name, text in definition.files.items():
        sizes[f'files.{name}'] = len(text.encode(errors='replace'))
    problems = [
        f'{place}: its size ({size} bytes) exceeds maximum allowed size '
        f'({limits.template} bytes).'
        for place, size in sizes.items()
        if size > limits.template
    ]
    if problems:
        raise exceptions.RequestLimitExceeded('; '.join(problems))


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """A problem at a place in a template.

    :param text: begins with the path through all templates to the place
    :param at: offset in the text of the path within this template
    :param path: within this template
    """

    text: str
    at: int
    template: Mapping[str, Any]
    path: Path


class ProblemReport:
    """The distinct problems of a validation."""

    def __init__(self) -> None:
        self._problems: dict[str, Problem] = {}

    def add(self, problem: Problem) -> None:
        """Add a problem."""
        self._problems.setdefault(problem.text, problem)

    @property
    def lines(self) -> list[str]:
        """Return one line for each of the first `MAX_LINES` problems."""
        problems = list(self._problems.values())
        omitted = len(problems) - MAX_LINES
        lines = _with_lines(problems[:MAX_LINES])
        return lines if omitted <= 0 else [*lines, f'and {omitted} more problems']


def has_source(template: Mapping[str, Any]) -> bool:
    """Return whether a template was parsed from a text, which has line numbers."""
    return isinstance(template, document.Document) and template.markup is not None


def _with_lines(problems: Sequence[Problem]) -> list[str]:
    paths: dict[int, tuple[Mapping[str, Any], list[Path]]] = {}
    for problem in problems:
        template = problem.template
        paths.setdefault(id(template), (template, []))[1].append(problem.path)
    # Each template is parsed once more, whatever the number of its problems.
    places = {key: document.locations(*group) for key, group in paths.items()}
    return [
        problem.text[: problem.at]
        + places[id(problem.template)][problem.path]
        + problem.text[problem.at :]
        for problem in problems
    ]


class TemplateValidator:
    """One validation of a stack and its nested stacks.

    Values that depend on resources that do not exist yet, or on unknown parameters,
    are unknown and are accepted everywhere.

    :ivar budget: of the request
    :ivar resources: the number of resources validated so far
    """

    def __init__(self, services: StackServices) -> None:
        self._handlers = services.handlers
        self._limits = services.limits
        self.budget = EvaluationBudget(self._limits.evaluated)
        self._validated: dict[tuple[Any, ...], int] = {}
        self._parsed: dict[str, Mapping[str, Any]] = {}
        self._fitted: dict[tuple[str, str], dict[str, Any]] = {}
        self._report = ProblemReport()
        self.resources = 0

    def raise_problems(self) -> None:
        """Raise StackValidationFailed with the problems, if there are any."""
        if lines := self._report.lines:
            raise exceptions.StackValidationFailed(lines)

    def validate(
        self,
        stack: NewStack,
        blueprint: Blueprint,
        outer: '_ResourceCheck | None' = None,
        ancestors: tuple[str, ...] = (),
        unknown: frozenset[str] = _NOTHING,
    ) -> None:
        """Validate all resources of a stack.

        :param outer: the resource that the stack is
        :param ancestors: names of the templates that contain it
        :param unknown: names of its unknown parameters
        :raises RequestLimitExceeded: the stack is too large
        """
        self.resources += len(blueprint.resources)
        self._check_count()
        names = UnknownNames(blueprint.definition.template, unknown)
        checks = {
            name: _ResourceCheck(stack, blueprint, name, outer, ancestors, names)
            for name in blueprint.resources
        }
        for check in checks.values():
            self._resource(check)
        for attribute in blueprint.attributes:
            target = checks.get(attribute.resource)
            if target is not None and target.attributes is not None:
                self._attribute(target, attribute, target.attributes)

    # one resource

    def _resource(self, check: '_ResourceCheck') -> None:
        handler_name = check.blueprint.handlers[check.name]
        if handler_name in check.ancestors:
            path = ' -> '.join([*check.ancestors, handler_name])
            self._add(check, f'templates contain each other in a cycle: {path}')
            return
        try:
            handler = handlers.make_handler(self._handlers, handler_name)
        except exceptions.PluginError as error:
            self._add(check, str(error), '.type')
            return
        external = check.is_external
        if external and isinstance(handler, NestedHandler):
            text = f'{handler_name} is a stack, which cannot be an external resource'
            self._add(check, text, '.external_id')
            return
        fitted = self._fit_properties(check, handler, handler_name, external)
        if fitted is None:
            return
        check.attributes = self._attribute_names(handler, fitted)
        if isinstance(handler, NestedHandler):
            check.has_members = True
            self._nested(check, handler, handler_name, fitted)

    def _attribute_names(
        self, handler: ResourceHandler, fitted: Mapping[str, Any]
    ) -> Collection[str] | None:
        """Return the attributes of a resource; None: unknown."""
        try:
            return handler.attribute_names(fitted)
        except Exception:
            LOG.exception('A resource handler failed to name its attributes')
            return None

    def _attribute(
        self, check: '_ResourceCheck', attribute: Attribute, names: Collection[str]
    ) -> None:
        """Report a reference to an attribute that does not exist."""
        name = attribute.name
        of_member = check.has_members and name.startswith('resource.')
        if name in names or name == 'show' or of_member:
            return
        kind = check.blueprint.resources[check.name].type
        has = f'it has {", ".join(sorted(names))}' if names else 'it has none'
        text = (
            f'The Referenced Attribute ({check.name} {attribute.shown}) is incorrect: '
            f'{kind} has no such attribute; {has}'
        )
        self._report_at(check, f'{path_text(attribute.path)}: {text}', attribute.path)

    def _fit_properties(
        self,
        check: '_ResourceCheck',
        handler: ResourceHandler,
        handler_name: str,
        external: bool,
    ) -> dict[str, Any] | None:
        """Return the properties of a resource; None: they are invalid."""
        try:
            values = check.properties()
            check.blueprint.metadata(check.name, _NO_REFERENCES)
            check.blueprint.update_policy(check.name, _NO_REFERENCES)
        except exceptions.StackValidationFailed as error:
            if not check.unknown.parameters:
                path = error.path if isinstance(error, EvaluationFailed) else ()
                for text in error.problems:
                    self._report_at(check, text, path)
            return None
        if external:
            return values
        key = (handler_name, json.dumps(values, sort_keys=True, default=str))
        if key not in self._fitted:
            fitted = self._validated_properties(check, handler, values)
            if fitted is None:
                return None
            self._fitted[key] = fitted
        return self._fitted[key]

    def _validated_properties(
        self,
        check: '_ResourceCheck',
        handler: ResourceHandler,
        values: Mapping[str, Any],
    ) -> dict[str, Any] | None:
        try:
            fitted = self._handlers.fit_properties(handler, values, known=False)
            handler.validate(fitted)
        except exceptions.StackValidationFailed as error:
            self._add_all(check, error.problems)
            return None
        except exceptions.Invalid as error:
            self._add_all(check, [str(error)])
            return None
        except Exception as error:
            LOG.exception('A resource handler failed to validate properties')
            text = f'they could not be checked: {outcomes.public_text(error)}'
            self._add(check, text, '.properties')
            return None
        return fitted

    # nested stacks

    def _nested(
        self,
        check: '_ResourceCheck',
        handler: NestedHandler,
        handler_name: str,
        fitted: dict[str, Any],
    ) -> None:
        """Validate the stack that a resource is."""
        depth = check.stack.depth + 1
        if depth > self._limits.depth:
            raise exceptions.RequestLimitExceeded(
                f'{check.path}: this is {depth} stacks deep; at most '
                f'{self._limits.depth} may be in each other'
            )
        if not handlers.is_template(handler_name):
            batch = self._group_batch(check, handler, fitted)
            if batch is not None:
                definition = self._nested_definition(check, batch)
                self._nested_stack(check, None, definition, fitted)
            return
        batch = self._template_batch(check, handler_name, fitted)
        if batch is None:
            return
        definition = self._nested_definition(check, batch)
        outputs = formats.section(definition.template, 'outputs') or {}
        check.attributes = outputs if isinstance(outputs, Mapping) else None
        # Equal nested stacks, of which there may be a thousand, are validated once.
        given = (definition.parameters, definition.environment)
        key = (
            handler_name,
            check.stack.depth,
            json.dumps(given, sort_keys=True, default=str),
        )
        if key in self._validated:
            self.resources += self._validated[key]
            self._check_count()
            return
        before = self.resources
        self._nested_stack(check, handler_name, definition, fitted)
        self._validated[key] = self.resources - before

    def _nested_definition(self, check: '_ResourceCheck', batch: Batch) -> Definition:
        return tree.nested_definition(
            batch, check.blueprint, check.name, _NO_REFERENCES
        )

    def _nested_stack(
        self,
        check: '_ResourceCheck',
        file: str | None,
        definition: Definition,
        fitted: Mapping[str, Any],
    ) -> None:
        unknown = _NOTHING
        if file is not None:
            unsure = check.unknown_properties
            if not check.is_written:
                unsure |= fitted.keys()
            unknown = frozenset(n for n in unsure if fitted.get(n) is None)
            unknown &= {*formats.mapping_section(definition.template, 'parameters')}
        now = resource_context.DryRunAction().now()
        inner = tree.new_nested_stack(check.stack, check.row(), 0, now)
        try:
            blueprint = lenient_blueprint(inner, definition, unknown, self.budget)
        except exceptions.StackValidationFailed as error:
            if file is not None or not check.unknown_properties:
                for text in error.problems:
                    self._add(check, text)
            return
        ancestors = check.ancestors if file is None else (*check.ancestors, file)
        lenient = unknown or (check.unknown_properties if file is None else _NOTHING)
        self.validate(inner, blueprint, check, ancestors, frozenset(lenient))

    def _template_batch(
        self, check: '_ResourceCheck', name: str, fitted: Mapping[str, Any]
    ) -> Batch | None:
        text = check.blueprint.definition.files.get(name)
        if text is None:
            self._add(check, f'there is no {name} among the files; send it', '.type')
            return None
        if name not in self._parsed:
            try:
                self._parsed[name] = document.parse(text, name, self._limits.template)
            except exceptions.TemplateInvalid as error:
                for problem in error.problems:
                    self._add(check, problem)
                return None
        return Batch(self._parsed[name], dict(fitted))

    def _group_batch(
        self, check: '_ResourceCheck', handler: NestedHandler, fitted: Mapping[str, Any]
    ) -> Batch | None:
        """Return the last batch of a group; None: it is unknown or invalid."""
        try:
            return final_batch(
                check.stack, check.blueprint, check.row(), handler, fitted
            )
        except exceptions.RequestLimitExceeded:
            raise
        except Exception as error:
            if check.unknown_properties:
                LOG.debug('Unknown yet: %s: %s', check.path, type(error).__name__)
                return None
            if not isinstance(error, exceptions.Invalid):
                LOG.exception('A resource handler failed to define its stack')
            problems = [outcomes.public_text(error)]
            if isinstance(error, exceptions.StackValidationFailed):
                problems = error.problems
            self._add_all(check, problems)
            return None

    # the report

    def _add(self, check: '_ResourceCheck', text: str, part: str = '') -> None:
        """Report a problem of a resource, or of a part of it."""
        language = check.blueprint.template.format
        part = _FIRST_KEY.sub(lambda match: f'.{language.key(match[1])}', part, count=1)
        path = (*check.resource_path, *text_path(part))
        self._report_at(check, f'{check.resource_text}{part}: {text}', path)

    def _add_all(self, check: '_ResourceCheck', texts: Sequence[str]) -> None:
        """Report problems of its properties or policies, which may name the part."""
        for problem in texts:
            match = _PART.match(problem)
            part, text = 'properties', problem
            if match is not None:
                part, text = match.groups()
            self._add(check, text, f'.{part}')

    def _report_at(self, check: '_ResourceCheck', text: str, path: Path) -> None:
        """Report a problem in the template of a resource.

        :param text: begins with its place in the template
        """
        source = check
        while not has_source(source.template) and source.outer is not None:
            # A template that a group generates has no lines; that of the group has.
            source = source.outer
            path = source.resource_path
        at = len(source.template_path)
        self._report.add(Problem(check.template_path + text, at, source.template, path))

    def _check_count(self) -> None:
        if self.resources > self._limits.resources:
            raise exceptions.RequestLimitExceeded(
                f'The stack would have {self.resources} resources or more, with those '
                f'of the stacks in it; at most {self._limits.resources} are allowed'
            )


@dataclasses.dataclass(eq=False, slots=True)
class _ResourceCheck:
    """The validation of one resource.

    :ivar unknown_properties: names of its properties with unknown parts
    :ivar attributes: the names of its attributes; None: unknown
    :ivar has_members: it is a stack
    """

    stack: NewStack
    blueprint: Blueprint
    name: str
    outer: '_ResourceCheck | None'
    ancestors: tuple[str, ...]
    unknown: UnknownNames
    unknown_properties: frozenset[str] = _NOTHING
    attributes: Collection[str] | None = None
    has_members: bool = False

    @property
    def template_path(self) -> str:
        """Return the path to its template."""
        return '' if self.outer is None else f'{self.outer.path}: '

    @property
    def path(self) -> str:
        """Return the path to the resource."""
        return self.template_path + self.resource_text

    @property
    def resource_path(self) -> Path:
        """Return the path to the resource in its template."""
        return self.blueprint.template.format.path('resources', self.name)

    @property
    def resource_text(self) -> str:
        """Return the text of `resource_path`."""
        return '.'.join(map(str, self.resource_path))

    @property
    def template(self) -> Mapping[str, Any]:
        """Return the template that it is in."""
        return self.blueprint.definition.template

    def properties(self) -> dict[str, Any]:
        """Return its properties; unknown parts are None."""
        written = self.blueprint.resources[self.name].properties
        values = self.blueprint.properties(self.name, _NO_REFERENCES)
        self.unknown_properties = frozenset(
            name for name, raw in written.items() if self.unknown.affect(raw)
        )
        return {
            name: self.unknown.mask(written.get(name), value)
            for name, value in values.items()
        }

    @property
    def is_written(self) -> bool:
        """Return whether its template is written by a user, or generated as known.

        A group whose properties are unknown generates None in their place.
        """
        generated = self.outer is not None and not has_source(self.template)
        return not (generated and self.unknown.parameters)

    @property
    def is_external(self) -> bool:
        """Return whether it has an external id, which may be unknown."""
        if self.blueprint.resources[self.name].external_id is not None:
            return True
        raw = formats.mapping_section(self.template, 'resources').get(self.name) or {}
        return self.unknown.affect(raw.get('external_id'))

    def row(self) -> NewResource:
        """Return the row that it would have."""
        now = resource_context.DryRunAction().now()
        return expansion.new_row(expansion.NOT_STORED, self.blueprint, self.name, now)


def lenient_blueprint(
    stack: NewStack,
    definition: Definition,
    unknown: frozenset[str],
    budget: EvaluationBudget,
) -> Blueprint:
    """Return a blueprint in which unknown parameters are None."""
    if not unknown:
        return resolution.build_blueprint(stack, definition, budget)
    template = UnknownNames(definition.template, unknown).relaxed_template()
    blueprint = resolution.build_blueprint(
        stack, dataclasses.replace(definition, template=template), budget
    )
    return dataclasses.replace(
        blueprint, parameters={**blueprint.parameters, **dict.fromkeys(unknown)}
    )


def final_batch(
    stack: NewStack,
    blueprint: Blueprint,
    row: NewResource,
    handler: NestedHandler,
    properties: Mapping[str, Any],
    references: References = _NO_REFERENCES,
    members: Sequence[Member] = (),
) -> Batch:
    """Return the last batch of a resource that is a stack.

    :param members: the present ones
    :raises Exception: any that its handler raises
    """
    context = dataclasses.replace(
        resource_context.build_handler_context(
            resource_context.DryRunAction(),
            stack,
            row,
            blueprint.definition.files,
            properties=properties,
        ),
        update_policy=blueprint.update_policy(row.name, references),
    )
    batches = Expansion.of(handler.expand(context, members)).batches
    if not batches:
        raise exceptions.Invalid(f'{row.handler} returned no batch for its stack')
    return batches[-1]
