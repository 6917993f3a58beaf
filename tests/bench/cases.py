"""The cases of the core benchmark: deployments, shapes and sizes of plans."""

import dataclasses
import fnmatch
from collections.abc import Iterable, Sequence

#: Places: the servers of a deployment, or everything in one process.
POSTGRESQL = 'postgresql'
SQLITE = 'sqlite'
DEPLOYMENTS = (POSTGRESQL, SQLITE)

#: Shapes: actions without dependencies, or each dependent on the one before it.
PARALLEL = 'parallel'
CHAIN = 'chain'

_QUICK = (1, 10, 100, 1000)
_SIZES = {PARALLEL: (*_QUICK, 10_000, 100_000), CHAIN: _QUICK}
_FULL = {PARALLEL: _SIZES[PARALLEL], CHAIN: (*_QUICK, 10_000)}
#: Small plans are repeated in one process, and their median is reported.
_REPETITIONS = {1: 15, 10: 10, 100: 5, 1000: 2}
#: Plans of this size are measured once, since one takes as long as all others.
_ONCE = 100_000


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """Plans of one shape and size, executed in one deployment: a row of the table."""

    deployment: str
    shape: str
    size: int

    @property
    def name(self) -> str:
        """Return the name that `--only` matches."""
        return f'{self.deployment}/{self.shape}/{self.size}'

    @property
    def repetitions(self) -> int:
        """Return the number of plans executed in sequence in one process."""
        return _REPETITIONS.get(self.size, 1)

    def rounds(self, desired: int) -> int:
        """Return the number of rounds in which the case is measured."""
        return 1 if self.size >= _ONCE else desired


def matrix(*, quick: bool = False, full: bool = False) -> list[Case]:
    """Return all cases, ordered by deployment, shape and size.

    :param quick: skip plans of more than 1000 actions
    :param full: add chains of 10000 actions, which take minutes
    """
    sizes = _FULL if full else _SIZES
    return [
        Case(deployment, shape, size)
        for deployment in DEPLOYMENTS
        for shape in (PARALLEL, CHAIN)
        for size in sizes[shape]
        if not quick or size in _QUICK
        # One action is the same plan in both shapes.
        if size > 1 or shape == PARALLEL
    ]


def chosen(cases: Iterable[Case], patterns: Sequence[str]) -> list[Case]:
    """Return the cases whose names match a pattern; all cases without patterns.

    :param patterns: shell patterns of whole names, or prefixes of one or two parts
    """
    return [case for case in cases if not patterns or _matches(case, patterns)]


def _matches(case: Case, patterns: Sequence[str]) -> bool:
    return any(
        fnmatch.fnmatchcase(case.name, pattern)
        or case.name.startswith(f'{pattern.rstrip("/")}/')
        for pattern in patterns
    )
