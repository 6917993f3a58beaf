"""The parameters of nested templates, see `POST /validate`."""

from typing import Any

from watcherlite.domain.stacks import NewResource, NewStack
from watcherlite.domain.templates import description
from watcherlite.domain.templates.blueprint import Blueprint, shown_size
from watcherlite.domain.templates.scope import MAX_SHOWN, EvaluationBudget
from watcherlite.domain.templates.template import load
from watcherlite.engine.stacks import handlers
from watcherlite.engine.stacks.actions import expansion
from watcherlite.engine.stacks.requests.dry_run import DryRun, DryStack
from watcherlite.engine.stacks.resource_context import DryRunAction
from watcherlite.engine.stacks.services import StackServices


class NestedParameters:
    """Describes the nested templates of one valid template."""

    def __init__(self, services: StackServices) -> None:
        self._dry_run = DryRun(services)
        self._depth = services.limits.depth
        self._shown = EvaluationBudget(
            MAX_SHOWN,
            'the nested templates have more than {} characters together; ask without '
            'show_nested',
        )

    def describe(
        self, stack: NewStack, blueprint: Blueprint, is_group: bool = False
    ) -> dict[str, Any]:
        """Return the descriptions of nested templates by the name of the resource.

        :param is_group: describe only the first resource of each type
        :raises RequestLimitExceeded: the descriptions are too large
        """
        found: dict[str, Any] = {}
        if stack.depth >= self._depth:
            return found
        resources = blueprint.resources
        names = list(resources)
        if is_group:
            first = {resources[name].type: name for name in reversed(names)}
            names = [name for name in names if first[resources[name].type] == name]
        now = DryRunAction().now()
        for name in names:
            row = expansion.new_row(expansion.NOT_STORED, blueprint, name, now)
            inner = self._dry_run.new_nested_stack(stack, blueprint, row)
            if inner is not None:
                found[name] = self._describe_one(row, inner)
        return found

    def _describe_one(self, row: NewResource, inner: DryStack) -> dict[str, Any]:
        definition = inner.definition
        described = {
            'Type': row.type,
            **description.describe(
                load(definition.template), definition.parameters, definition.environment
            ),
        }
        self._shown.spend(shown_size(described))
        is_group = not handlers.is_template(row.handler)
        if further := self.describe(inner.stack, inner.blueprint, is_group):
            described['NestedParameters'] = further
        return described
