"""`watcherlite stack hook`: the hooks at which resources wait."""

import argparse
import fnmatch
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.cli.command import argument, choice
from watcherlite.cli.commands import base
from watcherlite.cli.commands.stacks.stack_client import Place, Stacks, stack_of
from watcherlite.cli.commands.stacks.stack_command import StackRemote
from watcherlite.cli.formatting import Column, Row, fields
from watcherlite.states import stack as states

#: More than the maximum nesting depth of stacks.
_DEPTH = 100
_SEPARATOR = '/'


class _Hooks(StackRemote, base.Rows):
    """A command on the resources of a stack, and of its nested stacks, that wait."""

    columns = (Column('Resource', 'path'), *fields('hook resource_status'))

    def waiting(self, stacks: Stacks, place: Place) -> list[Row]:
        """Return the resources that wait, with their paths."""
        query = {'nested_depth': _DEPTH}
        rows = stacks.read('resources', place, 'resources', query=query)
        owners = {
            nested.uuid: row
            for row in rows
            if (nested := stack_of(row, 'nested')) is not None
        }
        return [
            {**row, 'path': _SEPARATOR.join(_path(row, owners))}
            for row in rows
            if row['hook'] is not None
        ]


class StackHookList(_Hooks):
    """List the resources that wait at a hook.

    A resource of a nested stack is shown as the path to it, separated by slashes.
    """

    arguments = (base.identifier_argument,)

    def rows(self, stacks: Stacks, parsed: argparse.Namespace) -> Sequence[Row]:
        return self.waiting(stacks, stacks.find(parsed.identifier))


class StackHookClear(_Hooks):
    """Clear the hooks at which resources wait; list them.

    A resource of a nested stack is named by the path to it: group/0. Each part of it
    may have wildcards: group/*.
    """

    arguments = (
        base.identifier_argument,
        argument('resources', 'RESOURCE', 'resource: name, path or pattern', nargs='+'),
        choice(
            '--hook',
            tuple(states.HOOKED_ACTIONS),
            'only this hook; default: the one at which the resource waits',
        ),
        base.allow_intermixed,
    )

    def rows(self, stacks: Stacks, parsed: argparse.Namespace) -> Sequence[Row]:
        waiting = [
            row
            for row in self.waiting(stacks, stacks.find(parsed.identifier))
            if parsed.hook in (None, row['hook'])
        ]
        chosen: dict[str, Row] = {}
        for pattern in parsed.resources:
            found = [row for row in waiting if _matches(row['path'], pattern)]
            if not found:
                hook = f'the hook {parsed.hook}' if parsed.hook else 'a hook'
                raise exceptions.NotFound(
                    f'No resource {pattern} of stack {parsed.identifier} waits at '
                    f'{hook}; `watcherlite stack hook list` lists those that wait.'
                )
            chosen |= {row['path']: row for row in found}
        for row in chosen.values():
            name, body = row['resource_name'], {'unset_hook': row['hook']}
            place = stack_of(row, 'stack')
            if place is not None:
                stacks.request('POST', place, 'resources', name, 'signal', body=body)
        return list(chosen.values())


def _path(row: Row, owners: Mapping[str, Any]) -> list[str]:
    """Return the names of the resources that contain a resource, and its own.

    :param owners: the resources that are stacks, by the ids of these
    """
    names: list[str] = []
    here: Row | None = row
    while here is not None and len(names) <= _DEPTH:
        names.insert(0, here['resource_name'])
        stack = stack_of(here, 'stack')
        here = None if stack is None else owners.get(stack.uuid)
    return names


def _matches(path: str, pattern: str) -> bool:
    """Return whether each part of a path matches that of a pattern."""
    pairs = itertools.zip_longest(path.split(_SEPARATOR), pattern.split(_SEPARATOR))
    return all(
        name is not None and part is not None and fnmatch.fnmatchcase(name, part)
        for name, part in pairs
    )
