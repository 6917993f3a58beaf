"""Where a stack is whose name or id alone is known."""

from watcherlite.api.operation import Operation, Routes
from watcherlite.api.orchestration import finding
from watcherlite.api.orchestration.schemas import root as schemas

_STACKS = '/v1/{tenant}/stacks'
_METHODS = ('DELETE', 'GET', 'PATCH', 'POST', 'PUT')
#: What below a stack is found so as well.
_BELOW = (
    *('environment', 'events', 'files', 'outputs', 'resources', 'template'),
    'actions',
)
_POSTED = ('actions', 'resources')

_LOOKUP = Operation(
    finding.redirect,
    'stacks:lookup',
    'Find out the address of a stack by its name or id; ask there again.',
    query=schemas.NO_ARGUMENTS,
    answers={302: None},
)

ROUTES: Routes = {
    f'{_STACKS}/{{stack_name}}': dict.fromkeys(_METHODS, _LOOKUP),
    **{f'{_STACKS}/{{stack_name}}/{part}': {'GET': _LOOKUP} for part in _BELOW},
    **{
        f'{_STACKS}/{{stack_name}}/{part}': {'GET': _LOOKUP, 'POST': _LOOKUP}
        for part in _POSTED
    },
    # Stacks may have these names, which mean something else in one method each.
    f'{_STACKS}/detail': {m: _LOOKUP for m in _METHODS if m != 'GET'},
    f'{_STACKS}/preview': {m: _LOOKUP for m in _METHODS if m != 'POST'},
}
