"""The report of the samples of a `Sampler`: time by thread and function."""

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

#: Number of functions in one table.
_TOP = 20
#: Smallest share of a function in the time of its thread, in percent.
_LEAST = 1.0
#: Smallest share of a thread that has its own table in the CPU time, in percent.
_SMALL = 2.0
#: Largest share of a function, in percent; functions above are the main loop.
_FRAME = 99.9
_FRAMES = 'threading:Thread.'
_OURS = 'watcherlite.'
#: The clock is the caller of all waits, and says nothing about their reason.
_CLOCK = 'watcherlite.clock:'

_Counter = collections.Counter[str]


@dataclasses.dataclass(slots=True)
class Thread:
    """One thread, or all of a pool.

    :param cpu: ms on a CPU
    :param queued: ms in a run queue
    :param looks: how many there were
    :param own: function -> looks at which the thread was at work in it, or in what
        is written in C and called by it
    :param total: the same, in it or in what it called
    :param waits: function -> samples in which the thread waited in it
    """

    name: str
    cpu: float = 0.0
    queued: float = 0.0
    looks: int = 0
    own: _Counter = dataclasses.field(default_factory=collections.Counter)
    total: _Counter = dataclasses.field(default_factory=collections.Counter)
    waits: _Counter = dataclasses.field(default_factory=collections.Counter)

    @property
    def at_work(self) -> int:
        """Return the number of samples in which the thread was working."""
        return sum(self.own.values())


def threads(profile: Mapping[str, Any]) -> list[Thread]:
    """Return the threads, the busiest first.

    :param profile: see `Sampler.take`
    """
    found: dict[str, Thread] = {}
    for spent in profile['threads']:
        name = spent['thread']
        thread = found.setdefault(name, Thread(name))
        thread.cpu += spent['cpu']
        thread.queued += spent['queued']
    for seen in profile['stacks']:
        thread = found[seen['thread']]
        stack, looks = seen['stack'], seen['looks']
        thread.looks += looks
        if not seen['at_work']:
            thread.waits[_within(stack)] += looks
            continue
        thread.own[stack[0]] += looks
        # Count a recursive function once.
        for label in set(stack):
            if not label.startswith(_FRAMES):
                thread.total[label] += looks
    return sorted(found.values(), key=lambda thread: -thread.cpu)


def report(profile: Mapping[str, Any], actions: int) -> str:
    """Return the tables of all active threads.

    :param profile: see `Sampler.take`
    """
    seconds = profile['seconds']
    found = threads(profile)
    used = sum(thread.cpu for thread in found)
    lines = [
        f'{actions} actions in {seconds:.2f} s: {used:.0f} ms on a CPU, '
        f'{used / actions:.3f} ms per action, {used / seconds / 10:.0f} % of one CPU'
    ]
    small = [thread for thread in found if 100 * thread.cpu < _SMALL * used]
    for thread in found:
        if thread not in small:
            lines += ['', *_section(thread, actions, seconds, used)]
    names = ', '.join(f'{thread.name} {thread.cpu:.0f} ms' for thread in small)
    return '\n'.join([*lines, '', f'Others: {names}'])


def _section(thread: Thread, actions: int, seconds: float, used: float) -> list[str]:
    lines = [
        f'{thread.name}: {thread.cpu:.0f} ms, {100 * thread.cpu / used:.0f} % of all, '
        f'{1000 * thread.cpu / actions:.0f} us per action; on a CPU for '
        f'{thread.cpu / seconds / 10:.0f} % of the time, in the queue for one '
        f'{thread.queued / seconds / 10:.0f} %'
    ]
    each = 1000 * thread.cpu / actions

    lines += _table('on a CPU in', thread.own, thread.at_work, each)
    lines += _table('with what it calls', thread.total, thread.at_work, each)
    lines += _table('waited in', thread.waits, thread.looks, None)
    return lines


def _table(title: str, looks: _Counter, whole: int, each: float | None) -> list[str]:
    """Return a table of functions.

    :param whole: number of samples that are 100 %
    :param each: us per action of 100 %; None: no such column
    """
    lines = [f'  {"" if each is None else "us/action":>9}      %  {title}']
    for name, count in looks.most_common():
        share = count / whole
        if 100 * share < _LEAST or len(lines) > _TOP:
            break
        if 100 * share < _FRAME:
            figure = ' ' * 9 if each is None else f'{each * share:9.1f}'
            lines.append(f'  {figure}  {100 * share:5.1f}  {name}')
    return lines if len(lines) > 1 else []


def _within(stack: Sequence[str]) -> str:
    """Return the innermost function with its innermost caller in watcherlite."""
    ours = next(
        (
            label
            for label in stack
            if label.startswith(_OURS) and not label.startswith(_CLOCK)
        ),
        stack[0],
    )
    return stack[0] if ours == stack[0] else f'{stack[0]} < {ours}'
