"""The stack that an address names, and the address that a stack has."""

import html

from watcherlite import exceptions
from watcherlite.api.operation import Answer, Request
from watcherlite.api.orchestration import links
from watcherlite.domain.stacks import Stack


def stack(request: Request, deleted: bool = False) -> Stack:
    """Return the stack of an address that has its name and its id.

    :param deleted: one that has been deleted, too
    :raises StackNotFound: there is none, or it has another name
    """
    name, uuid = request.path['stack_name'], request.path['stack_id']
    tenant = request.path['tenant']
    found = request.services.store.find_stack(uuid, tenant, deleted)
    # What is found by its name is not what has that id
    if found.name != name or found.uuid != uuid:
        raise exceptions.StackNotFound(f'The Stack ({name}/{uuid}) could not be found.')
    return found


def redirect(request: Request) -> Answer:
    """Answer the address of a stack that is named by its name or its id alone.

    What follows the name in the address, and the arguments, stay.

    :raises StackNotFound: there is none
    """
    tenant = request.path['tenant']
    # /v1/TENANT/stacks/NAME/...
    name, *below = request.place.split('/')[4:]
    found = request.services.store.find_stack(name, tenant, True)
    url = links.stack_url(request, found, *below)
    if request.query_string:
        url = f'{url}?{request.query_string}'
    shown = html.escape(url)
    page = f'<html><body>It is at <a href="{shown}">{shown}</a>.</body></html>'
    return Answer(
        status=302,
        headers={'Location': url},
        data=page.encode(),
        content_type='text/html; charset=UTF-8',
    )
