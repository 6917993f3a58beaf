"""Optional counters and sampler of the current process."""

from typing import Any, cast

from tests.bench.query_counters import Counters, CountingBus
from tests.bench.sampler import Sampler
from watcherlite import bootstrap
from watcherlite.messaging.bus import Bus


class Instrumentation:
    """The counters and the sampler of a process; either may be disabled."""

    def __init__(self, *, count: bool, sample: bool) -> None:
        self._counters = Counters() if count else None
        self._sampler = Sampler() if sample else None
        if self._counters is not None:
            self._counters.attach()
        if self._sampler is not None:
            self._sampler.start()

    def install(self, runtime: bootstrap.Runtime) -> None:
        """Count the messages of a runtime; call before it is started."""
        if self._counters is not None:
            runtime.bus = cast(Bus, CountingBus(runtime.bus, self._counters))

    def take(self) -> dict[str, Any]:
        """Return what was recorded since the last call.

        :returns: `counts` and `texts`, see `Counters.take`; `profile`, see
            `Sampler.take`
        """
        seen: dict[str, Any] = {}
        if self._counters is not None:
            seen.update(self._counters.take())
        if self._sampler is not None:
            seen['profile'] = self._sampler.take()
        return seen
