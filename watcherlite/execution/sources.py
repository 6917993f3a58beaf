"""Where a worker takes its actions from.

A hint, a release or a timer says that a source may have actions; a claim that
finds less than it asked for says that it has none. Both come from different
threads, and a hint that arrives while a claim is on its way must outlive it.
"""

import dataclasses
from collections.abc import Iterator, Sequence

from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.receipts import Receipt
from watcherlite.execution.group import Claimed

#: The first of several claims takes no more than this, so that what it takes has
#: started before the next one, which takes so many times as many, is written.
FIRST = 32
GROWTH = 4


@dataclasses.dataclass(slots=True)
class Source:
    """A plan, or a lane's actions without a plan.

    :ivar more: it may have actions that can be taken
    :ivar hinted: somebody said so since the last claim was made out
    :ivar limited: its `max_parallel` stands in the way until one of it ends
    :ivar most: how many its next claim takes at most
    :ivar receipts: of the commands that said so
    :ivar claiming: those whose claim is being written
    """

    plan_id: int | None
    plan_uuid: str | None
    lane: str | None
    more: bool = True
    hinted: bool = True
    limited: bool = False
    most: int = FIRST
    receipts: list[Receipt] = dataclasses.field(default_factory=list)
    claiming: list[Receipt] = dataclasses.field(default_factory=list)

    def hint(self, receipt: Receipt | None = None) -> None:
        """Note that somebody says that there is something here."""
        self.more = self.hinted = True
        if receipt is not None:
            self.receipts.append(receipt)

    def claim(self) -> None:
        """Note that what was said until now is looked into."""
        self.hinted = False
        for receipt in self.receipts:
            receipt.claiming = True
        self.claiming += self.receipts
        self.receipts = []

    def settle(self) -> None:
        """Note that what was looked into is written."""
        claimed, self.claiming = self.claiming, []
        for receipt in claimed:
            receipt.settle_part()


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """A wish; see `group.Wish`."""

    plan_id: int | None
    lane: str | None
    limit: int


class Sources:
    """All sources of one worker; who calls a method holds its lock.

    :param lanes: the lanes that it serves
    """

    def __init__(self, lanes: Sequence[str]) -> None:
        #: plans by their ids and lanes by their names, whose turn is next first
        self._sources: dict[int | str, Source] = {
            lane: Source(None, None, lane) for lane in lanes
        }

    def __iter__(self) -> Iterator[Source]:
        return iter(self._sources.values())

    def serves(self, lane: str) -> bool:
        """Say whether a lane is one of this worker's."""
        return lane in self._sources

    def hint_plan(
        self, plan_id: int, plan_uuid: str, receipt: Receipt | None = None
    ) -> None:
        """Note that a plan may have actions that can be taken."""
        source = self._sources.get(plan_id)
        if source is None:
            source = self._sources[plan_id] = Source(plan_id, plan_uuid, None)
        source.hint(receipt)

    def hint_lane(self, lane: str, receipt: Receipt | None = None) -> None:
        """Note that a lane may have actions without a plan that can be taken."""
        self._sources[lane].hint(receipt)

    def hint_all(self) -> None:
        """Note that every source may have something."""
        for source in self:
            source.hint()

    def of(self, plan_id: int | None, lane: str | None) -> Source | None:
        """Return the source that such an action would come from, if it is ours."""
        return self._sources.get(plan_id if plan_id is not None else lane or '')

    def any_more(self) -> bool:
        """Say whether there may be something anywhere."""
        return any(source.more for source in self)

    def wishes(self, room: int) -> list[Wanted]:
        """Share the room out among the sources that may have something."""
        sources = [source for source in self if source.more]
        share = max(1, room // len(sources)) if sources else 0
        wanted = []
        for at, source in enumerate(sources):
            limit = room if at + 1 == len(sources) else min(share, room)
            if limit <= 0:
                break
            limit = min(limit, source.most)
            room -= limit
            source.claim()
            wanted.append(Wanted(source.plan_id, source.lane, limit))
        # The next time those come first that came away empty; if none did, another
        # one, because the last one gets what is left over.
        served = len(wanted) if len(wanted) < len(sources) else 1
        for source in sources[:served]:
            key = source.plan_id if source.plan_id is not None else source.lane or ''
            self._sources[key] = self._sources.pop(key)
        return wanted

    def claimed(self, claimed: Claimed) -> Source | None:
        """Note what became of a wish."""
        source = self.of(claimed.wish.plan_id, claimed.wish.lane)
        if source is not None:
            source.settle()
            source.limited = claimed.limited
            source.more = source.hinted or (claimed.more and not claimed.limited)
            source.most = source.most * GROWTH if claimed.more else FIRST
        return source

    def counted(self, plan: ActionPlan) -> None:
        """Note how a plan is after a transaction."""
        source = self._sources.get(plan.id or 0)
        if source is None:
            return
        if not plan.claimable:
            source.claim()
            source.settle()
            del self._sources[plan.id or 0]
        elif source.limited and (
            plan.max_parallel is None or plan.active < plan.max_parallel
        ):
            source.limited, source.more = False, True
