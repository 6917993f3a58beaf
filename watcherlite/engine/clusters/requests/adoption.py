"""Adoption of existing resources as nodes."""

from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import events
from watcherlite.domain.clusters import NewNode, NewProfile, Node, Profile
from watcherlite.engine.clusters import action_types, profile_types
from watcherlite.engine.clusters.node_record import ADOPTED
from watcherlite.engine.clusters.profile_types import ProfileType
from watcherlite.engine.clusters.requests import values
from watcherlite.engine.clusters.requests.base import (
    ActionRequest,
    ClusterOperationBase,
)
from watcherlite.engine.clusters.requests.values import AdoptionRequest, RequestContext
from watcherlite.execution.retries import retry_on_conflict


class NodeAdoption(ClusterOperationBase):
    """The adoption of resources."""

    def preview(self, request: AdoptionRequest, by: RequestContext) -> dict[str, Any]:
        """Return the profile spec of a resource to adopt; store nothing.

        :raises NotFound: there is no such type
        :raises BadRequest: properties are missing or invalid; the type cannot adopt
        """
        if request.snapshot:
            raise exceptions.BadRequest(
                'No type of profile makes snapshots of what is adopted.'
            )
        if not request.identity or not isinstance(request.identity, str):
            raise exceptions.BadRequest('The identity of what is adopted is missing.')
        found = self.parts.profile_types.find(request.type)
        if not found.declared.adoptable:
            raise exceptions.BadRequest(
                f'Nothing can be adopted as {found.full_name}: its type only finds '
                'resources that it has created.'
            )
        given = values.parse_mapping(request.overrides, 'overrides')
        if found.name == profile_types.STACK:
            given = {**self._stack_properties(request.identity, by), **given}
        elif by.connect is not None:
            given = {**self._read_properties(found, request, by, given), **given}
        version = profile_types.VERSION
        spec = {'type': found.name, 'version': version, 'properties': given}
        try:
            self.parts.profile_types.check(spec)
        except exceptions.Invalid as error:
            raise exceptions.BadRequest(
                f'What is adopted as {found.full_name} needs other overrides: {error}'
            ) from None
        return spec

    def _read_properties(
        self,
        found: ProfileType,
        request: AdoptionRequest,
        by: RequestContext,
        given: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        """Return the properties of an object of OpenStack; raises BadRequest."""
        handler = self.parts.profile_types.make(found.handler)
        if by.connect is None or not handler.supports('read_properties'):
            return {}
        try:
            return handler.read_properties(by.connect, request.identity, given)
        except (exceptions.NotFound, exceptions.Invalid) as error:
            raise exceptions.BadRequest(str(error)) from None

    def _stack_properties(self, identity: str, by: RequestContext) -> dict[str, Any]:
        """Return the last properties of a stack; raises BadRequest."""
        try:
            stack = self.store.find_stack(identity, by.owner.tenant)
        except exceptions.NotFound as error:
            raise exceptions.BadRequest(str(error)) from None
        made: Any = self.store.get_definition(stack.definition_id)
        names = ('template', 'files', 'environment', 'parameters')
        return {name: dict(getattr(made, name)) for name in names}

    def adopt(self, request: AdoptionRequest, by: RequestContext) -> Node:
        """Store a node with its own profile, and request a check.

        The check adopts the resource and sets the status of the node.
        """
        spec = self.preview(request, by)
        uuid, now = events.new_uuid(), self.clock.now()
        name = f'node-{uuid[:8]}'
        if request.name is not None:
            name = values.parse_name(request.name)
        checked = self.parts.profile_types.check(spec)
        by, credential = by.delegated(uuid)
        profile = NewProfile(
            uuid=events.new_uuid(),
            name=f'prof-{name}'[:255],
            type=checked.type,
            handler=checked.handler,
            spec=spec,
            owner=by.owner,
            created_at=now,
        )
        node = NewNode(
            uuid=uuid,
            name=name,
            owner=by.owner,
            profile_id=0,
            handler=checked.handler,
            role=values.parse_role(request.role),
            metadata=values.parse_mapping(request.metadata, 'metadata'),
            status_reason='Adopted, not checked',
            physical_id=request.identity,
            properties=dict(checked.properties),
            kept={ADOPTED: True},
            init_at=now,
            created_at=now,
        )
        return self._insert_adopted(profile, node, by, credential)

    @retry_on_conflict
    def _insert_adopted(
        self,
        profile: NewProfile,
        node: NewNode,
        by: RequestContext,
        credential: str | None,
    ) -> Node:
        request = ActionRequest(action_types.NODE_CHECK, by)
        with self.store.transaction() as tx:
            self.check_unique(tx, Node, node.name, by.owner.tenant)
            self.check_unique(tx, Profile, profile.name, by.owner.tenant)
            made = tx.insert_object(profile)
            stored = tx.insert_object(node.evolve(profile_id=made.id))
            if credential is not None:
                tx.assign_credential(credential, stored.uuid)
            action = self.insert_action(tx, request, stored, None, {}, self.clock.now())
        self.announce(action)
        return stored
