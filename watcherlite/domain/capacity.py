"""Capacity of clusters: sizes, the nodes to remove, and node names.

Pure functions of numbers and rows. The texts of refusals are those that clients of
clusters compare.
"""

import dataclasses
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.clusters import Cluster, Node, Profile
from watcherlite.states import cluster as states

# Types of adjustment
EXACT_CAPACITY = 'EXACT_CAPACITY'
CHANGE_IN_CAPACITY = 'CHANGE_IN_CAPACITY'
CHANGE_IN_PERCENTAGE = 'CHANGE_IN_PERCENTAGE'
ADJUSTMENTS = (EXACT_CAPACITY, CHANGE_IN_CAPACITY, CHANGE_IN_PERCENTAGE)

# Criteria for the nodes to remove
RANDOM = 'RANDOM'
OLDEST_FIRST = 'OLDEST_FIRST'
OLDEST_PROFILE_FIRST = 'OLDEST_PROFILE_FIRST'
YOUNGEST_FIRST = 'YOUNGEST_FIRST'
CRITERIA = (RANDOM, OLDEST_FIRST, OLDEST_PROFILE_FIRST, YOUNGEST_FIRST)

#: The key of a cluster's config for the format of node names.
NAME_FORMAT = 'node.name.format'
DEFAULT_NAME_FORMAT = 'node-$8R'
#: Maximum length of a name.
LONGEST_NAME = 255

_PLACEHOLDER = re.compile(r'\$([0-9]*)([rRI])')
_IN_NAMES = re.compile(r'[a-zA-Z\u4e00-\u9fa50-9._~-]*')
_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
_WIDTH = 8


@dataclasses.dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a cluster; `max_size` below 0: unlimited."""

    desired_capacity: int
    min_size: int
    max_size: int


@dataclasses.dataclass(frozen=True, slots=True)
class Adjustment:
    """The resize in a request; None: unchanged.

    :param type: of ADJUSTMENTS, or None if only the limits change
    :param min_step: the minimum result of a percentage
    :param strict: refuse sizes beyond the limits; else adjust them
    """

    type: str | None = None
    number: float = 0
    min_size: int | None = None
    max_size: int | None = None
    min_step: int | None = None
    strict: bool = False

    @classmethod
    def of(cls, inputs: Mapping[str, Any]) -> 'Adjustment':
        """Return the adjustment in the inputs of CLUSTER_RESIZE."""
        return cls(
            inputs.get('adjustment_type'),
            inputs.get('number') or 0,
            inputs.get('min_size'),
            inputs.get('max_size'),
            inputs.get('min_step'),
            bool(inputs.get('strict', False)),
        )


# sizes


def check_sizes(
    cluster: Cluster | None,
    desired: int | None = None,
    min_size: int | None = None,
    max_size: int | None = None,
    *,
    strict: bool = False,
    most: int | None = None,
) -> None:
    """Raise Invalid for sizes inconsistent with each other, or with those of a cluster.

    :param cluster: supplies the sizes that are not given; None: a new one
    :param strict: whether a given size must be consistent with sizes of the cluster
        that a resize would otherwise adjust
    :param most: maximum number of nodes of a cluster; None: unlimited
    """
    check = _SizeCheck(cluster, desired, min_size, max_size, strict, most)
    for applies, text in (*check.of_desired(), *check.of_min(), *check.of_max()):
        if applies:
            raise exceptions.BadRequest(text)


@dataclasses.dataclass(frozen=True, slots=True)
class _SizeCheck:
    """The checks of requested sizes, each as (whether it fails, message)."""

    cluster: Cluster | None
    desired: int | None
    min_size: int | None
    max_size: int | None
    strict: bool
    most: int | None

    def of_desired(self) -> Iterator[tuple[bool, str]]:
        """Yield the checks of the desired capacity."""
        desired, low, high = self.desired, self.min_size, self.max_size
        if desired is None:
            return
        capacity = f'The target capacity ({desired}) is'
        yield (
            self.most is not None and desired > self.most,
            f'{capacity} greater than the maximum number of nodes allowed per cluster '
            f'({self.most}).',
        )
        yield (
            low is not None and desired < low,
            f'{capacity} less than the specified min_size ({low}).',
        )
        yield (
            high is not None and 0 <= high < desired,
            f'{capacity} greater than the specified max_size ({high}).',
        )
        if self.cluster is not None and self.strict:
            least, greatest = self.cluster.min_size, self.cluster.max_size
            yield (
                low is None and desired < least,
                f"{capacity} less than the cluster's min_size ({least}).",
            )
            yield (
                high is None and 0 <= greatest < desired,
                f"{capacity} greater than the cluster's max_size ({greatest}).",
            )

    def of_min(self) -> Iterator[tuple[bool, str]]:
        """Yield the checks of the minimum size."""
        low, high = self.min_size, self.max_size
        if low is None:
            return
        text = f'The specified min_size ({low}) is greater than the'
        yield (
            high is not None and 0 <= high < low,
            f'{text} specified max_size ({high}).',
        )
        if self.cluster is not None:
            greatest, capacity = self.cluster.max_size, self.cluster.desired_capacity
            yield (
                high is None and 0 <= greatest < low,
                f'{text} current max_size ({greatest}) of the cluster.',
            )
            yield (
                self.strict and self.desired is None and low > capacity,
                f'{text} current desired_capacity ({capacity}) of the cluster.',
            )

    def of_max(self) -> Iterator[tuple[bool, str]]:
        """Yield the checks of the maximum size."""
        low, high = self.min_size, self.max_size
        if high is None:
            return
        text = f'The specified max_size ({high}) is'
        yield (
            self.most is not None and high > self.most,
            f'{text} greater than the maximum number of nodes allowed per cluster '
            f'({self.most}).',
        )
        if self.cluster is not None and high >= 0:
            least, capacity = self.cluster.min_size, self.cluster.desired_capacity
            yield (
                low is None and high < least,
                f'{text} less than the current min_size ({least}) of the cluster.',
            )
            yield (
                self.strict and self.desired is None and high < capacity,
                f'{text} less than the current desired_capacity ({capacity}) of the '
                'cluster.',
            )


def adjusted(
    current: int, adjustment: str, number: float, min_step: int | None = None
) -> int:
    """Return the number of nodes after a resize, given the current number.

    A percentage that amounts to less than one node is one node; fractions are
    truncated. `min_step` applies in the direction of `number`.
    """
    if adjustment == EXACT_CAPACITY:
        return int(number)
    if adjustment == CHANGE_IN_CAPACITY:
        return current + int(number)
    step = abs(number) * current / 100
    nodes = math.ceil(step) if step < 1 else math.floor(step)
    nodes = max(nodes, min_step or 0)
    return current + (nodes if number >= 0 else -nodes)


def resized(
    cluster: Cluster, current: int, wish: Adjustment, most: int | None = None
) -> Sizes:
    """Return the sizes after a resize; raises Invalid.

    :param current: number of nodes
    :param most: see `check_sizes`
    """
    given: int | None = None
    if wish.type is not None:
        given = adjusted(current, wish.type, wish.number, wish.min_step)
    low = cluster.min_size if wish.min_size is None else wish.min_size
    high = cluster.max_size if wish.max_size is None else wish.max_size
    desired = cluster.desired_capacity if given is None else given
    if not wish.strict:
        desired = clamp(desired, low, high)
        given = None if given is None else desired
    check_sizes(
        cluster, given, wish.min_size, wish.max_size, strict=wish.strict, most=most
    )
    return Sizes(desired, low, high)


def clamp(desired: int, min_size: int, max_size: int) -> int:
    """Return the number of nodes clamped to the limits."""
    desired = max(desired, min_size)
    return min(desired, max_size) if max_size >= 0 else desired


def scaling_count(
    current: int,
    shrinks: bool,
    adjustment: str,
    number: float,
    min_step: int | None = None,
) -> int:
    """Return the number of nodes that a scaling policy adds or removes.

    Unlike a resize it truncates the result of a percentage before applying the minimum
    step. It may be 0 or less for an exact capacity: then there is nothing to do.

    :param shrinks: whether nodes are removed
    """
    if adjustment == EXACT_CAPACITY:
        return current - int(number) if shrinks else int(number) - current
    if adjustment == CHANGE_IN_PERCENTAGE:
        return max(int(number * current / 100), min_step or 0)
    return int(number)


# nodes to remove


def victims(
    nodes: Sequence[Node],
    count: int,
    criteria: str = RANDOM,
    *,
    seed: str,
    profiles: Mapping[int, Profile] | None = None,
) -> list[Node]:
    """Return the nodes to delete, in order.

    Unhealthy nodes come first, then nodes that were never created; the criteria select
    the others, and order each group.

    :param seed: the uuid of the action, so that a repeated one selects the same
    :param profiles: by id, for OLDEST_PROFILE_FIRST
    """
    source = random.Random(seed)  # noqa: S311  # nosec B311  # no secret
    listed = sorted(nodes, key=lambda node: (node.index, node.uuid))
    if criteria == RANDOM:
        source.shuffle(listed)
    else:
        ages = {node.uuid: _age(node, criteria, profiles or {}) for node in listed}
        listed.sort(
            key=lambda node: ages[node.uuid], reverse=criteria == YOUNGEST_FIRST
        )
    listed.sort(key=_urgency)
    return listed[: max(0, count)]


def _urgency(node: Node) -> int:
    if node.status in (states.ERROR, states.WARNING) or node.tainted:
        return 0
    return 1 if node.created_at is None else 2


def _age(
    node: Node, criteria: str, profiles: Mapping[int, Profile]
) -> tuple[float, ...]:
    """Return the sort key of nodes, the oldest first."""
    created = node.created_at or node.init_at
    own = created.timestamp() if created is not None else 0.0
    if criteria != OLDEST_PROFILE_FIRST:
        return (own, node.index)
    profile = profiles.get(node.profile_id)
    since = profile.created_at if profile is not None else None
    return (since.timestamp() if since is not None else 0.0, own, node.index)


# names


def node_name(written: str | None, index: int, source: random.Random) -> str:
    """Return the name of a node with this index.

    `$I` is the index, `$4I` padded with zeros; `$R` are 8 random letters and digits
    that start with a letter, `$6R` as many as that; `$r` likewise, all lower-case.

    :param written: the format in the cluster's config; None: DEFAULT_NAME_FORMAT
    """

    def filled(match: re.Match[str]) -> str:
        width, kind = match.groups()
        if kind == 'I':
            return str(index).zfill(int(width or 0))
        text = _random_text(int(width or _WIDTH), source)
        return text.lower() if kind == 'r' else text

    return _PLACEHOLDER.sub(filled, written or DEFAULT_NAME_FORMAT)


def check_name_format(written: str) -> None:
    """Raise Invalid for an invalid format of node names."""
    what = f"The {NAME_FORMAT} '{written}'"
    rest = _PLACEHOLDER.sub('', written)
    if not _IN_NAMES.fullmatch(rest):
        raise exceptions.BadRequest(
            f'{what} may have letters, digits, . _ ~ - and the placeholders $nI, $nR '
            'and $nr, n being a number of characters'
        )
    widths = [
        # With more digits the number is too large in any case.
        max(int(width[:9] or _WIDTH), _WIDTH)
        for width, _ in _PLACEHOLDER.findall(written)
    ]
    if len(rest) + sum(widths) > LONGEST_NAME:
        raise exceptions.BadRequest(
            f'{what} makes names of more than {LONGEST_NAME} characters'
        )
    if not written:
        raise exceptions.BadRequest(f'The {NAME_FORMAT} must not be empty')


def _random_text(length: int, source: random.Random) -> str:
    if length < 1:
        return ''
    rest = source.choices(f'{_LETTERS}0123456789', k=length - 1)
    return source.choice(_LETTERS) + ''.join(rest)
