"""Members of resource groups and the batches that change them; pure functions.

A step is one update of the nested stack of a group: members are created or changed in
parallel, and others are deleted after that.
"""

import base64
import dataclasses
import datetime
import hashlib
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.resource_results import Member

#: How removal policies relate to earlier removals.
APPEND, UPDATE = 'append', 'update'
#: The adjustment types of scaling policies.
CHANGE = 'change_in_capacity'
EXACT = 'exact_capacity'
PERCENT = 'percent_change_in_capacity'
ADJUSTMENTS = (CHANGE, EXACT, PERCENT)

#: Length of a generated member name.
NAME_LENGTH = 12

_LONG_AGO = datetime.datetime.min.replace(tzinfo=datetime.UTC)


@dataclasses.dataclass(frozen=True, slots=True)
class Pace:
    """The pace of a rolling update.

    :param min_in_service: minimum number of members in service, if there are as many
    :param max_batch: number of members created or changed at a time
    :param pause: seconds between two steps
    """

    min_in_service: int = 0
    max_batch: int = 1
    pause: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Standing:
    """The initial state of a member.

    :param serving: it exists and is healthy
    :param fits: it matches its definition
    """

    name: str
    serving: bool = True
    fits: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class GroupStep:
    """One update of the nested stack of a group.

    :param names: of the members after it
    :param converted: those of them that match their definition
    :param touched: those of them that it creates or changes
    """

    names: tuple[str, ...]
    converted: frozenset[str]
    touched: tuple[str, ...]


# members


def order(
    members: Iterable[Member], desired: Mapping[str, Any] | None = None
) -> list[Member]:
    """Return members in the order of replacement and deletion.

    Members out of service come first, then the oldest ones.

    :param desired: the target definition: members with another definition come before
        older ones, so that a rollback keeps the original members
    """

    def key(member: Member) -> tuple[Any, ...]:
        fits = desired is None or member.definition == desired
        return member.serving, fits, *_age(member)

    return sorted(members, key=key)


def sort_by_age(members: Iterable[Member]) -> list[Member]:
    """Return members, the oldest first."""
    return sorted(members, key=_age)


def _age(member: Member) -> tuple[datetime.datetime, str]:
    return member.created_at or _LONG_AGO, member.name


def resized(
    members: Sequence[Member],
    size: int,
    fresh: Iterator[str],
    desired: Mapping[str, Any] | None = None,
) -> list[str]:
    """Return the names of a number of members: existing ones, as far as possible.

    :param fresh: names for new members
    :param desired: as for `order`
    """
    kept = [m.name for m in order(members, desired)][max(0, len(members) - size) :]
    return kept + list(itertools.islice(fresh, size - len(kept)))


def unused_names(seed: str, taken: Iterable[str] = ()) -> Iterator[str]:
    """Yield unused names without end: the same ones for a seed."""
    used = set(taken)
    for at in itertools.count():
        digest = hashlib.sha256(f'{seed}:{at}'.encode()).digest()
        name = base64.b32encode(digest).decode()[:NAME_LENGTH].lower()
        if name not in used:
            used.add(name)
            yield name


def index_names(without: Iterable[str] = ()) -> Iterator[str]:
    """Yield `0`, `1` and so on, without the given ones."""
    left_out = frozenset(without)
    return (str(at) for at in itertools.count() if str(at) not in left_out)


def by_index(name: str) -> tuple[int, int, str]:
    """Return the natural sort key for names of members."""
    if name.isdecimal():
        return 0, int(name), name
    return 1, 0, name


def removed(
    before: Mapping[str, str | None],
    members: Iterable[Member],
    policies: Iterable[Mapping[str, Any]],
    mode: str = APPEND,
) -> dict[str, str | None]:
    """Return the names that a group does not use: name -> its reference.

    :param before: the previous ones
    :param policies: `resource_list` each: names, or references of members; unknown ones
        are ignored, as they may refer to deleted members
    :param mode: UPDATE drops names that are not listed, so that they are used again
    """
    listed = {
        str(item) for policy in policies for item in policy.get('resource_list') or ()
    }
    known = dict(before) | {
        m.name: m.reference for m in members if m.name not in before
    }
    found = {
        name: reference
        for name, reference in known.items()
        if name in listed or (reference is not None and reference in listed)
    }
    if mode == UPDATE:
        return found
    return dict(before) | found


def with_index(value: Any, variable: str, index: str) -> Any:
    """Return a definition with a variable replaced by the name of a member."""
    if isinstance(value, str):
        return value.replace(variable, index)
    if isinstance(value, Mapping):
        return {
            with_index(key, variable, index): with_index(inner, variable, index)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [with_index(inner, variable, index) for inner in value]
    return value


# steps


def single_step(target: Sequence[str]) -> list[GroupStep]:
    """Return a single step."""
    names = tuple(target)
    return [GroupStep(names, frozenset(names), names)]


def creation_steps(target: Sequence[str], batch: int) -> list[GroupStep]:
    """Return the steps that create a group."""
    names = tuple(target)
    return [
        GroupStep(
            names[: at + batch], frozenset(names[: at + batch]), names[at : at + batch]
        )
        for at in range(0, len(names), batch)
    ] or single_step(names)


def rolling_update_steps(
    target: Sequence[str],
    members: Sequence[Standing],
    pace: Pace,
    spares: Iterator[str],
) -> list[GroupStep]:
    """Return the steps of a rolling update.

    The number of members in service is never below the minimum of `min_in_service`, the
    target size, and the initial number in service. If changing members in place would
    violate that, temporary members are created. Members out of service are recreated
    first, and do not exist until it is their turn.

    :param target: names, in the order of changes
    :param members: in the order of deletion
    :param spares: names of temporary members
    """
    return list(_Rolling(target, members, pace, spares).steps())


class _Rolling:
    """The computation of a rolling update."""

    def __init__(
        self,
        target: Sequence[str],
        members: Sequence[Standing],
        pace: Pace,
        spares: Iterator[str],
    ) -> None:
        fits = {member.name: member.fits for member in members if member.serving}
        down = {member.name for member in members if not member.serving}
        absent = [name for name in target if name not in fits]
        self._pace = pace
        self._target = tuple(target)
        self._spares = spares
        self._to_make = [
            *(name for name in absent if name in down),
            *(name for name in absent if name not in down),
        ]
        self._to_change = [name for name in target if fits.get(name) is False]
        desired = frozenset(target)
        #: Members to delete in the end, the first to delete at the front.
        self._surplus = [name for name in fits if name not in desired]
        self._present = [name for name in target if name in fits] + self._surplus
        self._converted = {name for name in desired if fits.get(name)}
        self._take_first = set(fits) | down | desired

    def steps(self) -> Iterator[GroupStep]:
        """Yield one step after the other; at least one."""
        yield self._step()
        while self._to_make or self._to_change:
            yield self._step()

    def _step(self) -> GroupStep:
        serving = len(self._present)
        room = min(self._pace.max_batch, len(self._to_make) + len(self._to_change))
        floor = min(self._pace.min_in_service, len(self._target), serving)
        capacity = room + max(min(serving, len(self._target) - room), floor)
        made = _take_first(self._to_make, room)
        changes = room - len(made)
        changed = _take_first(self._to_change, min(changes, serving - floor))
        spare = list(itertools.islice(self._unused(), changes - len(changed)))
        self._surplus += spare
        self._present += made + spare
        self._converted.update(made, changed, spare)
        last = not (self._to_make or self._to_change)
        gone = len(self._surplus) if last else max(0, len(self._present) - capacity)
        dropped = frozenset(_take_first(self._surplus, gone))
        self._present = [name for name in self._present if name not in dropped]
        self._converted -= dropped
        there = self._target if last else tuple(self._present)
        touched = tuple(n for n in (*made, *changed, *spare) if n not in dropped)
        return GroupStep(there, frozenset(self._converted), touched)

    def _unused(self) -> Iterator[str]:
        for name in self._spares:
            if name not in self._take_first:
                self._take_first.add(name)
                yield name


def _take_first(names: list[str], count: int) -> list[str]:
    """Remove a number of items from the front of a list, and return them."""
    head, names[:] = names[:count], names[count:]
    return head


# sizes


def adjusted(
    size: int, adjustment_type: str, adjustment: float, min_step: int | None = None
) -> int:
    """Return the size after an adjustment by a scaling policy, without bounds.

    A percentage that amounts to less than one member is one; otherwise it is truncated
    towards zero.

    :param min_step: of PERCENT: its minimum result
    """
    if adjustment_type == EXACT:
        return int(adjustment)
    if adjustment_type == CHANGE:
        return size + int(adjustment)
    if adjustment_type != PERCENT:
        raise exceptions.Invalid(
            f'The adjustment_type {adjustment_type} is unknown; it is one of '
            f'{", ".join(ADJUSTMENTS)}'
        )
    step = abs(size * adjustment / 100)
    whole = math.floor(step) if step >= 1 else math.ceil(step)
    if adjustment:
        whole = max(whole, min_step or 0)
    return size + (whole if adjustment > 0 else -whole)


def clamp(size: int, smallest: int, largest: int) -> int:
    """Return the size clamped to the bounds."""
    return max(smallest, min(size, largest))


def cooldown_end(
    since: datetime.datetime | None, cooldown: float | None, now: datetime.datetime
) -> datetime.datetime | None:
    """Return the end of the cooldown, or None.

    :param since: time of the last scaling
    :param cooldown: seconds
    """
    if since is None or not cooldown:
        return None
    until = since + datetime.timedelta(seconds=cooldown)
    return until if now < until else None
