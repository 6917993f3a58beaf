"""Validation of requests for stacks, before anything of them is stored."""

import logging
import re
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain import events, stacks
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.templates import description, formats, parameters
from watcherlite.domain.templates.blueprint import Blueprint
from watcherlite.domain.templates.template import load
from watcherlite.engine.stacks import resolution
from watcherlite.engine.stacks.requests import definition_merge, template_validator
from watcherlite.engine.stacks.requests.nested_parameters import NestedParameters
from watcherlite.engine.stacks.services import StackLimits, StackServices

LOG = logging.getLogger(__name__)

_NAME = re.compile(r'[a-zA-Z][a-zA-Z0-9_.-]{0,254}\Z', re.ASCII)
#: Maximum length of a tag.
TAG_LENGTH = 80
_MAX_MINUTES = (2**31 - 1) // 60


def check_name(name: Any) -> None:
    """Refuse a name that cannot be part of URLs and physical names."""
    if not isinstance(name, str) or not _NAME.match(name):
        shown = f'{name!r}'[:80] if isinstance(name, str) else kind(name)
        raise exceptions.StackValidationFailed(
            f'stack_name: Invalid stack name {shown}: it must begin with a letter, '
            'have only letters, digits, and the characters _ - and . and be at most '
            '255 characters long'
        )


def check_quota(services: StackServices, tx: Transaction, tenant: str) -> None:
    """Refuse a new stack if the project has reached its quota.

    The project stays locked until the transaction ends.
    """
    quota = services.limits.stacks
    if not quota:
        return
    tx.lock_tenant(tenant)
    if tx.count_stacks(tenant) >= quota:
        raise exceptions.RequestLimitExceeded(
            f'The project has reached its limit of {quota} stacks: delete some first.'
        )


def build_stack(
    new: stacks.StackRequest,
    definition: stacks.Definition,
    tenant: str,
    user: str | None,
    context: Mapping[str, Any],
    limits: StackLimits,
) -> stacks.NewStack:
    """Return the requested stack, without its definition.

    :raises StackValidationFailed: a timeout or a tag is invalid
    """
    stack = stacks.NewStack(
        uuid=events.new_uuid(),
        name=new.name,
        tenant=tenant,
        definition_id=0,
        timeout=limits.timeout,
        user=user,
        context=context,
    )
    return stack.evolve(**attribute_changes(stack, new, definition))


def attribute_changes(
    stack: stacks.NewStack, new: stacks.StackRequest, definition: stacks.Definition
) -> dict[str, Any]:
    """Return the attributes of a stack that a request sets besides its definition.

    An `existing` update keeps tags that it does not name; other updates remove them.

    :raises StackValidationFailed: a timeout or a tag is invalid
    """
    problems: list[str] = []
    timeout = stack.timeout
    if new.timeout_mins is not None:
        timeout = _seconds(problems, new.timeout_mins) or timeout
    tags = stack.tags if new.existing else ()
    if new.tags is not None:
        tags = _tags(problems, new.tags)
    if problems:
        raise exceptions.StackValidationFailed(problems)
    described = formats.section(definition.template, 'description')
    return {
        'timeout': timeout,
        'tags': tags,
        'disable_rollback': (
            stack.disable_rollback
            if new.disable_rollback is None
            else new.disable_rollback
        ),
        'description': described if isinstance(described, str) else '',
    }


def _seconds(problems: list[str], minutes: Any) -> int | None:
    whole = isinstance(minutes, int) and not isinstance(minutes, bool)
    # Heat takes 0 for the default.
    if whole and 0 <= minutes <= _MAX_MINUTES:
        return int(minutes) * 60
    problems.append(
        f'timeout_mins: this must be a whole number of minutes from 1 to {_MAX_MINUTES}'
    )
    return None


def _tags(problems: list[str], tags: tuple[str, ...]) -> tuple[str, ...]:
    for tag in tags:
        if not isinstance(tag, str) or not tag or ',' in tag or len(tag) > TAG_LENGTH:
            problems.append(
                f'tags: each must be text without commas, of 1 to {TAG_LENGTH} '
                'characters'
            )
            break
    return tuple(dict.fromkeys(tags))


def validate_stack(
    services: StackServices, stack: stacks.NewStack, definition: stacks.Definition
) -> Blueprint:
    """Validate a stack with all its nested stacks; return its blueprint.

    :raises StackValidationFailed: or a subclass, with all problems
    :raises RequestLimitExceeded: the stack would be too large
    """
    template_validator.check_sizes(definition, services.limits)
    validator = template_validator.TemplateValidator(services)
    blueprint = resolution.build_blueprint(stack, definition, validator.budget)
    validator.validate(stack, blueprint)
    validator.raise_problems()
    return blueprint


def validate_update(
    services: StackServices, stack: stacks.Stack, new: stacks.StackRequest
) -> stacks.Definition:
    """Validate an update of a stack; return the definition after it.

    :raises ImmutableParameterModified: an immutable parameter would change
    :raises StackValidationFailed, RequestLimitExceeded: see `validate_stack`
    """
    before = services.store.get_definition(stack.definition_id)
    definition = definition_merge.merge_update(before, new)
    blueprint = validate_stack(services, stack, definition)
    try:
        known = services.blueprints.of(stack, before).parameters
    except exceptions.Invalid as error:
        # An invalid old definition must not prevent an update to a valid one.
        LOG.warning('The definition of stack %s is not valid: %s', stack.uuid, error)
        known = {}
    parameters.check_immutable(blueprint.template, known, blueprint.parameters)
    return definition


def prepare_update(
    services: StackServices, stack: stacks.Stack, new: stacks.StackRequest
) -> Callable[[Transaction, stacks.Stack], tuple[stacks.Stack, int]]:
    """Validate an update, and return the function that stores its definition.

    It takes the stack, locked, and returns the stack with its other changes and the id
    of the definition; it raises OutOfDate if another update came first: this one must
    be merged with its result.

    :raises Invalid: see `validate_update`
    """
    definition = validate_update(services, stack, new)
    changes = attribute_changes(stack, new, definition)

    def apply(tx: Transaction, locked: stacks.Stack) -> tuple[stacks.Stack, int]:
        if locked.definition_id != stack.definition_id:
            raise exceptions.OutOfDate
        return locked.evolve(**changes), tx.insert_definition(definition).id

    return apply


def describe_template(
    services: StackServices, definition: stacks.Definition, nested: bool
) -> dict[str, Any]:
    """Validate a template, whose parameters need no values; return its description.

    :param nested: include the templates of its resources
    :returns: the body of the response to `POST /validate`
    :raises StackValidationFailed, RequestLimitExceeded: see `validate_stack`
    """
    template_validator.check_sizes(definition, services.limits)
    template = load(definition.template)
    environment = definition.environment
    given = parameters.given_values(template, definition.parameters, environment)
    unknown = frozenset(
        name
        for name, one in template.parameters.items()
        if one.default is None and name not in given
    )
    # The pseudo parameter OS::stack_name needs a value; there is no stack yet.
    stack = stacks.NewStack(events.new_uuid(), 'unnamed', '', 0)
    validator = template_validator.TemplateValidator(services)
    blueprint = template_validator.lenient_blueprint(
        stack, definition, unknown, validator.budget
    )
    validator.validate(stack, blueprint, unknown=unknown)
    validator.raise_problems()
    described = description.describe(template, definition.parameters, environment)
    if nested and (inner := NestedParameters(services).describe(stack, blueprint)):
        described['NestedParameters'] = inner
    shown = description.describe_environment(template, environment, definition.files)
    return {**described, 'Environment': shown}
