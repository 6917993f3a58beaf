"""Lookup of the stack that an address names."""

from watcherlite import exceptions
from watcherlite.api.operation import Request
from watcherlite.domain.stacks import Stack


def get_stack(request: Request, deleted: bool = False) -> Stack:
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
