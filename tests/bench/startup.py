"""The time of `watcherlite --help`."""

import dataclasses
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

_TIMEOUT = 60.0
#: Installed beside the interpreter.
_COMMAND = pathlib.Path(sys.executable).with_name('watcherlite')


@dataclasses.dataclass(frozen=True, slots=True)
class Starts:
    """Alternating measurements in seconds.

    :param bases: times of `python -c pass`
    """

    commands: Sequence[float]
    bases: Sequence[float]

    @property
    def command(self) -> float:
        """Return the median of the command."""
        return statistics.median(self.commands)

    @property
    def base(self) -> float:
        """Return the median of the interpreter alone."""
        return statistics.median(self.bases)


def measure(rounds: int) -> Starts:
    """Start both `rounds` times, after a warm-up."""
    help_ = [str(_COMMAND), '--help']
    bare = [sys.executable, '-c', 'pass']
    taken = [(_seconds(help_), _seconds(bare)) for _ in range(rounds + 1)]
    commands, bases = zip(*taken[1:], strict=True)
    return Starts(commands, bases)


def _seconds(command: Sequence[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, timeout=_TIMEOUT)
    return time.perf_counter() - begun
