"""What is done with a whole stack besides making, changing and deleting it."""

from watcherlite.api.operation import NULL, Answer, Operation, Request, Routes
from watcherlite.api.orchestration import finding
from watcherlite.api.orchestration.schemas import root as root_schemas
from watcherlite.api.orchestration.schemas import shapes
from watcherlite.api.orchestration.schemas import stacks as schemas
from watcherlite.states import stack as states

_DONE = {
    'suspend': states.SUSPEND,
    'resume': states.RESUME,
    'check': states.CHECK,
    'lock': states.LOCK,
    'unlock': states.UNLOCK,
}
#: Whether what was done until then is undone.
_CANCELLED = {'cancel_update': True, 'cancel_without_rollback': False}


def act(request: Request) -> Answer:
    """Begin the action that the body names.

    :raises NotSupported: it makes no sense in the state that the stack is in
    :raises Conflict: it is not possible now
    """
    stack = finding.stack(request)
    ((name, arguments),) = request.body.items()
    operations = request.services.stacks
    if name in _CANCELLED:
        operations.cancel(stack.uuid, stack.tenant, _CANCELLED[name], request.context)
    else:
        level = (arguments or {}).get('level') if name == 'lock' else None
        operations.act(stack.uuid, stack.tenant, _DONE[name], level, request.context)
    return NULL


def rules(request: Request) -> list[str]:
    """Return the rules for the action that the body names."""
    return ['actions:action', *(f'actions:{name}' for name in request.body)]


ROUTES: Routes = {
    '/v1/{tenant}/stacks/{stack_name}/{stack_id}/actions': {
        'POST': Operation(
            act,
            'actions:action',
            'Suspend, resume, check, lock or unlock a stack, or cancel what is done '
            'with it.',
            query=root_schemas.NO_ARGUMENTS,
            body=schemas.ACTION,
            answers={200: shapes.NULL, 409: None},
            rules=rules,
        )
    }
}
