"""`openstack stack lock` and `unlock`, in addition to those of python-heatclient.

python-openstackclient loads them by entry points if python-heatclient is installed. The
`watcherlite` command does not use them.
"""

import argparse
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar
from urllib import parse

from cliff import lister

from watcherlite.states import stack as states

_COLUMNS = ('ID', 'Stack Name', 'Stack Status', 'Creation Time', 'Updated Time')
_FIELDS = ('id', 'stack_name', 'stack_status', 'creation_time', 'updated_time')


class _StackAction(lister.Lister):
    """An action on stacks.

    :cvar action: the name of the action
    """

    action: ClassVar[str]
    # Read by python-openstackclient.
    auth_required = True

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        verb = self.action.lower()
        parser.add_argument(
            'stack', metavar='<stack>', nargs='+', help=f'Stack(s) to {verb}'
        )
        parser.add_argument(
            '--wait', action='store_true', help=f'Wait for {verb} to complete'
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        app: Any = self.app
        heat = app.client_manager.orchestration
        rows = []
        for name in parsed_args.stack:
            self._request_action(heat, name, parsed_args)
            found = heat.stacks.get(name).to_dict()
            rows.append([found.get(field) for field in _FIELDS])
        return _COLUMNS, rows

    def argument(self, parsed_args: argparse.Namespace) -> Any:
        """Return the argument of the action."""
        return None

    def _request_action(
        self, heat: Any, name: str, parsed_args: argparse.Namespace
    ) -> None:
        # Both packages are installed wherever this runs.
        from heatclient.common import event_utils
        from osc_lib import exceptions

        marker = None
        if parsed_args.wait:
            events = event_utils.get_events(
                heat, stack_id=name, event_args={'sort_dir': 'desc'}, limit=1
            )
            marker = events[0].id if events else None
        heat.actions.client.post(
            f'/stacks/{parse.quote(name, "")}/actions',
            data={self.action.lower(): self.argument(parsed_args)},
        )
        if not parsed_args.wait:
            return
        found = heat.stacks.get(name)
        status, text = event_utils.poll_for_events(
            heat, found.stack_name, action=self.action, marker=marker, poll_period=1
        )
        if status == f'{self.action}_FAILED':
            raise exceptions.CommandError(text)


class StackLock(_StackAction):
    """Lock stacks against changes."""

    action = states.LOCK

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--level',
            choices=states.LEVELS,
            default=states.ALL,
            help='stacks: lock each stack and its nested stacks; all (default): '
            'protect their physical resources as well, where the resource type '
            'supports it',
        )
        return parser

    def argument(self, parsed_args: argparse.Namespace) -> Any:
        return {'level': parsed_args.level}


class StackUnlock(_StackAction):
    """Unlock stacks."""

    action = states.UNLOCK
