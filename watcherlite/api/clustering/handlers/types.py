"""What profiles and policies can be: their types, with schemas."""

from watcherlite import exceptions
from watcherlite.api.clustering.representations import types as representations
from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.clustering.schemas import types as schemas
from watcherlite.api.clustering.versioning import since
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.engine.clusters.profile_types import (
    SUPPORT_STATUS,
    VERSION,
    ProfileType,
    ProfileTypes,
)
from watcherlite.plugins import base, specs


def profile_types(request: Request) -> Answer:
    """Answer what nodes can be made from."""
    found = [
        representations.listed(name, VERSION, SUPPORT_STATUS, request.version)
        for name in sorted(_profile_types(request).all())
    ]
    return Answer({'profile_types': found})


def profile_type(request: Request) -> Answer:
    """Answer what a type of profile takes; NotFound."""
    found = _profile_type(request)
    shown = representations.shown(
        found.full_name, found.schema(), SUPPORT_STATUS, request.version
    )
    return Answer({'profile_type': shown})


def operations(request: Request) -> Answer:
    """Answer what can be done with nodes of a type of profile; NotFound."""
    return Answer({'operations': _profile_type(request).operations()})


def policy_types(request: Request) -> Answer:
    """Answer what clusters can be looked after by."""
    found = []
    for full_name, policy in sorted(_policies(request).items()):
        name, _, version = full_name.rpartition('-')
        support = representations.support_of(policy, version)
        found.append(representations.listed(name, version, support, request.version))
    return Answer({'policy_types': found})


def policy_type(request: Request) -> Answer:
    """Answer what a type of policy takes; NotFound."""
    name = request.path['policy_type']
    found = _policies(request).get(name)
    if found is None:
        raise exceptions.NotFound(f"The policy_type '{name}' could not be found.")
    support = representations.support_of(found, name.rpartition('-')[2])
    shown = representations.shown(
        name, specs.told(found.schema), support, request.version
    )
    return Answer({'policy_type': shown})


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
            'List the types of profiles.',
            query=shapes.NO_ARGUMENTS,
            answers={200: schemas.listed('profile_types')},
        )
    },
    f'{_PROFILES}/{{profile_type}}': {
        'GET': Operation(
            profile_type,
            'profile_types:get',
            'Show what a type of profile takes.',
            query=shapes.NO_ARGUMENTS,
            answers={200: schemas.one('profile_type')},
        )
    },
    f'{_PROFILES}/{{profile_type}}/ops': {
        'GET': Operation(
            operations,
            'profile_types:ops',
            'List what can be done with nodes of a type of profile.',
            query=shapes.NO_ARGUMENTS,
            answers={200: schemas.OPERATIONS},
            **since((1, 4)),
        )
    },
    _POLICIES: {
        'GET': Operation(
            policy_types,
            'policy_types:index',
            'List the types of policies.',
            query=shapes.NO_ARGUMENTS,
            answers={200: schemas.listed('policy_types')},
        )
    },
    f'{_POLICIES}/{{policy_type}}': {
        'GET': Operation(
            policy_type,
            'policy_types:get',
            'Show what a type of policy takes.',
            query=shapes.NO_ARGUMENTS,
            answers={200: schemas.one('policy_type')},
        )
    },
}
