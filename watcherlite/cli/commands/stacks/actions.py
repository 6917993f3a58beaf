"""`watcherlite stack` check, suspend, resume, lock, unlock and cancel."""

import argparse
from typing import Any

from watcherlite.cli.command import Declarations, choice, flag
from watcherlite.cli.commands import base
from watcherlite.cli.commands.poll import wait_options
from watcherlite.cli.commands.stacks.stack_client import Stacks
from watcherlite.cli.commands.stacks.stack_command import StackRemote, StackWaiting
from watcherlite.cli.formatting import Column, Row, fields
from watcherlite.states import stack as states

SHOWN = fields(
    'id stack_name creation_time updated_time stack_status',
    'stack_status_reason',
    Column('Base Status', 'stack_base_status'),
    'lock_level',
)


class _Action(StackWaiting, base.Show):
    """A command that requests an action on a stack."""

    columns = SHOWN
    arguments: Declarations = (base.identifier_argument, *wait_options('stack'))

    def fetch(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        place = stacks.find(parsed.identifier)
        marker = self.last_event(stacks, place, parsed)
        stacks.request_action(place, **{self.action.lower(): self.argument(parsed)})
        self.wait(stacks, place, parsed, marker)
        return stacks.show(place, outputs=False)

    def argument(self, parsed: argparse.Namespace) -> Any:
        """Return the argument of the action."""
        return None


class StackCheck(_Action):
    """Check the health of a stack's resources."""

    action = states.CHECK


class StackSuspend(_Action):
    """Suspend the resources of a stack."""

    action = states.SUSPEND


class StackResume(_Action):
    """Resume a suspended stack."""

    action = states.RESUME


class StackLock(_Action):
    """Lock a stack against changes.

    Operations on the stack, on its nested stacks and on its resources fail until it is
    unlocked. Actions of plans that target it are skipped. A locked stack can be locked
    again to change the level.
    """

    action = states.LOCK
    arguments = (
        choice(
            '--level',
            states.LEVELS,
            'stacks: lock the stack and its nested stacks; all (default): '
            'protect their physical resources as well, where the resource type '
            'supports it',
            default=states.ALL,
        ),
    )

    def argument(self, parsed: argparse.Namespace) -> Any:
        return {'level': parsed.level}


class StackUnlock(_Action):
    """Unlock a stack."""

    action = states.UNLOCK


class StackCancel(StackRemote, base.Show):
    """Cancel the update or the creation of a stack.

    The stack is rolled back unless --no-rollback is given.
    """

    columns = SHOWN
    arguments = (
        base.identifier_argument,
        flag('--no-rollback', 'do not roll back; required to cancel a creation'),
    )

    def fetch(self, stacks: Stacks, parsed: argparse.Namespace) -> Row:
        place = stacks.find(parsed.identifier)
        name = 'cancel_without_rollback' if parsed.no_rollback else 'cancel_update'
        stacks.request_action(place, **{name: None})
        return stacks.show(place, outputs=False)
