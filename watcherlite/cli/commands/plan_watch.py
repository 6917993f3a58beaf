"""`watcherlite actionplan watch`."""

import argparse
import collections
import dataclasses
import datetime
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from watcherlite.cli import action_table, wakeup
from watcherlite.cli.command import flag
from watcherlite.cli.commands import base
from watcherlite.cli.commands.event_feed import Event, Feed
from watcherlite.cli.formatting import action_count, capitalized, plan_label
from watcherlite.cli.output import Output
from watcherlite.cli.progress import MANY, RECENT, Counts, PlainProgress, Progress
from watcherlite.cli.state_changes import Change, change_of_shown
from watcherlite.cmd import exits
from watcherlite.cmd.exits import one_line
from watcherlite.domain import events
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as states

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

EPILOG = """\
Exit codes: 0 the plan SUCCEEDED; 1 it did not; 2 the command line is invalid, or the
plan does not exist; 3 the API is unavailable; 130 Ctrl-C: the plan continues.
"""
#: Number of rows requested at a time.
PAGE = 1000
#: The states of actions, in the order of their counts.
_WORDS = tuple(dict.fromkeys(action_states.INFRA_OPTIM.values()))
_NOT_SUCCEEDED = ('FAILED', 'CANCELLED', 'SKIPPED')
_ENDED = ('SUCCEEDED', *_NOT_SUCCEEDED)


@dataclasses.dataclass(frozen=True, slots=True)
class ActionRow:
    """An action for the table of the result."""

    uuid: str
    name: str | None
    action_type: str
    state: str
    status_message: str | None


class Tally:
    """The progress of a plan by received events."""

    def __init__(self, state: str) -> None:
        self.state = state
        self._states: dict[str, str] = {}
        self._counts = dict.fromkeys(_WORDS, 0)

    def count_action(self, uuid: str, state: str) -> None:
        """Count an action, or its changed state."""
        before = self._states.get(uuid)
        if before is not None:
            self._counts[before] -= 1
        self._states[uuid] = state
        self._counts[state] = self._counts.get(state, 0) + 1

    def apply_event(self, event: Event) -> None:
        """Count the change of an event."""
        new = event['new_state']
        if event['subject'] == events.ACTION_PLAN:
            self.state = new or self.state
        elif event['action_uuid'] and new:
            self.count_action(event['action_uuid'], new)

    def counts(self) -> Counts:
        """Return the present numbers."""
        return Counts(
            state=self.state,
            total=len(self._states),
            unfinished=len(self._states) - sum(self._counts[s] for s in _ENDED),
            failed=self._counts['FAILED'],
            skipped=self._counts['SKIPPED'],
            active=self._counts['ONGOING'],
        )

    def format_counts(self) -> str:
        """Return the number of actions per state."""
        found = [f'{n} {state}' for state, n in self._counts.items() if n]
        return ', '.join(found) or '0 actions'


class Watch:
    """Follows a plan: shows each change of a small plan, and counts of a large one.

    :param verbose: show each change and action of a large plan as well
    :param wait: sleeps for some seconds
    :param monotonic: seconds
    """

    def __init__(
        self,
        client: 'Client',
        uuid: str,
        out: Output,
        err: Output,
        *,
        verbose: bool = False,
        wait: Callable[[float], object] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._uuid = uuid
        self._out = out
        self._err = err
        self._verbose = verbose
        self._wait = wait
        self._monotonic = monotonic
        self._recent: collections.deque[Change] = collections.deque(maxlen=RECENT)

    def run(self) -> int:
        """Follow the plan to its end; return the exit code."""
        plan = self._client.get('action_plans', self._uuid)
        query = {'action_plan_uuid': self._uuid}
        actions, _ = self._client.list('actions', 'detail', query=query, limit=MANY + 1)
        large = len(actions) > MANY
        tally = Tally(plan['state'])
        for row in self._all_actions() if large else actions:
            tally.count_action(row['uuid'], row['state'])
        name = plan_label(plan['uuid'], plan.get('name'))
        self._out.line(f'{capitalized(name)}: {action_count(tally.counts().total)}')
        if plan['state'] == states.RECOMMENDED:
            self._out.line('To start it: watcherlite actionplan start ' + plan['uuid'])
        details = self._verbose or not large
        with self._progress(name, actions, details) as progress:
            feed = Feed(
                self._client,
                ('action_plans', self._uuid, 'events'),
                self._has_ended,
                note=progress.print_message,
                wait=self._wait,
                monotonic=self._monotonic,
            )
            for event in feed:
                tally.apply_event(event)
                self._show(progress, tally, event, details)
        return self._finish(tally, every=details)

    def _has_ended(self) -> bool:
        plan = self._client.get('action_plans', self._uuid)
        return plan['state'] in states.ENDED

    def _all_actions(self) -> Iterator[Mapping[str, Any]]:
        query = {'action_plan_uuid': self._uuid, 'limit': PAGE}
        for rows, _ in self._client.pages('actions', query=query):
            yield from rows

    def _progress(
        self, name: str, actions: Iterable[Mapping[str, Any]], details: bool
    ) -> Progress:
        if not self._out.is_terminal:
            return PlainProgress(self._out, self._monotonic)
        # rich takes a while to load, and only terminals need it
        from watcherlite.cli import live_progress

        parents = {row['uuid']: row['parents'] for row in actions} if details else {}
        tree = live_progress.LiveTree(self._out, capitalized(name), parents)
        for row in actions if details else ():
            tree.record_known(_before_change(row))
        return tree

    def _show(
        self, progress: Progress, tally: Tally, event: Event, details: bool
    ) -> None:
        change = change_of_shown(event)
        if details:
            if change is not None:
                progress.changed(change)
            return
        if change is not None and change.action_id is not None:
            self._recent.append(change)
        progress.show_counts(tally.counts(), list(self._recent))

    def _finish(self, tally: Tally, every: bool) -> int:
        plan = self._client.get('action_plans', self._uuid)
        state = plan['state']
        actions = self._actions(None) if every else self._unsuccessful_actions()
        action_table.print_actions(actions, every, self._out)
        name = plan_label(plan['uuid'], plan.get('name'))
        coloured = action_table.coloured(state, state, self._out.has_colours)
        self._out.line(f'{capitalized(name)}: {coloured}, {tally.format_counts()}')
        if plan.get('status_message'):
            self._out.line(one_line(plan['status_message']))
        if state == states.SUCCEEDED:
            return exits.SUCCESS
        failed = next(self._actions('FAILED'), None) if tally.counts().failed else None
        why = (
            f': {failed.name or failed.uuid}: {failed.status_message}' if failed else ''
        )
        self._err.line(one_line(f'watcherlite: the {name} is {state}{why}'))
        return exits.FAILURE

    def _unsuccessful_actions(self) -> Iterator[ActionRow]:
        for state in _NOT_SUCCEEDED:
            yield from self._actions(state)

    def _actions(self, state: str | None) -> Iterator[ActionRow]:
        query = {'action_plan_uuid': self._uuid, 'limit': PAGE}
        if state is not None:
            query['state'] = state
        for rows, _ in self._client.pages('actions', 'detail', query=query):
            for row in rows:
                yield ActionRow(
                    row['uuid'],
                    row.get('name'),
                    row['action_type'],
                    row['state'],
                    row.get('status_message'),
                )


def _before_change(row: Mapping[str, Any]) -> Change:
    """Return an action before its first change."""
    return Change(
        when=datetime.datetime.now(datetime.UTC),
        action_id=row['uuid'],
        name=row.get('name') or row['uuid'],
        action_type=row['action_type'],
        old=None,
        new=row['state'],
        text=row.get('status_message') or '',
    )


class ActionPlanWatch(base.Remote):
    """Follow an action plan until it has ended.

    On a terminal the actions are shown as a tree that changes in place, otherwise each
    change is printed on a line. Ctrl-C stops watching; the plan continues.
    """

    def get_epilog(self) -> str:
        return EPILOG

    metavar = 'UUID'
    identifier = 'UUID of the object'
    arguments = (
        base.identifier_argument,
        flag(
            '-v --verbose', 'show every change and every action, even of a large plan'
        ),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        uuid = parsed_args.identifier
        with self.connect(parsed_args) as client, wakeup.InterruptGuard() as guard:
            watch = Watch(
                client,
                uuid,
                Output(sys.stdout),
                Output(sys.stderr),
                verbose=parsed_args.verbose,
                wait=guard.wait,
            )
            try:
                return watch.run()
            except KeyboardInterrupt:
                self.print_message(
                    f'the plan continues; see `watcherlite actionplan watch {uuid}`'
                )
                return exits.INTERRUPTED
