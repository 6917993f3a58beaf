"""Whether what a user asks for makes sense, before anything of it is stored."""

import logging
import re
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain import events
from watcherlite.domain.json_values import kind
from watcherlite.domain.stacks import Definition, NewStack, Stack
from watcherlite.domain.templates import describing, parameters
from watcherlite.domain.templates.blueprint import Blueprint
from watcherlite.domain.templates.template import load
from watcherlite.engine.stacks.checking import Checking, check_sizes
from watcherlite.engine.stacks.parts import Limits, Parts
from watcherlite.engine.stacks.resolving import blueprint

LOG = logging.getLogger(__name__)

_NAME = re.compile(r'[a-zA-Z][a-zA-Z0-9_.-]{0,254}\Z', re.ASCII)
#: Most characters of a tag.
TAG_LENGTH = 80
_MAX_MINUTES = (2**31 - 1) // 60


def check_name(name: Any) -> None:
    """Refuse a name that would not fit into URLs and the names of others."""
    if not isinstance(name, str) or not _NAME.match(name):
        what = f'{name!r}'[:80] if isinstance(name, str) else kind(name)
        raise exceptions.StackValidationFailed(
            f'stack_name: Invalid stack name {what}: it must begin with a letter, have '
            'only letters, digits, and the characters _ - and . and be at most 255 '
            'characters long'
        )


def check_room(parts: Parts, tx: Transaction, tenant: str) -> None:
    """Refuse another stack where there are as many as there may be.

    Until the transaction ends nobody else makes one there.
    """
    most = parts.limits.stacks
    if not most:
        return
    tx.lock_tenant(tenant)
    if tx.count_stacks(tenant) >= most:
        raise exceptions.RequestLimitExceeded(
            f'This project has {most} stacks, and may not have more; delete some.'
        )


def stack_of(
    new: NewStack,
    definition: Definition,
    tenant: str,
    user: str | None,
    context: Mapping[str, Any],
    limits: Limits,
) -> Stack:
    """Return the stack that is asked for, without its definition.

    :raises StackValidationFailed: a timeout or a tag is wrong
    """
    stack = Stack(
        uuid=events.new_uuid(),
        name=new.name,
        tenant=tenant,
        definition_id=0,
        timeout=limits.timeout,
        user=user,
        context=context,
    )
    return stack.evolve(**changes(stack, new, definition))


def changes(stack: Stack, new: NewStack, definition: Definition) -> dict[str, Any]:
    """Return what else than its definition is to be of a stack.

    Tags that are not sent are kept by an `existing` update, and gone after others.

    :raises StackValidationFailed: a timeout or a tag is wrong
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
    described = definition.template.get('description')
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
    # 0 has always stood for the default.
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


def check(parts: Parts, stack: Stack, definition: Definition) -> Blueprint:
    """Check all that a stack would be; return its blueprint.

    :raises StackValidationFailed: or one of its kinds, with all problems
    :raises RequestLimitExceeded: it would be too large
    """
    check_sizes(definition, parts.limits)
    found = blueprint(stack, definition)
    checking = Checking(parts)
    checking.walk(stack, found)
    if told := checking.told:
        raise exceptions.StackValidationFailed(told)
    return found


def check_update(
    parts: Parts, stack: Stack, before: Definition, definition: Definition
) -> Blueprint:
    """Check all that a stack would become; return its blueprint.

    :param before: of the stack as it is; stored
    :raises ImmutableParameterModified: a parameter must keep its value
    :raises StackValidationFailed, RequestLimitExceeded: see `check`
    """
    found = check(parts, stack, definition)
    try:
        known = parts.blueprints.of(stack, before).parameters
    except exceptions.Invalid as error:
        # It must not keep the stack from becoming one that can be made.
        LOG.warning('What stack %s was made of is not valid: %s', stack.uuid, error)
        known = {}
    parameters.check_immutable(found.template, known, found.parameters)
    return found


def described(parts: Parts, definition: Definition, nested: bool) -> dict[str, Any]:
    """Check a template whose parameters need no values yet; return what it takes.

    :param nested: tell of the templates of its resources, too
    :returns: as `POST /validate` answers
    :raises StackValidationFailed, RequestLimitExceeded: see `check`
    """
    check_sizes(definition, parts.limits)
    template = load(definition.template)
    environment = definition.environment
    given = parameters.given_values(template, definition.parameters, environment)
    unknown = frozenset(
        name
        for name, one in template.parameters.items()
        if one.default is None and name not in given
    )
    # Its name is what the pseudo parameter OS::stack_name is while it has none.
    stack = Stack(events.new_uuid(), 'unnamed', '', 0)
    checking = Checking(parts)
    made = checking.blueprint(stack, definition, unknown)
    checking.walk(stack, made, unknown=unknown)
    if told := checking.told:
        raise exceptions.StackValidationFailed(told)
    return describing.described(
        *(template, definition.parameters, environment, definition.files),
        nested=parts.limits.depth if nested else 0,
        limit=parts.limits.template,
    )
