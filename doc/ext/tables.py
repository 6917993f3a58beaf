"""The tables of a state machine and of the views of its states, as lines of RST."""

from collections.abc import Iterable, Mapping, Sequence

from watcherlite.states.machine import Machine


def states(machine: Machine) -> list[str]:
    """Return the table of states: each with its meaning."""
    rows = []
    for state, meaning in machine.states.items():
        notes = []
        if state in machine.initial:
            notes.append('initial')
        if state in machine.final:
            notes.append('final')
        note = f' *({", ".join(notes)})*' if notes else ''
        rows.append((f'``{state}``', f'{meaning}{note}'))
    return list_table(('State', 'Meaning'), (20, 80), rows)


def transitions(machine: Machine) -> list[str]:
    """Return the table of transitions: each with its number and its reason."""
    rows = [
        (str(number), f'``{source}``', f'``{target}``', why)
        for number, ((source, target), why) in enumerate(machine.transitions.items(), 1)
    ]
    return list_table(('No.', 'From', 'To', 'Why'), (6, 17, 17, 60), rows)


def views(machine: Machine, shown: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the table of the names of states in the APIs.

    :param shown: heading -> state -> its name there
    """
    rows = [
        (f'``{state}``', *(f'``{names[state]}``' for names in shown.values()))
        for state in machine.states
    ]
    width = 100 // (len(shown) + 1)
    return list_table(('Status', *shown), (width,) * (len(shown) + 1), rows)


def list_table(
    heads: Sequence[str], widths: Sequence[int], rows: Iterable[Sequence[str]]
) -> list[str]:
    """Return the lines of a `list-table`."""
    lines = [
        '.. list-table::',
        '   :header-rows: 1',
        f'   :widths: {" ".join(str(width) for width in widths)}',
        '',
    ]
    for row in [heads, *rows]:
        first, *rest = row
        lines += [f'   * - {first}', *(f'     - {cell}' for cell in rest)]
    return [*lines, '']
