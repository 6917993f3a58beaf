"""Dry runs: the stacks of a request, evaluated without storing anything."""

import dataclasses
import functools
import logging
from collections.abc import Callable
from typing import TypeVar

from watcherlite import exceptions
from watcherlite.domain.resource_results import Batch
from watcherlite.domain.stacks import Definition, NewResource, NewStack
from watcherlite.domain.templates import formats
from watcherlite.domain.templates.blueprint import Blueprint, NoReferences
from watcherlite.domain.templates.scope import EvaluationBudget
from watcherlite.engine.stacks import handlers, tree
from watcherlite.engine.stacks.requests.template_validator import (
    final_batch,
    lenient_blueprint,
)
from watcherlite.engine.stacks.resource_context import DryRunAction
from watcherlite.engine.stacks.services import StackServices
from watcherlite.plugins.base import NestedHandler

LOG = logging.getLogger(__name__)

T = TypeVar('T')
_NO_REFERENCES = NoReferences()


@dataclasses.dataclass(frozen=True, slots=True)
class DryStack:
    """The stack that a resource would be.

    :param definition: as its resource gives it
    :param blueprint: in which unknown parameters are None
    """

    stack: NewStack
    definition: Definition
    blueprint: Blueprint


class DryRun:
    """A dry run of a valid request, with its budget for the functions of templates."""

    def __init__(self, services: StackServices) -> None:
        self.store = services.store
        self.handlers = services.handlers
        self._evaluated = EvaluationBudget(services.limits.evaluated)

    def blueprint(
        self,
        stack: NewStack,
        definition: Definition,
        unknown: frozenset[str] = frozenset(),
    ) -> Blueprint:
        """Return the blueprint of a stack, in which unknown parameters are None."""
        return lenient_blueprint(stack, definition, unknown, self._evaluated)

    def new_nested_stack(
        self, stack: NewStack, blueprint: Blueprint, row: NewResource
    ) -> DryStack | None:
        """Return the stack that a new resource would be.

        :returns: None: the resource is not a stack, or its stack is unknown
        """
        handler = handlers.make_handler(self.handlers, row.handler)
        if not isinstance(handler, NestedHandler):
            return None
        build = functools.partial(self._build_nested, stack, blueprint, row, handler)
        return self.call_or_unknown(row, build)

    def _build_nested(
        self,
        stack: NewStack,
        blueprint: Blueprint,
        row: NewResource,
        handler: NestedHandler,
    ) -> DryStack:
        values = blueprint.properties(row.name, _NO_REFERENCES)
        fitted = self.handlers.fit_properties(handler, values, known=False)
        batch = final_batch(stack, blueprint, row, handler, fitted)
        inner = tree.new_nested_stack(stack, row, 0, DryRunAction().now())
        # The name of a stack that is not created has no random part.
        inner = inner.evolve(name=f'{stack.name}-{row.name}')
        definition = tree.nested_definition(batch, blueprint, row.name, _NO_REFERENCES)
        unknown = unknown_parameters(batch, row.handler)
        return DryStack(inner, definition, self.blueprint(inner, definition, unknown))

    def call_or_unknown(self, row: NewResource, call: Callable[[], T]) -> T | None:
        """Return what a call finds inside a resource; None: it is unknown.

        :raises NotSupported: the update of a resource inside would be refused
        """
        try:
            return call()
        except (exceptions.RequestLimitExceeded, exceptions.NotSupported):
            raise
        except Exception as error:
            # The request is valid: any other error comes from values that are unknown.
            LOG.debug(
                'The change of %s is unknown before the update: %s',
                row.name,
                type(error).__name__,
            )
            return None


def unknown_parameters(batch: Batch, handler_name: str) -> frozenset[str]:
    """Return the parameters of a template that have an unknown value."""
    if not handlers.is_template(handler_name):
        return frozenset()
    declared = formats.mapping_section(batch.template, 'parameters')
    return frozenset(
        name
        for name, value in batch.parameters.items()
        if value is None and name in declared
    )
