"""Addresses of what the orchestration API shows: whole ones, with the mount."""

from urllib import parse

from watcherlite.api.operation import Request
from watcherlite.domain.stacks import Stack

Link = dict[str, str]

SELF = 'self'


def project_url(request: Request, *rest: str, tenant: str | None = None) -> str:
    """Return the address of something of a project; by default that of the request."""
    parts = (tenant or request.path['tenant'], *rest)
    below = '/'.join(parse.quote(part, safe='') for part in parts)
    return f'{request.mount_url}/v1/{below}'


def stack_url(request: Request, stack: Stack, *rest: str) -> str:
    """Return the address of a stack, or of something below it."""
    return project_url(
        request, 'stacks', stack.name, stack.uuid, *rest, tenant=stack.tenant
    )


def link(href: str, rel: str = SELF) -> Link:
    """Return a link."""
    return {'href': href, 'rel': rel}


def of_stack(request: Request, stack: Stack, rel: str = SELF) -> Link:
    """Return a link to a stack."""
    return link(stack_url(request, stack), rel)


def of_resource(
    request: Request, stack: Stack, name: str, *rest: str, rel: str = SELF
) -> Link:
    """Return a link to a resource, or to something below it."""
    return link(stack_url(request, stack, 'resources', name, *rest), rel)


def with_arguments(url: str, arguments: dict[str, object]) -> str:
    """Return an address with arguments; a list is given several times."""
    return f'{url}?{parse.urlencode(arguments, doseq=True)}'
