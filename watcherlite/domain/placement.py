"""Placement of nodes in regions and zones; pure functions.

The data of an action contains the decisions of policies: the number of nodes to add to
or remove from each region and zone. The data of each node contains its placement.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.clusters import Node

#: In the data of a node: its placement.
PLACEMENT = 'placement'
# The keys of the placement
REGION = 'region_name'
ZONE = 'zone'
#: In the attributes of a node: the availability zone of its server.
SERVER_ZONE = 'OS-EXT-AZ:availability_zone'


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A region or zone for nodes.

    :param weight: relative number of nodes
    :param cap: maximum number of nodes; below 0: unlimited
    """

    name: str
    weight: int = 100
    cap: int = -1


def place_of(node: Node, key: str) -> str | None:
    """Return the place of a node; `key` is REGION or ZONE.

    The zone of a node that no policy has placed is that of its server.
    """
    found = (node.data.get(PLACEMENT) or {}).get(key)
    if found is None and key == ZONE:
        found = node.attributes.get(SERVER_ZONE)
    return found if isinstance(found, str) else None


def count_by_place(nodes: Iterable[Node], key: str) -> dict[str | None, int]:
    """Return the number of nodes in each place; nodes without a place under None."""
    counts: dict[str | None, int] = {}
    for node in nodes:
        place = place_of(node, key)
        counts[place] = counts.get(place, 0) + 1
    return counts


def distribute_new(
    now: Mapping[str | None, int], places: Sequence[Place], count: int
) -> dict[str, int]:
    """Return the number of new nodes for each place.

    One by one, each to the place with the fewest nodes relative to its weight, the
    first of several; so the distribution approaches the weights.

    :raises Invalid: the caps do not permit as many
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


def distribute_removals(
    now: Mapping[str | None, int], places: Sequence[Place], count: int
) -> dict[str, int]:
    """Return the number of nodes to remove from every place, including 0.

    Nodes in none of the places are removed first: the remainder of `count`. Then one by
    one from the place with the most nodes relative to its weight, the last of several.
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
    """Return the nodes to remove, as close as possible to the numbers for each place.

    :param ordered: all nodes of the cluster, the first to be removed first
    :param regions: region -> number; the remainder of `count` is taken from others
    :param zones: likewise; if both cannot be met, regions take precedence
    """
    quotas: list[tuple[str, dict[str | None, int]]] = [
        (key, dict([(None, max(0, count - sum(desired.values()))), *desired.items()]))
        for key, desired in ((REGION, regions), (ZONE, zones))
        if desired is not None
    ]
    chosen: dict[str, Node] = {}
    # First nodes that match both, then regions alone, then any.
    for heeded in range(len(quotas), -1, -1):
        for node in ordered:
            if len(chosen) >= count:
                break
            if node.uuid in chosen:
                continue
            places = [
                (quota, _limited_place(node, key, quota)) for key, quota in quotas
            ]
            if all(quota[place] > 0 for quota, place in places[:heeded]):
                chosen[node.uuid] = node
                for quota, place in places:
                    quota[place] -= 1
    return [node for node in ordered if node.uuid in chosen]


def _limited_place(node: Node, key: str, quota: Mapping[str | None, int]) -> str | None:
    """Return the place of a node if there are numbers for it, else None."""
    place = place_of(node, key)
    return place if place in quota else None


def assign_places(data: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the placement of each new node, in the format of `PLACEMENT`.

    :param data: of the action: `creation` has the numbers per region and zone,
        `placement` further values for each node, which take precedence
    :returns: of each node; {}: anywhere
    """
    creation = data.get('creation') or {}
    placements = (data.get('placement') or {}).get('placements') or []
    assigned: list[dict[str, Any]] = [{} for _ in range(count)]
    for key, counts in ((REGION, 'regions'), (ZONE, 'zones')):
        names = [
            name
            for name, number in (creation.get(counts) or {}).items()
            for _ in range(number)
        ]
        for placement, name in zip(assigned, names, strict=False):
            placement[key] = name
    for placement, values in zip(assigned, placements, strict=False):
        placement.update(values)
    return assigned
