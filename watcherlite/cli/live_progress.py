"""Progress on a terminal: a tree that changes in place."""

import collections
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self, TypeVar

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from watcherlite.cli.output import Output
from watcherlite.cli.progress import Counts, clock_time, counts
from watcherlite.cli.state_changes import Change
from watcherlite.cmd.exits import one_line

#: Key of an action: its id in the store, or its uuid.
Key = TypeVar('Key', int, str)
#: The styles of states, also of the summary.
STYLES = {
    'ONGOING': 'cyan',
    'SUCCEEDED': 'green',
    'FAILED': 'bold red',
    'CANCELLED': 'yellow',
    'SKIPPED': 'yellow',
}
#: Number of recent notes that are shown.
NOTES = 3
_PER_SECOND = 8


class LiveTree:
    """A tree of all actions of a small plan, or counts for a large one.

    Each action is below its parent, one with several parents below the last of them.
    The summary replaces the tree at the end.

    :param parents: key -> the keys of the parents, in the order of the plan
    """

    def __init__(
        self, out: Output, title: str, parents: Mapping[Key, Sequence[Key]]
    ) -> None:
        self._branches: Mapping[Any, str] = branches(parents)
        self._title = one_line(title)
        self._console = Console(file=out.stream, highlight=False)
        self._rows: dict[int | str, Change] = {}
        self._counted: tuple[Counts, Sequence[Change]] | None = None
        self._notes: collections.deque[str] = collections.deque(maxlen=NOTES)
        self._state = ''
        self._spinner = Spinner('dots', style=STYLES['ONGOING'])
        # Read by the drawing thread of rich.
        self._lock = threading.Lock()
        self._live = Live(
            console=self._console,
            get_renderable=self.__rich__,
            refresh_per_second=_PER_SECOND,
            transient=True,
            vertical_overflow='ellipsis',
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()
        for note in self._notes:
            self._console.print(Text(note), soft_wrap=True)

    def print_message(self, text: str) -> None:
        with self._lock:
            self._notes.append(one_line(text))

    def record_known(self, change: Change) -> None:
        self.changed(change)

    def changed(self, change: Change) -> None:
        with self._lock:
            if change.action_id is None:
                self._state = change.new
            else:
                self._rows[change.action_id] = change

    def show_counts(self, plan: Counts, recent: Sequence[Change]) -> None:
        with self._lock:
            self._counted = (plan, recent)

    def __rich__(self) -> RenderableType:
        """Return the current tree or counts."""
        with self._lock:
            notes = [Text(note) for note in self._notes]
            if self._counted is not None:
                return Group(*_counters(self._title, *self._counted), *notes)
            title = Text.assemble(self._title, ' ', (self._state, 'bold'))
            return Group(title, self._table(), *notes)

    def _lines(self) -> Iterable[tuple[str, Change]]:
        """Return the prefix of the name of each action, and its last change."""
        rows = self._rows
        known = [
            (branch, rows[uuid])
            for uuid, branch in self._branches.items()
            if uuid in rows
        ]
        # Actions derived during the execution.
        return known + [
            ('', change) for key, change in rows.items() if key not in self._branches
        ]

    def _table(self) -> Table:
        table = _grid()
        for branch, change in self._lines():
            ongoing = change.new == 'ONGOING'
            mark = self._spinner if ongoing else Text(' ')
            _add_row(table, mark, branch, change, change.old is not None)
        return table


def _counters(
    title: str, plan: Counts, recent: Sequence[Change]
) -> list[RenderableType]:
    table = _grid()
    for change in recent:
        _add_row(table, Text(' '), '', change, True)
    ended = plan.total - plan.unfinished
    bar = Table.grid(expand=True)
    bar.add_row(ProgressBar(total=max(plan.total, 1), completed=ended))
    return [Text(f'{title} {counts(plan)}'), bar, table]


def _add_row(
    table: Table, mark: RenderableType, branch: str, change: Change, timed: bool
) -> None:
    table.add_row(
        mark,
        Text.assemble((branch, 'dim'), one_line(change.name)),
        Text(change.action_type or '', style='dim'),
        Text(change.new, style=STYLES.get(change.new, 'dim')),
        Text(clock_time(change.when) if timed else '', style='dim'),
        Text(one_line(change.text)),
    )


def _grid() -> Table:
    table = Table.grid(padding=(0, 1))
    for _ in range(5):
        table.add_column(no_wrap=True)
    table.add_column(overflow='fold')
    return table


def branches(parents: Mapping[Key, Sequence[Key]]) -> dict[Key, str]:
    """Return the prefixes of the nodes of a tree, in the order of its lines.

    :param parents: see LiveTree; unknown keys are ignored
    """
    place = {node: index for index, node in enumerate(parents)}
    children: dict[Key | None, list[Key]] = {None: []}
    for node, above in parents.items():
        known = [parent for parent in above if parent in place]
        parent = max(known, key=lambda name: place[name], default=None)
        children.setdefault(parent, []).append(node)
    found: dict[Key, str] = {}
    # Iterative: a chain may exceed the recursion limit.
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
