"""The definition and the row of a stack that is a resource; pure functions."""

import datetime

from watcherlite.domain import events
from watcherlite.domain.resource_results import Batch
from watcherlite.domain.stacks import Definition, Resource, Stack
from watcherlite.domain.templates import environment as environments
from watcherlite.engine.stacks.resource_context import physical_name
from watcherlite.states import stack as states


def nested_definition(
    batch: Batch, around: Definition, resource_name: str
) -> Definition:
    """Return the definition of a nested stack.

    :param around: the definition of its parent
    """
    environment = batch.environment
    if environment is None:
        environment = environments.nested(around.environment, resource_name)
    return Definition(
        template=batch.template,
        environment=environment,
        files=around.files if batch.files is None else batch.files,
        parameters=batch.parameters,
    )


def new_nested_stack(
    around: Stack, row: Resource, definition_id: int, now: datetime.datetime
) -> Stack:
    """Return the stack that a resource is, before it is stored."""
    return Stack(
        uuid=events.new_uuid(),
        name=physical_name(around, row),
        tenant=around.tenant,
        definition_id=definition_id,
        action=states.INIT,
        status=states.COMPLETE,
        owner_id=around.id,
        owner_resource=row.name,
        root_id=around.root_id,
        depth=around.depth + 1,
        timeout=around.timeout,
        user=around.user,
        context=around.context,
        created_at=now,
    )
