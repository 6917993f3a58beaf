"""Redirects from the name or the id of a stack to its address."""

import html

from watcherlite.api import links
from watcherlite.api.mounts import decode_slashes
from watcherlite.api.operation import Operation, Request, Response, Routes
from watcherlite.api.orchestration.schemas import fragments

_STACKS = '/v1/{tenant}/stacks'
_METHODS = ('DELETE', 'GET', 'PATCH', 'POST', 'PUT')
#: The parts of a stack that are redirected as well.
_BELOW = (
    'environment',
    'events',
    'files',
    'outputs',
    'resources',
    'template',
    'actions',
)
_POSTED = ('actions', 'resources')


def redirect(request: Request) -> Response:
    """Redirect from a name or an id to the address of a stack.

    The rest of the address and the arguments are kept.

    :raises StackNotFound: no such stack
    """
    tenant = request.path['tenant']
    # /v1/TENANT/stacks/NAME/...
    name, *below = map(decode_slashes, request.route_path.split('/')[4:])
    found = request.services.store.find_stack(name, tenant, True)
    url = links.stack_url(request, found, *below)
    if request.query_string:
        url = f'{url}?{request.query_string}'
    shown = html.escape(url)
    page = f'<html><body>It is at <a href="{shown}">{shown}</a>.</body></html>'
    return Response(
        status=302,
        headers={'Location': url},
        data=page.encode(),
        content_type='text/html; charset=UTF-8',
    )


_LOOKUP = Operation(
    redirect,
    'stacks:lookup',
    'Redirect to a stack by its name or id.',
    query=fragments.ANY_ARGUMENTS,
    responses={302: None},
)

ROUTES: Routes = {
    f'{_STACKS}/{{stack_name}}': dict.fromkeys(_METHODS, _LOOKUP),
    **{f'{_STACKS}/{{stack_name}}/{part}': {'GET': _LOOKUP} for part in _BELOW},
    **{
        f'{_STACKS}/{{stack_name}}/{part}': {'GET': _LOOKUP, 'POST': _LOOKUP}
        for part in _POSTED
    },
    # Stacks may have these names, which are reserved for one method each.
    f'{_STACKS}/detail': {m: _LOOKUP for m in _METHODS if m != 'GET'},
    f'{_STACKS}/preview': {m: _LOOKUP for m in _METHODS if m != 'POST'},
}
