"""Requests on stacks: the stack of an address, and the definition in a body."""

import json
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.api.operation import Request
from watcherlite.domain.stacks import Stack, StackRequest
from watcherlite.domain.templates import document
from watcherlite.domain.templates import environment as environments

#: Members that are not part of the definition of the stack.
_ADDRESSING = frozenset({'stack_name', 'converge'})


def new_stack(request: Request, name: str, existing: bool = False) -> StackRequest:
    """Return the stack that the body describes.

    :param existing: omitted members keep their values
    :raises Invalid: the template, an environment or an option is invalid
    """
    body = request.body or {}
    _reject_url(body)
    parsed = template(request, body)
    if parsed is None and not existing and not body.get('adopt_stack_data'):
        raise exceptions.StackValidationFailed('No template specified')
    files = dict(body.get('files') or {})
    return StackRequest(
        name=name,
        template=parsed,
        environment=environment(body, parsed),
        files=files,
        parameters=dict(body.get('parameters') or {}),
        timeout_mins=_minutes(body.get('timeout_mins')),
        disable_rollback=_boolean(body.get('disable_rollback')),
        tags=_tags(body.get('tags')),
        existing=existing,
        clear_parameters=tuple(body.get('clear_parameters') or ()),
        adopt=_adopted(body.get('adopt_stack_data')),
    )


def changes_nothing(body: Mapping[str, Any]) -> bool:
    """Return whether an update of an existing stack changes nothing."""
    # An empty text or list of tags is a change: it removes the tags.
    return not any(
        value is not None and (value not in ({}, [], '') or name == 'tags')
        for name, value in body.items()
        if name not in _ADDRESSING
    )


def template(request: Request, body: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the parsed template of a body, or None.

    :raises TemplateInvalid: it is not a template
    :raises RequestLimitExceeded: it is too large
    """
    given = body.get('template')
    limit = request.services.stacks.limits.template
    if given is None or given == '':
        return None
    if isinstance(given, str):
        return document.parse(given, 'template', limit)
    size = len(json.dumps(given).encode())
    if size > limit:
        raise exceptions.RequestLimitExceeded(
            f'Template size ({size} bytes) exceeds maximum allowed size '
            f'({limit} bytes).'
        )
    return dict(given)


def environment(
    body: Mapping[str, Any], parsed: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the merged environments of a body.

    :raises StackValidationFailed: one is invalid, or missing in the files
    """
    return environments.merge(
        body.get('environment'),
        body.get('files') or {},
        body.get('environment_files') or (),
        parsed,
    )


def _reject_url(body: Mapping[str, Any]) -> None:
    if body.get('template_url') and body.get('template') is None:
        raise exceptions.NotSupported(
            'template_url is not supported: this service fetches no URLs. Send the '
            'template as template, and the files that it refers to as files.'
        )


def _minutes(value: Any) -> int | None:
    return None if value is None else int(value)


def _boolean(value: Any) -> bool | None:
    """Return a boolean that may be given as text."""
    return value.lower() == 'true' if isinstance(value, str) else value


def _tags(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    found = value.split(',') if isinstance(value, str) else value
    return tuple(dict.fromkeys(tag.strip() for tag in found if tag.strip()))


def _adopted(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, str):
        value = document.parse(value, 'adopt_stack_data') if value.strip() else None
    return value or None


def get_stack(request: Request, deleted: bool = False) -> Stack:
    """Return the stack with the name and the id of an address.

    :param deleted: include deleted stacks
    :raises StackNotFound: no such stack
    """
    name, uuid = request.path['stack_name'], request.path['stack_id']
    tenant = request.path['tenant']
    found = request.services.store.find_stack(uuid, tenant, deleted)
    # `find_stack` also finds a stack whose name is the id.
    if found.name != name or found.uuid != uuid:
        raise exceptions.StackNotFound(f'The Stack ({name}/{uuid}) could not be found.')
    return found
