"""How many actions a worker likes to have in hand."""

from watcherlite.execution.settings import ExecutionSettings

#: Seconds of work that a worker likes to have in hand.
IN_HAND = 0.05
#: Seconds that an action is taken to run before any has.
ASSUMED = 0.02


class Average:
    """The mean of recent values; the first ones count more than later ones.

    :ivar value: the mean

    :param assumed: what it is before the first value
    :param weight: how many values the assumption is worth
    :param memory: how many values the mean is about
    """

    __slots__ = ('_known', '_memory', 'value')

    def __init__(self, assumed: float, weight: int, memory: int) -> None:
        self.value = assumed
        self._known = weight
        self._memory = memory

    def add(self, value: float) -> None:
        """Take one more value into account."""
        self._known = min(self._known + 1, self._memory)
        self.value += (value - self.value) / self._known


class Window:
    """As many as there are threads, and more when actions are short.

    What is done in a moment is taken together, so that one transaction serves
    many; what takes long is left to other workers.
    """

    def __init__(self, settings: ExecutionSettings) -> None:
        self._settings = settings
        self._runs = Average(ASSUMED, weight=2, memory=16)

    @property
    def size(self) -> int:
        """Return how many actions to have in hand."""
        soon = int(IN_HAND / max(self._runs.value, 1e-6))
        return min(max(self._settings.max_parallel, soon), self._settings.claim_batch)

    def room(self, busy: int) -> int:
        """Return how many to claim now, beside so many that are in hand.

        None until there is room for a good many: claiming a few at a time would
        cost a statement for each few.
        """
        size = self.size
        least = 1 if size <= self._settings.max_parallel else size // 2
        return size - busy if size - busy >= least else 0

    def took(self, seconds: float) -> None:
        """Let one more execution tell how long they take."""
        self._runs.add(seconds)

    def stuck(self, seconds: float) -> None:
        """Note that all threads have been in executions for so long."""
        self._runs.value = max(self._runs.value, seconds)
