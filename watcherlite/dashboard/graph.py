"""The layout of a graph of actions: columns by dependency, drawn as SVG."""

import dataclasses
import graphlib
from collections.abc import Iterable, Mapping, Sequence

NODE_WIDTH, NODE_HEIGHT = 190, 34
_GAP_X, _GAP_Y, _MARGIN = 56, 12, 8
#: Passes that move nodes towards their neighbours.
_PASSES = 2


@dataclasses.dataclass(frozen=True, slots=True)
class Graph:
    """The positions of a graph, in pixels.

    :param places: node -> its left upper corner
    :param edges: the paths of SVG, from parents to children
    """

    width: int
    height: int
    places: Mapping[str, tuple[int, int]]
    edges: Sequence[str]


def lay_out(parents: Mapping[str, Iterable[str]]) -> Graph:
    """Return the layout of an acyclic graph.

    A node stands in the column after the last of its parents. Within its column it is
    near the mean of its neighbours, so that edges cross less.

    :param parents: node -> its parents; those that are no nodes are ignored
    """
    known = {node: [p for p in of if p in parents] for node, of in parents.items()}
    columns = _columns(known)
    _order(columns, known)
    step_x, step_y = NODE_WIDTH + _GAP_X, NODE_HEIGHT + _GAP_Y
    places = {
        node: (_MARGIN + x * step_x, _MARGIN + y * step_y)
        for x, column in enumerate(columns)
        for y, node in enumerate(column)
    }
    most = max((len(column) for column in columns), default=0)
    return Graph(
        width=2 * _MARGIN + max(len(columns) * step_x - _GAP_X, 0),
        height=2 * _MARGIN + max(most * step_y - _GAP_Y, 0),
        places=places,
        edges=[
            _edge(places[parent], places[node])
            for node, of in known.items()
            for parent in of
        ],
    )


def _columns(parents: Mapping[str, Sequence[str]]) -> list[list[str]]:
    depth: dict[str, int] = {}
    for node in graphlib.TopologicalSorter(parents).static_order():
        depth[node] = max((depth[p] + 1 for p in parents[node]), default=0)
    columns: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    # In the order of the document.
    for node in parents:
        columns[depth[node]].append(node)
    return columns


def _order(columns: list[list[str]], parents: Mapping[str, Sequence[str]]) -> None:
    children: dict[str, list[str]] = {node: [] for node in parents}
    for node, of in parents.items():
        for parent in of:
            children[parent].append(node)
    row = {node: y for column in columns for y, node in enumerate(column)}

    def mean(neighbours: Sequence[str], node: str) -> float:
        if not neighbours:
            return row[node]
        return sum(row[other] for other in neighbours) / len(neighbours)

    for _ in range(_PASSES):
        for near, order in ((parents, columns), (children, columns[::-1])):
            for column in order:
                means = {node: mean(near[node], node) for node in column}
                column.sort(key=means.__getitem__)
                row.update((node, y) for y, node in enumerate(column))


def _edge(parent: tuple[int, int], child: tuple[int, int]) -> str:
    x1, y1 = parent[0] + NODE_WIDTH, parent[1] + NODE_HEIGHT // 2
    x2, y2 = child[0], child[1] + NODE_HEIGHT // 2
    middle = (x1 + x2) // 2
    return f'M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}'
