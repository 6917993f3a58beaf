"""Types of profiles and policies, with the schemas of their properties."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api.clustering.schemas import types as schemas
from watcherlite.api.clustering.schemas.types import SUPPORT
from watcherlite.api.clustering.versions import since
from watcherlite.api.operation import Request, Response, RouteTable, Version
from watcherlite.engine.clusters.profile_types import (
    SUPPORT_STATUS,
    VERSION,
    ProfileType,
    ProfileTypes,
)
from watcherlite.plugins import base, specs
from watcherlite.plugins.base import Policy

Support = Mapping[str, Sequence[Mapping[str, str]]]


def represent_listed(
    name: str, version: str, support: Support, asked: Version
) -> dict[str, Any]:
    """Return a type for lists, with its version in the name or as a member."""
    if asked < SUPPORT:
        return {'name': f'{name}-{version}'}
    return {'name': name, 'version': version, 'support_status': _support(support)}


def represent(
    full_name: str, schema: Mapping[str, Any], support: Support, asked: Version
) -> dict[str, Any]:
    """Return a type with the schema of its properties in the format of Senlin."""
    shown: dict[str, Any] = {'name': full_name, 'schema': dict(schema)}
    if asked >= SUPPORT:
        shown['support_status'] = _support(support)
    return shown


def support_of(policy: type[Policy], version: str) -> Support:
    """Return the support status of the versions of a policy type."""
    shown: dict[str, list[Mapping[str, str]]] = {}
    for one in policy.support_status:
        rest = {name: text for name, text in one.items() if name != 'version'}
        shown.setdefault(one.get('version', version), []).append(rest)
    return shown or {version: []}


def _support(support: Support) -> dict[str, Any]:
    return {
        version: [dict(one) for one in statuses]
        for version, statuses in support.items()
    }


_PROFILES = '/v1/profile-types'
_POLICIES = '/v1/policy-types'
ROUTES = RouteTable()


@ROUTES.route(
    f'GET {_PROFILES}', 'profile_types:index', {200: schemas.listed('profile_types')}
)
def profile_types(request: Request) -> Response:
    """List profile types."""
    found = [
        represent_listed(name, VERSION, SUPPORT_STATUS, request.version)
        for name in sorted(_profile_types(request).all())
    ]
    return Response({'profile_types': found})


@ROUTES.route(
    f'GET {_PROFILES}/{{profile_type}}',
    'profile_types:get',
    {200: schemas.one('profile_type')},
)
def profile_type(request: Request) -> Response:
    """Show the schema of a profile type."""
    found = _profile_type(request)
    body = represent(found.full_name, found.schema(), SUPPORT_STATUS, request.version)
    return Response({'profile_type': body})


@ROUTES.route(
    f'GET {_PROFILES}/{{profile_type}}/ops',
    'profile_types:ops',
    {200: schemas.OPERATIONS},
    **since((1, 4)),
)
def operations(request: Request) -> Response:
    """List the operations of a profile type."""
    return Response({'operations': _profile_type(request).operations()})


@ROUTES.route(
    f'GET {_POLICIES}', 'policy_types:index', {200: schemas.listed('policy_types')}
)
def policy_types(request: Request) -> Response:
    """List policy types."""
    found = []
    for full_name, policy in sorted(_policies(request).items()):
        name, _, version = full_name.rpartition('-')
        support = support_of(policy, version)
        found.append(represent_listed(name, version, support, request.version))
    return Response({'policy_types': found})


@ROUTES.route(
    f'GET {_POLICIES}/{{policy_type}}',
    'policy_types:get',
    {200: schemas.one('policy_type')},
)
def policy_type(request: Request) -> Response:
    """Show the schema of a policy type."""
    name = request.path['policy_type']
    types = _policies(request)
    found = types.get(name)
    if found is None:
        raise exceptions.NotFound(
            f"The policy_type '{name}' could not be found. Known types: "
            f'{", ".join(sorted(types)) or "none"}.'
        )
    support = support_of(found, name.rpartition('-')[2])
    body = represent(
        name, specs.describe_schema(found.schema), support, request.version
    )
    return Response({'policy_type': body})


def _profile_types(request: Request) -> ProfileTypes:
    return ProfileTypes(request.services.plugins)


def _profile_type(request: Request) -> ProfileType:
    return _profile_types(request).find(request.path['profile_type'])


def _policies(request: Request) -> dict[str, type[base.Policy]]:
    return request.services.plugins.loadable(base.POLICIES)
