"""Adoption of existing resources as nodes."""

from typing import Any

from watcherlite import exceptions
from watcherlite.domain import events
from watcherlite.domain.clusters import NewNode, NewProfile, Node, Profile
from watcherlite.engine.clusters import action_types, profile_types
from watcherlite.engine.clusters.node_record import ADOPTED
from watcherlite.engine.clusters.requests import values
from watcherlite.engine.clusters.requests.base import (
    ActionRequest,
    ClusterOperationBase,
)
from watcherlite.engine.clusters.requests.values import AdoptionRequest, RequestContext
from watcherlite.execution.retries import retry_on_conflict


def preview(
    requests: ClusterOperationBase, request: AdoptionRequest, by: RequestContext
) -> dict[str, Any]:
    """Return the profile spec of a resource to adopt.

    :raises NotFound: there is no such type
    :raises BadRequest: properties are missing or invalid; the type cannot adopt
    """
    if request.snapshot:
        raise exceptions.BadRequest(
            'No type of profile makes snapshots of what is adopted.'
        )
    if not request.identity or not isinstance(request.identity, str):
        raise exceptions.BadRequest('The identity of what is adopted is missing.')
    found = requests.parts.profile_types.find(request.type)
    if not found.declared.adoptable:
        raise exceptions.BadRequest(
            f'Nothing can be adopted as {found.full_name}: its type only finds what it '
            'has made itself.'
        )
    given = values.parse_mapping(request.overrides, 'overrides')
    if found.name == profile_types.STACK:
        given = {**_of_stack(requests, request.identity, by), **given}
    spec = {'type': found.name, 'version': profile_types.VERSION, 'properties': given}
    try:
        requests.parts.profile_types.check(spec)
    except exceptions.Invalid as error:
        raise exceptions.BadRequest(
            f'What is adopted as {found.full_name} needs other overrides: {error}'
        ) from None
    return spec


def _of_stack(
    requests: ClusterOperationBase, identity: str, by: RequestContext
) -> dict[str, Any]:
    """Return the last properties of a stack; raises BadRequest."""
    store = requests.store
    try:
        stack = store.find_stack(identity, by.owner.tenant)
    except exceptions.NotFound as error:
        raise exceptions.BadRequest(str(error)) from None
    made: Any = store.get_definition(stack.definition_id)
    return {
        'template': dict(made.template),
        'files': dict(made.files),
        'environment': dict(made.environment),
        'parameters': dict(made.parameters),
    }


def adopt(
    requests: ClusterOperationBase, request: AdoptionRequest, by: RequestContext
) -> Node:
    """Store a node with its own profile, and request a check.

    The check adopts the resource and sets the status of the node.
    """
    spec = preview(requests, request, by)
    uuid = events.new_uuid()
    name = (
        f'node-{uuid[:8]}' if request.name is None else values.parse_name(request.name)
    )
    checked = requests.parts.profile_types.check(spec)
    profile = NewProfile(
        uuid=events.new_uuid(),
        name=f'prof-{name}'[:255],
        type=checked.type,
        handler=checked.handler,
        spec=spec,
        owner=by.owner,
        created_at=requests.clock.now(),
    )
    node = NewNode(
        uuid=uuid,
        name=name,
        owner=by.owner,
        profile_id=0,
        handler=checked.handler,
        role=values.parse_role(request.role),
        metadata=values.parse_mapping(request.metadata, 'metadata'),
        status_reason='Adopted, not checked yet',
        physical_id=request.identity,
        properties=dict(checked.properties),
        kept={ADOPTED: True},
    )
    return _stored(requests, profile, node, by)


@retry_on_conflict
def _stored(
    requests: ClusterOperationBase,
    profile: NewProfile,
    node: NewNode,
    by: RequestContext,
) -> Node:
    now = requests.clock.now()
    with requests.store.transaction() as tx:
        requests.check_unique(tx, Node, node.name, by.owner.tenant)
        requests.check_unique(tx, Profile, profile.name, by.owner.tenant)
        made = tx.insert_object(profile)
        row = node.evolve(profile_id=made.id, init_at=now, created_at=now)
        stored = tx.insert_object(row)
        action = requests.insert_action(
            tx, ActionRequest(action_types.NODE_CHECK, by), stored, None, {}, now
        )
    requests.announce(action)
    return stored
