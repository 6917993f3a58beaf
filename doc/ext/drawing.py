"""Draw a state machine as SVG, from its table and nothing else.

The states are drawn below each other in the order of the table, which is the usual
sequence. A transition to a later state is drawn at the right side, one to an earlier
state at the left, each in a lane of its own, so that no line crosses a state. Lines
have the numbers of the rows in the table of transitions.
"""

import dataclasses
from collections.abc import Iterable
from xml.sax import saxutils

from watcherlite.states.machine import Machine

_WIDTH = 160  # of a state: UNLOCK_IN_PROGRESS fits
_GAP = 26  # between two states
_PORT = 15  # between the ends of two lines at a state
_LANE = 17  # between two lines
_MARGIN = 12

_STYLE = """
.state-machine { max-width: 100%; height: auto; }
.state-machine .box { fill: none; stroke: currentColor; stroke-width: 1.4; }
.state-machine text { fill: currentColor; font: 9px sans-serif; }
.state-machine .name { font: 600 12px sans-serif; text-anchor: middle; }
.state-machine .line { fill: none; stroke: currentColor; opacity: 0.6; }
.state-machine .head { fill: currentColor; }
.state-machine g:hover > .line { stroke-width: 3; opacity: 1; }
.state-machine g:hover > .number { font-weight: 700; }
"""


@dataclasses.dataclass(slots=True)
class Line:
    """One transition: where it begins and ends, and in which lane it runs."""

    number: int
    source: str
    target: str
    why: str
    right: bool
    first: int  # the higher of the two states, counted from above
    last: int
    lane: int = 0
    begin: float = 0.0
    end: float = 0.0


def svg(machine: Machine) -> str:
    """Return the drawing as an `<svg>` element that stands by itself."""
    states = list(machine.states)
    lines = _lines(machine, states)
    for side in (True, False):
        _give_lanes([line for line in lines if line.right is side])
    heights = [_height(lines, state) for state in states]
    tops = _tops(heights)
    for top, height, state in zip(tops, heights, states, strict=True):
        _give_ports(lines, state, top, height)
    left = _MARGIN + _room(lines, right=False)
    width = left + _WIDTH + _room(lines, right=True) + _MARGIN
    height = tops[-1] + heights[-1] + _MARGIN
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" class="state-machine" '
        f'width="{width}" height="{height:g}" viewBox="0 0 {width} {height:g}">',
        f'<title>States of {_text(machine.name)}</title>',
        f'<style>{_STYLE}</style>',
    ]
    parts += [
        _state(machine, *box, left) for box in zip(states, tops, heights, strict=True)
    ]
    parts += [_line(line, left) for line in lines]
    return '\n'.join([*parts, '</svg>'])


def _lines(machine: Machine, states: list[str]) -> list[Line]:
    lines = []
    for number, ((source, target), why) in enumerate(machine.transitions.items(), 1):
        begin, end = states.index(source), states.index(target)
        first, last = min(begin, end), max(begin, end)
        lines.append(Line(number, source, target, why, begin <= end, first, last))
    return lines


def _give_lanes(lines: Iterable[Line]) -> None:
    """Put the short lines near the states; lines that meet are in two lanes."""
    placed: list[Line] = []
    for line in sorted(lines, key=lambda n: (n.last - n.first, n.first, n.number)):
        taken = {
            other.lane
            for other in placed
            if other.first <= line.last and line.first <= other.last
        }
        line.lane = min(set(range(len(taken) + 1)) - taken)
        placed.append(line)


def _room(lines: list[Line], right: bool) -> int:
    """Return the width of one side."""
    lanes = {line.lane for line in lines if line.right is right}
    return _LANE * (2 + max(lanes)) if lanes else 0


def _ends(lines: list[Line], state: str, right: bool) -> list[Line]:
    """Return the lines that end at one side of a state, from above.

    In this order lines cross each other least: those that come from above with the
    inner lanes first, those that go below with the outer lanes first.
    """
    mine = [n for n in lines if n.right is right and state in (n.source, n.target)]
    from_above = [n for n in mine if (n.target if right else n.source) == state]
    below = [n for n in mine if (n.source if right else n.target) == state]
    return [
        *sorted(from_above, key=lambda n: n.lane),
        *sorted(below, key=lambda n: -n.lane),
    ]


def _height(lines: list[Line], state: str) -> float:
    most = max(len(_ends(lines, state, True)), len(_ends(lines, state, False)), 2)
    return most * _PORT


def _tops(heights: list[float]) -> list[float]:
    tops, top = [], float(_MARGIN)
    for height in heights:
        tops.append(top)
        top += height + _GAP
    return tops


def _give_ports(lines: list[Line], state: str, top: float, height: float) -> None:
    for right in (True, False):
        ends = _ends(lines, state, right)
        for index, line in enumerate(ends):
            y = top + (index + 0.5) * height / len(ends)
            if line.source == state:
                line.begin = y
            else:
                line.end = y


def _state(machine: Machine, state: str, top: float, height: float, left: int) -> str:
    parts = [f'<g><title>{_text(machine.states[state])}</title>']
    parts.append(_box(left, top, _WIDTH, height))
    if state in machine.final:
        parts.append(_box(left + 3, top + 3, _WIDTH - 6, height - 6))
    x, y = left + _WIDTH / 2, top + height / 2 + 4
    if state in machine.initial:
        parts.append(f'<circle class="head" cx="{left + 10}" cy="{top + 10:g}" r="4"/>')
    parts.append(f'<text class="name" x="{x:g}" y="{y:g}">{_text(state)}</text></g>')
    return ''.join(parts)


def _box(x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="box" x="{x:g}" y="{y:g}" width="{width:g}" '
        f'height="{height:g}" rx="6"/>'
    )


def _line(line: Line, left: int) -> str:
    out = 1 if line.right else -1
    edge = left + _WIDTH if line.right else left
    lane = edge + out * _LANE * (line.lane + 1.5)
    turn = 5 if line.end > line.begin else -5
    path = (
        f'M{edge:g},{line.begin:g} H{lane - out * 5:g} '
        f'q{out * 5},0 {out * 5},{turn} V{line.end - turn:g} '
        f'q0,{turn} {-out * 5},{turn} H{edge + out * 6:g}'
    )
    head = f'M{edge:g},{line.end:g} l{out * 7},-3.5 v7 z'
    title = f'{line.number}. {line.source} to {line.target}: {line.why}'
    anchor = 'start' if line.right else 'end'
    number = (
        f'<text class="number" text-anchor="{anchor}" x="{edge + out * 8:g}" '
        f'y="{{}}">{line.number}</text>'
    )
    return (
        f'<g><title>{_text(title)}</title><path class="line" d="{path}"/>'
        f'<path class="head" d="{head}"/>{number.format(f"{line.begin - 2:g}")}'
        f'{number.format(f"{line.end - 4:g}")}</g>'
    )


def _text(text: str) -> str:
    return saxutils.escape(text)
