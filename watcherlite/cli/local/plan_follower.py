"""A follower of one plan in the store."""

import collections
import datetime
import functools
import typing
from collections.abc import Callable, Iterator, Sequence

from watcherlite import exceptions
from watcherlite.cli.progress import MANY, RECENT, Counts, Outage, Progress, clock_time
from watcherlite.cli.state_changes import Change, change_of
from watcherlite.cli.wakeup import Wake
from watcherlite.db.action_logs import LogEntry
from watcherlite.db.api import Store
from watcherlite.domain import events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action
from watcherlite.domain.events import Event
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as states

#: Seconds between two polls of the store, for changes by other processes.
LOOK = 1.0
#: The same for a large plan.
COUNT = 0.25
#: Number of events read at a time.
PAGE = 1000
#: A time, and what shows it.
_Shown = tuple[datetime.datetime, Callable[[], None]]
#: The states of actions that have ended.
_ENDED = frozenset(action_states.INFRA_OPTIM[status] for status in action_states.FINAL)


class Follower:
    """Reads the events of a plan and shows the changes.

    :param details: show every change; None: unless the plan is large
    :param logs: also show the logs of actions, which needs details
    :param monotonic: seconds
    :param outage_timeout: seconds for which the store may be unavailable
    """

    def __init__(
        self,
        store: Store,
        plan: ActionPlan,
        progress: Progress,
        wake: Wake,
        monotonic: Callable[[], float],
        *,
        details: bool | None = None,
        logs: bool = False,
        outage_timeout: float = 30.0,
    ) -> None:
        self._store = store
        self._plan = plan
        self._progress = progress
        self._wake = wake
        self._details = plan.total <= MANY if details is None else details
        self._outage = Outage(
            'database', outage_timeout, progress.print_message, monotonic
        )
        self._sequence = 0
        self._recent: collections.deque[int] = collections.deque(maxlen=RECENT)
        self._logs = logs
        self._log_sequence = 0
        #: id -> name of the actions whose logs may grow
        self._logging: dict[int, str] = {}

    def listen(self, stored: Sequence[Event]) -> None:
        """Receive the events of a transaction of this process; fast and thread-safe."""
        if self._details or not stored:
            self._wake.now()
            return
        for event in stored[-RECENT:]:
            if event.action_id is not None:
                self._recent.append(event.action_id)
        if any(event.subject == events.ACTION_PLAN for event in stored):
            self._wake.now()

    def skip_earlier(self) -> None:
        """Skip earlier events: they are not shown as new."""
        if self._details:
            for changes in self._new_changes():
                for change in changes:
                    self._progress.record_known(change)

    def follow(self, each_time: Callable[[], None]) -> ActionPlan:
        """Show changes until the plan has ended; return the ended plan.

        :param each_time: called before each poll; may raise to stop
        :raises StoreUnavailable: the store was unavailable for too long
        """
        while True:
            each_time()
            plan = self._poll()
            if plan.state in states.ENDED:
                return plan
            self._wake.wait(LOOK if self._details else COUNT)

    def _poll(self) -> ActionPlan:
        try:
            # In this order: all events of an ended plan are stored.
            plan = self._store.get_plan(self._plan.uuid)
            if self._details:
                self._show_new()
            else:
                found = self._store.actions_by_id(list(self._recent))
                recent = [_last_change(action) for action in found.values()]
                self._progress.show_counts(_counts(plan), recent)
        except exceptions.StoreUnavailable as error:
            self._outage.tolerate(error)
            return self._plan
        self._outage.end()
        self._plan = plan
        return plan

    def _show_new(self) -> None:
        """Show the new changes and log entries, those of a page by time."""
        for changes in self._new_changes():
            shown: list[_Shown] = [
                (change.when, functools.partial(self._progress.changed, change))
                for change in changes
            ]
            if self._logs:
                shown += self._new_lines(changes)
                shown.sort(key=lambda item: item[0])
            for _, show in shown:
                show()

    def _new_changes(self) -> Iterator[list[Change]]:
        """Yield the changes of each page of new events, at least once."""
        more = True
        while more:
            page = self._store.list_events(
                plan_id=self._plan.id, after=self._sequence, limit=PAGE
            )
            if page:
                self._sequence = page[-1].sequence
            changes = map(change_of, page)
            yield [change for change in changes if change is not None]
            more = len(page) == PAGE

    def _new_lines(self, changes: Sequence[Change]) -> list[_Shown]:
        """Return the time and the output of each new line of a log.

        :param changes: the new ones; after its end, an action logs nothing more
        """
        ended = set()
        for change in changes:
            if isinstance(change.action_id, int):
                self._logging[change.action_id] = change.name
                if change.new in _ENDED:
                    ended.add(change.action_id)
        found: list[_Shown] = []
        while self._logging:
            page = self._store.list_log_entries(
                list(self._logging), self._log_sequence, limit=PAGE
            )
            for stored in page:
                self._log_sequence = stored.sequence
                entry = stored.entry
                name = self._logging[entry.action_id]
                found += [
                    (
                        entry.logged_at,
                        functools.partial(self._progress.print_message, line),
                    )
                    for line in _log_lines(name, entry)
                ]
            if len(page) < PAGE:
                break
        for action_id in ended:
            del self._logging[action_id]
        return found


def _log_lines(name: str, entry: LogEntry) -> list[str]:
    prefix = f'{clock_time(entry.logged_at)} {name} {entry.stream}'
    lines = entry.text.removesuffix('\n').split('\n')
    return [f'{prefix}: {line}' for line in lines]


def _counts(plan: ActionPlan) -> Counts:
    return Counts(
        state=plan.state,
        total=plan.total,
        unfinished=plan.unfinished,
        failed=plan.failed,
        skipped=plan.skipped,
        active=plan.active,
    )


def _last_change(action: Action) -> Change:
    return Change(
        # A stored action has the second one.
        when=typing.cast(datetime.datetime, action.updated_at or action.created_at),
        action_id=action.id,
        name=action.name or action.uuid,
        action_type=action.action_type,
        old=None,
        new=action.state,
        text=action.status_message or '',
    )
