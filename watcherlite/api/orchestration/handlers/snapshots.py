"""Snapshots of stacks, which there are not: who asks for them is told so."""

from typing import NoReturn

from watcherlite import exceptions
from watcherlite.api.operation import Operation, Request, Routes
from watcherlite.api.orchestration import finding
from watcherlite.api.orchestration.schemas import root as schemas


def refuse(request: Request) -> NoReturn:
    """Say that there are none.

    :raises StackNotFound: there is not even the stack
    :raises NotFound: always otherwise
    """
    stack = finding.stack(request)
    raise exceptions.NotFound(
        f'Stack {stack.name} has no snapshots: this service makes none. Export the '
        'stack to keep what it is made of.'
    )


def _refused(rule: str, summary: str) -> Operation:
    return Operation(
        refuse, rule, summary, query=schemas.NO_ARGUMENTS, answers={404: None}
    )


_ALL = '/v1/{tenant}/stacks/{stack_name}/{stack_id}/snapshots'
_ONE = f'{_ALL}/{{snapshot_id}}'

ROUTES: Routes = {
    _ALL: {
        'GET': _refused('stacks:list_snapshots', 'List snapshots; there are none.'),
        'POST': _refused('stacks:snapshot', 'Make a snapshot; there are none.'),
    },
    _ONE: {
        'GET': _refused('stacks:show_snapshot', 'Show a snapshot; there are none.'),
        'DELETE': _refused(
            'stacks:delete_snapshot', 'Delete a snapshot; there are none.'
        ),
    },
    f'{_ONE}/restore': {
        'POST': _refused(
            'stacks:restore_snapshot', 'Go back to a snapshot; there are none.'
        )
    },
}
