"""What became of actions, as a table for people."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from watcherlite.cli.progress import Seen
from watcherlite.cmd.exits import one_line

#: As many lines as decide how wide the columns are.
PAGE = 1000
COLUMNS = ('ACTION', 'TYPE', 'STATE', 'MESSAGE')

_COLOURS = {
    'ONGOING': '36',
    'SUCCEEDED': '32',
    'FAILED': '1;31',
    'CANCELLED': '33',
    'SKIPPED': '33',
}


def table(found: Iterable[Seen], colours: bool) -> Iterator[str]:
    """Return the lines; as wide as the first page asks for."""
    rows = (
        (
            one_line(action.name or action.uuid),
            action.action_type,
            action.state,
            one_line(action.status_message or ''),
        )
        for action in found
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
    """Return a text in the colour of a state, if there are colours."""
    if colours and state in _COLOURS:
        return f'\x1b[{_COLOURS[state]}m{text}\x1b[0m'
    return text
