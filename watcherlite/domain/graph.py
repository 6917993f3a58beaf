"""Dependency graphs: topological order, levels and cycles.

A graph is a sequence of sequences: `parents[i]` holds the indexes of the parents of
`i`. Time and memory are linear in nodes and edges, and no function recurses, so that a
chain of 100 000 nodes works.
"""

from collections.abc import Iterator, Sequence

Parents = Sequence[Sequence[int]]


def order(parents: Parents) -> list[int]:
    """Return all nodes in topological order, otherwise as given.

    A graph in such an order is returned unchanged.

    :raises ValueError: there is a cycle; see `find_cycles`
    """
    done: list[int] = []
    for node, cycle in _walk(parents):
        if cycle is not None:
            raise ValueError(f'a cycle: {cycle}')
        done.append(node)
    return done


def levels(parents: Parents) -> list[list[int]]:
    """Return the nodes by the length of the longest path to them.

    The nodes of one level depend only on nodes of earlier levels: they may run in
    parallel. Within a level they are in the given order.

    :raises ValueError: there is a cycle
    """
    depth = [0] * len(parents)
    for node in order(parents):
        depth[node] = 1 + max((depth[parent] for parent in parents[node]), default=-1)
    found: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for node, level in enumerate(depth):
        found[level].append(node)
    return found


def find_cycles(parents: Parents, limit: int = 10) -> list[list[int]]:
    """Return cycles, each in the order in which its nodes would have to run.

    Each starts with its lowest node. Of cycles with common nodes not all may be found,
    but the graph has no cycle if none is returned.

    :param limit: maximum number of cycles to return
    """
    found: list[list[int]] = []
    for _, cycle in _walk(parents):
        if cycle is None:
            continue
        first = cycle.index(min(cycle))
        found.append(cycle[first:] + cycle[:first])
        if len(found) == limit:
            break
    return found


def _walk(parents: Parents) -> Iterator[tuple[int, list[int] | None]]:
    """Visit every node once, after its parents: (node, None).

    An edge to a node that is being visited is reported as (node, the cycle that it
    closes) and ignored.
    """
    new, open_, done = 0, 1, 2
    state = bytearray(len(parents))
    for root in range(len(parents)):
        if state[root] != new:
            continue
        state[root] = open_
        path, todo = [root], [iter(parents[root])]
        while path:
            for parent in todo[-1]:
                if state[parent] == new:
                    state[parent] = open_
                    path.append(parent)
                    todo.append(iter(parents[parent]))
                    break
                if state[parent] != done:
                    # From the path, which leads from children to parents
                    yield parent, path[path.index(parent) :][::-1]
            else:
                todo.pop()
                node = path.pop()
                state[node] = done
                yield node, None
