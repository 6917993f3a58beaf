"""Types of profiles and policies, with the schemas of their properties."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api.clustering.schemas import types as schemas
from watcherlite.api.clustering.schemas.types import SUPPORT
from watcherlite.api.clustering.versions import since
from watcherlite.api.operation import Operation, Request, Response, Routes, Version
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


def profile_types(request: Request) -> Response:
    """Return the profile types."""
    found = [
        represent_listed(name, VERSION, SUPPORT_STATUS, request.version)
        for name in sorted(_profile_types(request).all())
    ]
    return Response({'profile_types': found})


def profile_type(request: Request) -> Response:
    """Return a profile type with its schema; NotFound."""
    found = _profile_type(request)
    body = represent(found.full_name, found.schema(), SUPPORT_STATUS, request.version)
    return Response({'profile_type': body})


def operations(request: Request) -> Response:
    """Return the operations of a profile type; NotFound."""
    return Response({'operations': _profile_type(request).operations()})


def policy_types(request: Request) -> Response:
    """Return the policy types."""
    found = []
    for full_name, policy in sorted(_policies(request).items()):
        name, _, version = full_name.rpartition('-')
        support = support_of(policy, version)
        found.append(represent_listed(name, version, support, request.version))
    return Response({'policy_types': found})


def policy_type(request: Request) -> Response:
    """Return a policy type with its schema; NotFound."""
    name = request.path['policy_type']
    types = _policies(request)
    found = types.get(name)
    if found is None:
        raise exceptions.NotFound(
            f"The policy_type '{name}' could not be found. Known types: "
            f'{", ".join(sorted(types)) or "none"}.'
        )
    support = support_of(found, name.rpartition('-')[2])
    body = represent(name, specs.told(found.schema), support, request.version)
    return Response({'policy_type': body})


def _profile_types(request: Request) -> ProfileTypes:
    return ProfileTypes(request.services.plugins)


def _profile_type(request: Request) -> ProfileType:
    return _profile_types(request).find(request.path['profile_type'])


def _policies(request: Request) -> dict[str, type[base.Policy]]:
    return request.services.plugins.loadable(base.POLICIES)


_PROFILES = '/v1/profile-types'
_POLICIES = '/v1/policy-types'

ROUTES: Routes = {
    _PROFILES: {
        'GET': Operation(
            profile_types,
            'profile_types:index',
            'List profile types.',
            responses={200: schemas.listed('profile_types')},
        )
    },
    f'{_PROFILES}/{{profile_type}}': {
        'GET': Operation(
            profile_type,
            'profile_types:get',
            'Show the schema of a profile type.',
            responses={200: schemas.one('profile_type')},
        )
    },
    f'{_PROFILES}/{{profile_type}}/ops': {
        'GET': Operation(
            operations,
            'profile_types:ops',
            'List the operations of a profile type.',
            responses={200: schemas.OPERATIONS},
            **since((1, 4)),
        )
    },
    _POLICIES: {
        'GET': Operation(
            policy_types,
            'policy_types:index',
            'List policy types.',
            responses={200: schemas.listed('policy_types')},
        )
    },
    f'{_POLICIES}/{{policy_type}}': {
        'GET': Operation(
            policy_type,
            'policy_types:get',
            'Show the schema of a policy type.',
            responses={200: schemas.one('policy_type')},
        )
    },
}
