"""`watcherlite action logs`."""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from watcherlite.cli import wakeup
from watcherlite.cli.command import flag, option
from watcherlite.cli.commands import base
from watcherlite.cli.commands.event_feed import PAGE, Feed
from watcherlite.cli.output import Output
from watcherlite.cmd import exits
from watcherlite.domain.actions import STREAMS
from watcherlite.states import action as states

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

Entry = Mapping[str, Any]

#: The states of actions that have ended.
_ENDED = frozenset(states.INFRA_OPTIM[status] for status in states.FINAL)


class ActionLogs(base.Remote):
    """Show the log of an action.

    The log has the output of commands, and what other types of actions report. With
    `--follow`, new lines are shown until the action has ended.
    """

    metavar = 'UUID'
    identifier = 'UUID of the object'
    arguments = (
        base.identifier_argument,
        flag('-f --follow', 'show new lines until the action has ended'),
        option(
            '--stream',
            'NAME',
            'show only this stream: stdout, stderr or log',
            choices=STREAMS,
        ),
        flag('--timestamps', 'begin each line with its time and stream'),
    )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        out = Output(sys.stdout)
        uuid, desired = parsed_args.identifier, parsed_args.stream
        with self.connect(parsed_args) as client, wakeup.InterruptGuard() as guard:
            # Reports an unknown action before a stream is opened.
            client.get('actions', uuid)
            if parsed_args.follow:
                entries = self._follow(client, uuid, guard)
            else:
                entries = _pages(client, uuid)
            try:
                for entry in entries:
                    if desired in (None, entry['stream']):
                        out.write(format_entry(entry, parsed_args.timestamps))
            except KeyboardInterrupt:
                self.print_message(
                    f'the action continues; see `watcherlite action logs -f {uuid}`'
                )
                return exits.INTERRUPTED
        return exits.SUCCESS

    def _follow(
        self, client: 'Client', uuid: str, guard: wakeup.InterruptGuard
    ) -> Iterator[Entry]:
        return iter(
            Feed(
                client,
                ('actions', uuid, 'logs'),
                lambda: client.get('actions', uuid)['state'] in _ENDED,
                note=self.print_message,
                wait=guard.wait,
                monotonic=time.monotonic,
            )
        )


def _pages(client: 'Client', uuid: str) -> Iterator[Entry]:
    for rows, _ in client.pages('actions', uuid, 'logs', query={'limit': PAGE}):
        yield from rows


def format_entry(entry: Entry, has_prefix: bool) -> str:
    """Return the lines of an entry, with control characters escaped.

    A command must not be able to control the terminal of its reader.

    :param has_prefix: begin each line with its time and stream
    """
    prefix = f'{entry["logged_at"]} {entry["stream"]} ' if has_prefix else ''
    return ''.join(
        f'{prefix}{"".join(map(_printable, line))}\n'
        for line in entry['text'].removesuffix('\n').split('\n')
    )


def _printable(character: str) -> str:
    if character.isprintable() or character == '\t':
        return character
    return '' if character == '\r' else ascii(character)[1:-1]
