"""The batches of groups: templates, limits, rolling updates and attributes."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import groups
from watcherlite.domain.groups import GroupStep, Pace, Standing
from watcherlite.domain.resource_results import Batch, Member, Property
from watcherlite.domain.templates.versions import KEY, NEWEST
from watcherlite.plugins.base import NestedContext

#: The optional keys of the definition of members.
_MORE: Mapping[str, Any] = {
    'metadata': {'type': 'object'},
    'deletion_policy': {'type': 'string'},
    'update_policy': {'type': 'object'},
    'description': {'type': 'string'},
}
#: The schema of the definition of members.
DEFINITION: Mapping[str, Any] = {
    'type': 'object',
    'properties': {
        'type': {'type': 'string', 'minLength': 1},
        'properties': {'type': 'object'},
        **_MORE,
    },
    'required': ['type'],
    'additionalProperties': False,
}
#: The schema of the pace of a rolling update.
ROLLING: Mapping[str, Any] = {
    'type': 'object',
    'properties': {
        'min_in_service': {'type': 'integer', 'minimum': 0, 'default': 0},
        'max_batch_size': {'type': 'integer', 'minimum': 1, 'default': 1},
        'pause_time': {'type': 'number', 'minimum': 0, 'default': 0},
    },
    'additionalProperties': False,
}

#: The schema of a size.
COUNT: Mapping[str, Any] = {'type': 'integer', 'minimum': 0, 'maximum': 100_000}
#: The maximum number of members in all templates of an operation, if each has a
#: definition of ordinary size.
MOST = 250_000
ORDINARY = 512
#: Maximum number of characters of one template.
LARGEST = 16 * 1024 * 1024

#: The keys of a rolling update in an update policy, of Heat and of AWS.
ROLLING_UPDATE, AWS_ROLLING_UPDATE = 'rolling_update', 'RollingUpdate'
AWS_SCALING_UPDATE = 'AutoScalingRollingUpdate'
_AWS: Mapping[str, str] = {
    'MinInstancesInService': 'min_in_service',
    'MaxBatchSize': 'max_batch_size',
    'PauseTime': 'pause_time',
}
_DURATION = re.compile(r'PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?')

_POLICY = 'update_policy'


def definition_property(description: str) -> Property:
    """Return the property for the definition of members."""
    return Property(DEFINITION, description, required=True, updatable=True)


# templates


def convergence_batches(
    context: NestedContext,
    members: Sequence[Member],
    target: Sequence[str],
    define: Callable[[str], Mapping[str, Any]],
    pace: Pace | None,
    spares: Iterator[str],
) -> tuple[Batch, ...]:
    """Return the batches that converge a group to these members.

    Members change step by step only if their definition changes: unchanged members need
    no batches.

    :param target: their names, in the order of the changes
    :param define: returns the definition of a member by its name
    :param pace: None: all at once
    :param spares: names of temporary members
    :raises Invalid: too many steps would be required
    """
    each = _length(target, define)
    check_template_size(context, len(target), each)
    former = {m.name: m.definition for m in members if m.definition is not None}
    standing = [
        Standing(
            m.name, m.serving, former.get(m.name, define(m.name)) == define(m.name)
        )
        for m in groups.order(members)
    ]
    stays = frozenset(target)
    changing = any(m.serving and not m.fits and m.name in stays for m in standing)
    if pace is None or not changing:
        steps = groups.single_step(target)
    else:
        check_total_size(context, pace, max(len(target), len(members)), each)
        steps = groups.rolling_update_steps(target, standing, pace, spares)
        check_duration(context, pace, len(steps))
    pause = pace.pause if pace is not None else 0
    return tuple(_batch(step, former, define, pause) for step in steps)


def creation_batches(
    context: NestedContext,
    target: Sequence[str],
    define: Callable[[str], Mapping[str, Any]],
    pace: Pace,
) -> tuple[Batch, ...]:
    """Return the batches that create a group, a number of members at a time.

    :raises Invalid: too many steps would be required
    """
    each = _length(target, define)
    check_template_size(context, len(target), each)
    check_total_size(context, pace, len(target), each)
    steps = groups.creation_steps(target, pace.max_batch)
    check_duration(context, pace, len(steps))
    return tuple(_batch(step, {}, define, pace.pause) for step in steps)


def existing_batch(
    context: NestedContext,
    members: Sequence[Member],
    names: Sequence[str],
    define: Callable[[str], Mapping[str, Any]],
) -> tuple[Batch, ...]:
    """Return the batch of existing members, each with its definition.

    :param names: of existing and missing members
    """
    check_template_size(context, len(names), _length(names, define))
    former = {m.name: m.definition for m in members if m.definition is not None}
    step = GroupStep(tuple(names), frozenset(names) - former.keys(), ())
    return (_batch(step, former, define, 0),)


def _length(target: Sequence[str], define: Callable[[str], Mapping[str, Any]]) -> int:
    """Return the approximate size of the definition of a member, in characters."""
    return len(json.dumps(define(target[0]))) if target else 0


def check_template_size(context: NestedContext, size: int, each: int) -> None:
    """Raise Invalid for a template that is too large.

    :param each: characters of the definition of a member
    """
    if size * each > LARGEST:
        raise exceptions.Invalid(
            f'{context.resource_name}: the definitions of {size} members, {each} '
            f'characters each, are more than {LARGEST} characters; a shorter one '
            'or fewer members would fit'
        )


def check_total_size(context: NestedContext, pace: Pace, size: int, each: int) -> None:
    """Raise Invalid for batches that are too large together.

    :param each: characters of the definition of a member
    """
    # Each batch stores the files of the parent as well.
    files = sum(map(len, context.files.values()))
    members = size * math.ceil(each / ORDINARY) + math.ceil(files / ORDINARY)
    least = math.ceil(size * members / MOST)
    if least > pace.max_batch:
        raise exceptions.Invalid(
            f'{context.resource_name}: {size} members in batches of {pace.max_batch} '
            f'are too many steps; max_batch_size must be at least {least}'
        )


def check_duration(context: NestedContext, pace: Pace, steps: int) -> None:
    """Raise Invalid for pauses that exceed the timeout."""
    left, pauses = context.remaining(), pace.pause * (steps - 1)
    if left is not None and pauses >= left:
        raise exceptions.Invalid(
            f'{context.resource_name}: {steps} batches with a pause of {pace.pause} '
            f'seconds between them take at least {pauses} seconds, and the operation '
            f'times out in {int(left)}; larger batches, or shorter pauses, would fit'
        )


def _batch(
    step: GroupStep,
    former: Mapping[str, Mapping[str, Any]],
    define: Callable[[str], Mapping[str, Any]],
    pause: int,
) -> Batch:
    resources = {
        name: define(name) if name in step.converted else former[name]
        for name in sorted(step.names, key=groups.by_index)
    }
    return Batch({KEY: NEWEST, 'resources': resources}, pause=pause)


# policies


def policies(context: NestedContext, known: Sequence[str]) -> dict[str, Any]:
    """Return the update policies of a resource; raises for unknown keys."""
    given = dict(context.update_policy)
    strange = sorted(given.keys() - set(known))
    if strange:
        raise exceptions.StackValidationFailed(
            [
                f'{_POLICY}.{key}: is unknown; {context.resource_name} takes '
                f'{" and ".join(known) or "none"}'
                for key in strange
            ]
        )
    return given


def pace(given: Any, place: str, batch_only: bool = False) -> Pace:
    """Return the pace of a rolling update; raises StackValidationFailed.

    :param given: min_in_service, max_batch_size, pause_time, or the names of AWS
    :param place: the name of the policy
    :param batch_only: the policy has no min_in_service
    """
    if not isinstance(given, Mapping):
        raise exceptions.StackValidationFailed(
            f'{_POLICY}.{place}: must be a mapping, with max_batch_size and pause_time'
        )
    known = [
        name for name in ROLLING['properties'] if not batch_only or name[:3] != 'min'
    ]
    names: Mapping[str, str] = {name: name for name in known}
    if place in (AWS_ROLLING_UPDATE, AWS_SCALING_UPDATE):
        names = _AWS
    problems = [
        f'{_POLICY}.{place}.{key}: is unknown; there are {", ".join(names)}'
        for key in given
        if key not in names
    ]
    values = {'min_in_service': 0, 'max_batch_size': 1, 'pause_time': 0}
    for key, name in names.items():
        if given.get(key) is None:
            continue
        number = _number(given[key], duration=name == 'pause_time')
        least = 1 if name == 'max_batch_size' else 0
        if number is None or number < least:
            problems.append(
                f'{_POLICY}.{place}.{key}: {given[key]!r} is no number from {least} on'
            )
        else:
            values[name] = number
    if problems:
        raise exceptions.StackValidationFailed(problems)
    return Pace(
        values['min_in_service'], values['max_batch_size'], values['pause_time']
    )


def _number(value: Any, duration: bool) -> int | None:
    """Return a whole number, or the seconds of a duration like PT1M30S, rounded up."""
    if isinstance(value, bool):
        return None
    found = _DURATION.fullmatch(value) if duration and isinstance(value, str) else None
    if found is not None:
        hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return (hours * 60 + minutes) * 60 + seconds
    try:
        number = float(value)
        return math.ceil(number) if duration or number.is_integer() else None
    except (TypeError, ValueError, OverflowError):
        return None


# attributes of members


def references(members: Sequence[Member]) -> dict[str, Any]:
    """Return the attributes `refs` and `refs_map`."""
    return {
        'refs': [member.reference for member in members],
        'refs_map': {member.name: member.reference for member in members},
    }


def attributes(members: Sequence[Member]) -> dict[str, dict[str, Any]]:
    """Return each attribute of the members: attribute -> name -> value."""
    names = dict.fromkeys(name for member in members for name in member.attributes)
    return {
        name: {member.name: member.attributes.get(name) for member in members}
        for name in names
    }
