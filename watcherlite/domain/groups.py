"""Members of resource groups and the batches that change them; pure functions.

A step is what one update of the stack behind a group does: members that are made or
changed in it, all at once, and after that those that are dropped.
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

#: How removal policies relate to what was removed before.
APPEND, UPDATE = 'append', 'update'
#: How a scaling policy says what is to change.
CHANGE = 'change_in_capacity'
EXACT = 'exact_capacity'
PERCENT = 'percent_change_in_capacity'
ADJUSTMENTS = (CHANGE, EXACT, PERCENT)

#: Characters of the name of a member that has no number.
NAME_LENGTH = 12

_LONG_AGO = datetime.datetime.min.replace(tzinfo=datetime.UTC)


@dataclasses.dataclass(frozen=True, slots=True)
class Pace:
    """How fast members are changed.

    :param min_in_service: how many go on serving, if there are as many
    :param max_batch: how many are made or changed at once
    :param pause: seconds between two steps
    """

    min_in_service: int = 0
    max_batch: int = 1
    pause: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Standing:
    """How a member is before anything is done.

    :param serving: it is there and well
    :param fits: it is what it is to be
    """

    name: str
    serving: bool = True
    fits: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One update of the stack behind a group.

    :param names: of the members after it
    :param converted: those of them that are what they are to be
    :param touched: those of them that are made or changed in it
    """

    names: tuple[str, ...]
    converted: frozenset[str]
    touched: tuple[str, ...]


# which members


def order(
    members: Iterable[Member], wanted: Mapping[str, Any] | None = None
) -> list[Member]:
    """Return members in the order in which they are replaced, and dropped.

    What does not serve comes first, then what is oldest.

    :param wanted: the definition that all are to have: what has another one comes
        before what is older, so that a way back finds what was there before
    """

    def key(member: Member) -> tuple[Any, ...]:
        fits = wanted is None or member.definition == wanted
        return member.serving, fits, *_age(member)

    return sorted(members, key=key)


def by_age(members: Iterable[Member]) -> list[Member]:
    """Return members, the oldest first."""
    return sorted(members, key=_age)


def _age(member: Member) -> tuple[datetime.datetime, str]:
    return member.created_at or _LONG_AGO, member.name


def resized(
    members: Sequence[Member],
    size: int,
    fresh: Iterator[str],
    wanted: Mapping[str, Any] | None = None,
) -> list[str]:
    """Return the names of as many members: those that are there, as far as can be.

    :param fresh: names for those that are not there
    :param wanted: as for `order`
    """
    kept = [m.name for m in order(members, wanted)][max(0, len(members) - size) :]
    return kept + list(itertools.islice(fresh, size - len(kept)))


def fresh_names(seed: str, taken: Iterable[str] = ()) -> Iterator[str]:
    """Return names that nobody has, without an end: the same ones for a seed."""
    used = set(taken)
    for at in itertools.count():
        digest = hashlib.sha256(f'{seed}:{at}'.encode()).digest()
        name = base64.b32encode(digest).decode()[:NAME_LENGTH].lower()
        if name not in used:
            used.add(name)
            yield name


def index_names(without: Iterable[str] = ()) -> Iterator[str]:
    """Return `0`, `1` and so on, without those."""
    left_out = frozenset(without)
    return (str(at) for at in itertools.count() if str(at) not in left_out)


def by_index(name: str) -> tuple[int, int, str]:
    """Return what sorts names of members as people count."""
    if name.isdecimal():
        return 0, int(name), name
    return 1, 0, name


def removed(
    before: Mapping[str, str | None],
    members: Iterable[Member],
    policies: Iterable[Mapping[str, Any]],
    mode: str = APPEND,
) -> dict[str, str | None]:
    """Return the names that a group does not use: name -> what it referred to.

    :param before: those that it did not use until now
    :param policies: `resource_list` each: names, or what members refer to; what
        is neither is ignored, as it may be long gone
    :param mode: UPDATE forgets what is not listed, so that it is used again
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
    """Return a definition with the name of a member for a variable, everywhere."""
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


# in which steps


def at_once(target: Sequence[str]) -> list[Step]:
    """Return the one step that does everything."""
    names = tuple(target)
    return [Step(names, frozenset(names), names)]


def growing(target: Sequence[str], batch: int) -> list[Step]:
    """Return the steps in which a group is made that was not there."""
    names = tuple(target)
    return [
        Step(
            names[: at + batch], frozenset(names[: at + batch]), names[at : at + batch]
        )
        for at in range(0, len(names), batch)
    ] or at_once(names)


def rolling(
    target: Sequence[str],
    members: Sequence[Standing],
    pace: Pace,
    spares: Iterator[str],
) -> list[Step]:
    """Return the steps in which members become what they are to be.

    At no time fewer serve than `min_in_service`, than there are to be, or than did
    at the beginning, whichever is the least. Where changing members in place would
    break that, others are made for the time being. What does not serve is made anew
    first, and is not there until it is its turn.

    :param target: names, those first that are to be changed first
    :param members: in the order in which they are dropped
    :param spares: names for those that are made for the time being
    """
    return list(_Rolling(target, members, pace, spares).steps())


class _Rolling:
    """A rolling update while it is thought through."""

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
        wanted = frozenset(target)
        #: What is there and goes in the end, what goes first at the front.
        self._surplus = [name for name in fits if name not in wanted]
        self._present = [name for name in target if name in fits] + self._surplus
        self._converted = {name for name in wanted if fits.get(name)}
        self._taken = set(fits) | down | wanted

    def steps(self) -> Iterator[Step]:
        """Return one step after the other; at least one."""
        yield self._step()
        while self._to_make or self._to_change:
            yield self._step()

    def _step(self) -> Step:
        serving = len(self._present)
        room = min(self._pace.max_batch, len(self._to_make) + len(self._to_change))
        floor = min(self._pace.min_in_service, len(self._target), serving)
        capacity = room + max(min(serving, len(self._target) - room), floor)
        made = _taken(self._to_make, room)
        changes = room - len(made)
        changed = _taken(self._to_change, min(changes, serving - floor))
        spare = list(itertools.islice(self._unused(), changes - len(changed)))
        self._surplus += spare
        self._present += made + spare
        self._converted.update(made, changed, spare)
        last = not (self._to_make or self._to_change)
        gone = len(self._surplus) if last else max(0, len(self._present) - capacity)
        dropped = frozenset(_taken(self._surplus, gone))
        self._present = [name for name in self._present if name not in dropped]
        self._converted -= dropped
        there = self._target if last else tuple(self._present)
        touched = tuple(n for n in (*made, *changed, *spare) if n not in dropped)
        return Step(there, frozenset(self._converted), touched)

    def _unused(self) -> Iterator[str]:
        for name in self._spares:
            if name not in self._taken:
                self._taken.add(name)
                yield name


def _taken(names: list[str], count: int) -> list[str]:
    """Take as many from the front of a list, and return them."""
    head, names[:] = names[:count], names[count:]
    return head


# how many members


def adjusted(
    size: int, adjustment_type: str, adjustment: float, min_step: int | None = None
) -> int:
    """Return the size that a scaling policy makes of one, without bounds.

    A percentage that comes to less than one member is one; else to whole members,
    towards nothing.

    :param min_step: of PERCENT: at least as many
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


def bounded(size: int, smallest: int, largest: int) -> int:
    """Return the size that is nearest, and allowed."""
    return max(smallest, min(size, largest))


def rests_until(
    since: datetime.datetime | None, cooldown: float | None, now: datetime.datetime
) -> datetime.datetime | None:
    """Return until when nothing is scaled again; None: it may be.

    :param since: when it was scaled last
    :param cooldown: seconds
    """
    if since is None or not cooldown:
        return None
    until = since + datetime.timedelta(seconds=cooldown)
    return until if now < until else None
