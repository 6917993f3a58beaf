"""A table of actions and their states."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from watcherlite.cli.output import Output
from watcherlite.cmd.exits import one_line
from watcherlite.domain.actions import CANCELLED_UNSTARTED, STOPPED_UNSTARTED

#: Number of rows that determine the widths of the columns.
PAGE = 1000
COLUMNS = ('ACTION', 'TYPE', 'STATE', 'MESSAGE')

_UNSTARTED = (CANCELLED_UNSTARTED, STOPPED_UNSTARTED)
_COLOURS = {
    'ONGOING': '36',
    'SUCCEEDED': '32',
    'FAILED': '1;31',
    'CANCELLED': '33',
    'SKIPPED': '33',
}


class SeenAction(Protocol):
    """An action in the table."""

    @property
    def uuid(self) -> str: ...

    @property
    def name(self) -> str | None: ...

    @property
    def action_type(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def status_message(self) -> str | None: ...


class StartedActions:
    """An iterator over all actions except those cancelled before their start.

    A large cancelled plan has thousands of them.

    :ivar omitted: their number, after the iteration
    """

    def __init__(self, actions: Iterable[SeenAction]) -> None:
        self._actions = actions
        self.omitted = 0

    def __iter__(self) -> Iterator[SeenAction]:
        for action in self._actions:
            if action.status_message in _UNSTARTED:
                self.omitted += 1
            else:
                yield action

    def line(self) -> str | None:
        """Return a line with the number of omitted actions, if there are any."""
        if not self.omitted:
            return None
        if self.omitted == 1:
            return '1 action was not started and is CANCELLED'
        return f'{self.omitted} actions were not started and are CANCELLED'


def print_actions(actions: Iterable[SeenAction], every: bool, out: Output) -> None:
    """Print the table of actions.

    :param every: include those cancelled before their start; otherwise they are counted
    """
    started = StartedActions(actions)
    for line in table(actions if every else started, out.has_colours):
        out.line(line)
    omitted = started.line()
    if omitted is not None:
        out.line(omitted)


def table(actions: Iterable[SeenAction], colours: bool) -> Iterator[str]:
    """Yield the lines; the first rows determine the widths of the columns."""
    rows = (
        (
            one_line(action.name or action.uuid),
            action.action_type,
            action.state,
            one_line(action.status_message or ''),
        )
        for action in actions
    )
    first = list(itertools.islice(rows, PAGE))
    if not first:
        return
    widths = [max(len(row[i]) for row in [COLUMNS, *first]) for i in range(3)]
    yield _line(COLUMNS, widths, False)
    for row in first:
        yield _line(row, widths, colours)
    for row in rows:
        yield _line(row, widths, colours)


def _line(row: Sequence[str], widths: Sequence[int], colours: bool) -> str:
    cells = [f'{text:<{width}}' for text, width in zip(row, widths, strict=False)]
    cells[2] = coloured(cells[2], row[2], colours)
    return '  '.join([*cells, row[3]]).rstrip()


def coloured(text: str, state: str, colours: bool) -> str:
    """Return a text in the colour of a state, if the terminal has colours."""
    if colours and state in _COLOURS:
        return f'\x1b[{_COLOURS[state]}m{text}\x1b[0m'
    return text
