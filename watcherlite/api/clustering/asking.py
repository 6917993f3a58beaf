"""Who asks, as the operations on clusters want to know it."""

from watcherlite import exceptions
from watcherlite.api.operation import Request
from watcherlite.domain.clusters import Owner
from watcherlite.engine.clusters.asking import Asker

#: The project of whoever says who they are and nothing of a project.
DEFAULT_PROJECT = 'default'


def who(request: Request) -> Asker:
    """Return who asks, with what they may see: what is in their project.

    Where nobody says anything of projects, that is everything.

    :raises Forbidden: they are in no project
    """
    caller = request.caller
    everywhere = caller.in_all_projects
    tenant = caller.project_id or (DEFAULT_PROJECT if everywhere else None)
    if tenant is None:
        raise exceptions.Forbidden(
            'The token is for no project; clusters, and all that belongs to them, are '
            'in projects'
        )
    return Asker(Owner(tenant, caller.user_id), everywhere, request.context)


def administrator(request: Request) -> Asker | None:
    """Return who asks as one who sees all projects; None for those who do not."""
    if not request.everywhere:
        return None
    caller = request.caller
    tenant = caller.project_id or DEFAULT_PROJECT
    return Asker(Owner(tenant, caller.user_id), True, request.context)


def scope(request: Request) -> str | None:
    """Return the project whose things are listed; None: all of them."""
    if request.query.get('global_project'):
        return None
    return who(request).tenant
