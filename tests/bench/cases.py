"""What is measured: the places, the shapes and the sizes of plans."""

import dataclasses
import fnmatch
from collections.abc import Iterable, Sequence

#: Places: the servers of a deployment, or everything in one process.
POSTGRESQL = 'postgresql'
SQLITE = 'sqlite'
PLACES = (POSTGRESQL, SQLITE)

#: Shapes: no action waits for another, or each for the one before it.
PARALLEL = 'parallel'
CHAIN = 'chain'

_QUICK = (1, 10, 100, 1000)
_SIZES = {PARALLEL: (*_QUICK, 10_000, 100_000), CHAIN: _QUICK}
_FULL = {PARALLEL: _SIZES[PARALLEL], CHAIN: (*_QUICK, 10_000)}
#: Small plans are over in a moment: of several, in the same process, the median.
_REPETITIONS = {1: 15, 10: 10, 100: 5, 1000: 2}
#: One of these takes as long as all rounds of the others.
_ONCE = 100_000


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """One row of the table: plans of one shape and size, executed in one place."""

    place: str
    shape: str
    size: int

    @property
    def name(self) -> str:
        """Return what `--only` selects it by."""
        return f'{self.place}/{self.shape}/{self.size}'

    @property
    def repetitions(self) -> int:
        """Return how many plans are executed one after the other in one process."""
        return _REPETITIONS.get(self.size, 1)

    def rounds(self, wanted: int) -> int:
        """Return in how many of the rounds it is measured."""
        return 1 if self.size >= _ONCE else wanted


def matrix(*, quick: bool = False, full: bool = False) -> list[Case]:
    """Return all cases, the small ones of each place and shape first.

    :param quick: nothing larger than 1000 actions
    :param full: the chain of 10000 too, which takes minutes
    """
    sizes = _FULL if full else _SIZES
    return [
        Case(place, shape, size)
        for place in PLACES
        for shape in (PARALLEL, CHAIN)
        for size in sizes[shape]
        if not quick or size in _QUICK
        # One action is the same plan in both shapes.
        if size > 1 or shape == PARALLEL
    ]


def chosen(cases: Iterable[Case], patterns: Sequence[str]) -> list[Case]:
    """Return the cases whose names match one of the patterns; all for none.

    :param patterns: as of a shell, matched against the whole name; one without
        wildcards and with fewer than three parts matches what begins with it
    """
    return [case for case in cases if not patterns or _matches(case, patterns)]


def _matches(case: Case, patterns: Sequence[str]) -> bool:
    return any(
        fnmatch.fnmatchcase(case.name, pattern)
        or case.name.startswith(f'{pattern.rstrip("/")}/')
        for pattern in patterns
    )
