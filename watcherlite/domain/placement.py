"""Placement of nodes in regions and zones; pure functions.

What policies decide is in the data of an action: how many nodes of each region and
zone come or go. What becomes of it is in the data of each node.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.clusters import Node

#: In the data of a node: where it is, or is to be.
PLACEMENT = 'placement'
# What that says
REGION = 'region_name'
ZONE = 'zone'


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A region or zone that nodes are spread over.

    :param weight: how many nodes it gets, in proportion to the others
    :param cap: how many it takes at most; below 0: any number
    """

    name: str
    weight: int = 100
    cap: int = -1


def place_of(node: Node, key: str) -> str | None:
    """Return where a node is; `key` is REGION or ZONE."""
    found = (node.data.get(PLACEMENT) or {}).get(key)
    return found if isinstance(found, str) else None


def counted(nodes: Iterable[Node], key: str) -> dict[str | None, int]:
    """Return how many nodes are where; those that are in no place, under None."""
    counts: dict[str | None, int] = {}
    for node in nodes:
        place = place_of(node, key)
        counts[place] = counts.get(place, 0) + 1
    return counts


def grown(
    now: Mapping[str | None, int], places: Sequence[Place], count: int
) -> dict[str, int]:
    """Return how many of the nodes that come go where.

    One by one, each to the place that has the fewest for its weight, the first of
    several; so the places come as near to their weights as they can.

    :raises Invalid: the caps leave no room for as many
    """
    has = {place.name: now.get(place.name, 0) for place in places}
    plan: dict[str, int] = {}
    for _ in range(count):
        open_ = [
            place
            for place in places
            if place.weight > 0 and (place.cap < 0 or has[place.name] < place.cap)
        ]
        if not open_:
            raise exceptions.Invalid('There is no feasible plan to handle all nodes.')
        chosen = min(open_, key=lambda place: (has[place.name] + 1) / place.weight)
        has[chosen.name] += 1
        plan[chosen.name] = plan.get(chosen.name, 0) + 1
    return plan


def shrunk(
    now: Mapping[str | None, int], places: Sequence[Place], count: int
) -> dict[str, int]:
    """Return how many nodes go from where: every place is in it, with 0 if none does.

    Nodes that are in none of the places go first: what is missing to `count`. Then
    one by one from the place that has the most for its weight, the last of several.
    """
    has = {place.name: now.get(place.name, 0) for place in places}
    elsewhere = sum(now.values()) - sum(has.values())
    plan = dict.fromkeys(has, 0)
    for _ in range(max(0, count - elsewhere)):
        full = [place for place in reversed(places) if has[place.name] > 0]
        if not full:
            break
        chosen = max(
            full,
            key=lambda place: (
                has[place.name] / place.weight if place.weight > 0 else float('inf')
            ),
        )
        has[chosen.name] -= 1
        plan[chosen.name] += 1
    return plan


def victims(
    ordered: Sequence[Node],
    count: int,
    regions: Mapping[str, int] | None = None,
    zones: Mapping[str, int] | None = None,
) -> list[Node]:
    """Return the nodes that go, as near as can be to how many go from where.

    :param ordered: all nodes of the cluster, the first to go first
    :param regions: region -> how many; what is missing to `count` goes from others
    :param zones: likewise; where both cannot be had, regions count
    """
    quotas: list[tuple[str, dict[str | None, int]]] = [
        (key, dict([(None, max(0, count - sum(wanted.values()))), *wanted.items()]))
        for key, wanted in ((REGION, regions), (ZONE, zones))
        if wanted is not None
    ]
    chosen: dict[str, Node] = {}
    # First those that fit both, then regions alone, then whoever is left.
    for heeded in range(len(quotas), -1, -1):
        for node in ordered:
            if len(chosen) >= count:
                break
            if node.uuid in chosen:
                continue
            places = [(quota, _within(node, key, quota)) for key, quota in quotas]
            if all(quota[place] > 0 for quota, place in places[:heeded]):
                chosen[node.uuid] = node
                for quota, place in places:
                    quota[place] -= 1
    return [node for node in ordered if node.uuid in chosen]


def _within(node: Node, key: str, quota: Mapping[str | None, int]) -> str | None:
    """Return the place of a node if something is said of it, else None."""
    place = place_of(node, key)
    return place if place in quota else None


def spread(data: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Return where each of the nodes that come is to be, as `PLACEMENT` says it.

    :param data: of the action: `creation` has how many go to which region and zone,
        `placement` what else is said of each, which counts where both say something
    :returns: of each node; {}: anywhere
    """
    creation = data.get('creation') or {}
    placements = (data.get('placement') or {}).get('placements') or []
    found: list[dict[str, Any]] = [{} for _ in range(count)]
    for key, counts in ((REGION, 'regions'), (ZONE, 'zones')):
        names = [
            name
            for name, number in (creation.get(counts) or {}).items()
            for _ in range(number)
        ]
        for placement, name in zip(found, names, strict=False):
            placement[key] = name
    for placement, said in zip(found, placements, strict=False):
        placement.update(said)
    return found
