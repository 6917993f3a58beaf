"""Progress on a terminal: the actions of a plan as the tree that they are."""

from collections.abc import Iterable, Mapping, Sequence

from watcherlite.cli.changes import Change
from watcherlite.cli.live import LiveProgress
from watcherlite.cli.output import Output


class LiveTree(LiveProgress):
    """Shows each action below the one that it waits for.

    An action that waits for several is below the last of them.

    :param parents: uuid -> the uuids of what it waits for, in the order of the plan
    """

    def __init__(
        self, out: Output, title: str, parents: Mapping[str, Sequence[str]]
    ) -> None:
        self._branches = branches(parents)
        super().__init__(out, title)

    def _lines(self) -> Iterable[tuple[str, Change]]:
        rows = self._rows
        known = [
            (branch, rows[uuid])
            for uuid, branch in self._branches.items()
            if uuid in rows
        ]
        # What was derived while the plan ran
        return known + [
            ('', change) for key, change in rows.items() if key not in self._branches
        ]


def branches(parents: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return what stands before each node of a tree, in the order of its lines.

    :param parents: see LiveTree; one that is not a key is passed over
    """
    place = {node: index for index, node in enumerate(parents)}
    children: dict[str | None, list[str]] = {None: []}
    for node, above in parents.items():
        known = [parent for parent in above if parent in place]
        parent = max(known, key=lambda name: place[name], default=None)
        children.setdefault(parent, []).append(node)
    found: dict[str, str] = {}
    # A stack and no recursion: a chain may be longer than that goes
    waiting = [(node, '', '') for node in reversed(children[None])]
    while waiting:
        node, branch, below = waiting.pop()
        found[node] = branch
        under = children.get(node, [])
        for child in reversed(under):
            last = child == under[-1]
            waiting.append(
                (
                    child,
                    below + ('└─ ' if last else '├─ '),
                    below + ('   ' if last else '│  '),
                )
            )
    return found
