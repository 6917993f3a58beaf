"""`watcherlite stack`: checked, suspended, resumed, locked, unlocked, cancelled."""

import argparse
from typing import TYPE_CHECKING, Any

from watcherlite.cli import stack_command
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.stack_command import StackShow, Waiting
from watcherlite.states import stack as states

if TYPE_CHECKING:
    from watcherlite.cli.stack_api import Stacks

SHOWN = (
    Column('ID', 'id'),
    Column('Stack Name', 'stack_name'),
    Column('Creation Time', 'creation_time'),
    Column('Updated Time', 'updated_time'),
    Column('Stack Status', 'stack_status'),
    Column('Stack Status Reason', 'stack_status_reason'),
    Column('Lock Level', 'lock_level'),
)


class _Action(Waiting, StackShow):
    """A command that asks for an action of a stack."""

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser)
        stack_command.add_wait(parser)
        return parser

    def found(self, stacks: 'Stacks', parsed: argparse.Namespace) -> Row:
        """Ask for the action; return the stack."""
        place = stacks.find(parsed.stack)
        marker = stacks.last_event(place) if parsed.wait else None
        stacks.begin(place, **{self.action.lower(): self.argument(parsed)})
        if parsed.wait:
            self.wait(stacks, place, parsed, marker)
        return stacks.show(place, outputs=False)

    def argument(self, parsed: argparse.Namespace) -> Any:
        """Return what is said of the action."""
        return None


class StackCheck(_Action):
    """Look how the resources of a stack are."""

    action = states.CHECK


class StackSuspend(_Action):
    """Put the resources of a stack to rest."""

    action = states.SUSPEND


class StackResume(_Action):
    """Let a suspended stack go on."""

    action = states.RESUME


class StackLock(_Action):
    """Lock a stack, so that nothing changes it until it is unlocked.

    Whatever would is refused: operations on it, on the stacks within it and on its
    resources. Actions of plans that work on it are skipped. A locked stack can be
    locked again to change the level.
    """

    action = states.LOCK

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--level',
            choices=states.LEVELS,
            default=states.ALL,
            help='stacks: this one and those within it; all, if not given: what they '
            'are made of is protected as well, where its type can be',
        )
        return parser

    def argument(self, parsed: argparse.Namespace) -> Any:
        """Return the level."""
        return {'level': parsed.level}


class StackUnlock(_Action):
    """Unlock a stack; it is as it was before the lock."""

    action = states.UNLOCK


class StackCancel(StackShow):
    """Cancel the update of a stack, or its creation.

    It goes back to what was before, unless it is told not to.
    """

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        stack_command.add_stack(parser)
        parser.add_argument(
            '--no-rollback',
            action='store_true',
            help='stop where it is, and stay there; a creation can only be stopped so',
        )
        return parser

    def found(self, stacks: 'Stacks', parsed: argparse.Namespace) -> Row:
        """Cancel it; return the stack."""
        place = stacks.find(parsed.stack)
        name = 'cancel_without_rollback' if parsed.no_rollback else 'cancel_update'
        stacks.begin(place, **{name: None})
        return stacks.show(place, outputs=False)
