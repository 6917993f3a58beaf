"""Operations on profiles and policies, the objects with a spec."""

import abc
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from watcherlite import exceptions
from watcherlite.domain import events
from watcherlite.domain.clusters import (
    NewPolicyObject,
    NewProfile,
    PolicyObject,
    Profile,
)
from watcherlite.engine.clusters import profile_types
from watcherlite.engine.clusters.requests import values
from watcherlite.engine.clusters.requests.base import ClusterOperationBase, Values
from watcherlite.engine.clusters.requests.values import RequestContext
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.execution.retries import retry_on_conflict
from watcherlite.plugins.base import POLICIES, Policy

Row = TypeVar('Row', Profile, PolicyObject)
New = TypeVar('New', NewProfile, NewPolicyObject)


class _SpecOperations(ClusterOperationBase, abc.ABC, Generic[Row, New]):
    """The operations on one kind; a name is a uuid, a name or a short id.

    :cvar noun: of one object
    :cvar changes: the fields that a request may change, and the parser of each
    """

    kind: type[Row]
    noun: ClassVar[str]
    changes: ClassVar[Mapping[str, values.Parser]]

    @abc.abstractmethod
    def _build(self, name: str, spec: dict[str, Any], by: RequestContext) -> New:
        """Return an object without a uuid; raises Invalid and NotFound."""

    def create(
        self, name: Any, spec: Any, by: RequestContext, **more: Values | None
    ) -> Row:
        """Store an object.

        :param more: the metadata of a profile
        :raises NotFound: the type does not exist
        :raises InvalidSpec: the spec does not fit its type
        """
        made: Any = self._build_valid(values.parse_name(name), spec, by)
        given = {key: values.parse_mapping(value, key) for key, value in more.items()}
        return self.insert_object(
            self.kind, made.evolve(uuid=events.new_uuid(), **given)
        )

    def validate(self, spec: Any, by: RequestContext) -> New:
        """Return the object of a spec, without a uuid; store nothing.

        :raises InvalidSpec, NotFound: as `create`
        """
        return self._build_valid(f'validated_{self.noun}', spec, by)

    def _build_valid(self, name: str, spec: Any, by: RequestContext) -> New:
        given = values.parse_mapping(spec, 'spec')
        try:
            return self._build(name, given, by)
        except exceptions.Invalid as error:
            raise exceptions.InvalidSpec(
                f'Failed in creating {self.noun} {name}: {error}'
            ) from None

    def update(self, name: str, by: RequestContext, changes: Values) -> Row:
        """Change an object; its spec never changes.

        :param changes: of `changes`
        """
        values.check_known_keys(changes, self.changes)
        requested = values.parse_changes(changes, self.changes)
        return self.update_object(self.kind, name, by, requested)

    @retry_on_conflict
    def delete(self, name: str, by: RequestContext) -> None:
        """Delete an object; raises ResourceInUse while others refer to it."""
        row = self.store.find_object(self.kind, name, by.tenant)
        with self.store.transaction() as tx:
            tx.delete_object(row)


class ProfileOperations(_SpecOperations[Profile, NewProfile]):
    """The operations on profiles."""

    kind, noun = Profile, 'profile'
    changes: ClassVar[Mapping[str, values.Parser]] = {
        'name': values.parse_name,
        'metadata': values.parse_mapping,
    }

    def validate(self, spec: Any, by: RequestContext) -> NewProfile:
        """Return the profile of a spec, whose references in OpenStack exist.

        :raises InvalidSpec, NotFound: as `create`, or because of a reference
        :raises ServiceUnavailable: a service cannot be asked
        """
        made = super().validate(spec, by)
        types = self.parts.profile_types
        handler = types.make(made.handler)
        if by.connect is not None and handler.supports('verify'):
            try:
                handler.verify(by.connect, types.check(made.spec).properties)
            except exceptions.Invalid as error:
                raise exceptions.InvalidSpec(str(error)) from None
        return made

    def _build(self, name: str, spec: dict[str, Any], by: RequestContext) -> NewProfile:
        checked = self.parts.profile_types.check(spec)
        return NewProfile(
            uuid='',
            name=name,
            type=checked.type,
            handler=checked.handler,
            spec=spec,
            owner=by.owner,
            created_at=self.clock.now(),
        )


class PolicyOperations(_SpecOperations[PolicyObject, NewPolicyObject]):
    """The operations on policies."""

    kind, noun = PolicyObject, 'policy'
    changes: ClassVar[Mapping[str, values.Parser]] = {'name': values.parse_name}

    def _build(
        self, name: str, spec: dict[str, Any], by: RequestContext
    ) -> NewPolicyObject:
        return NewPolicyObject(
            uuid='',
            name=name,
            type=validated_type(self.parts, spec),
            spec=spec,
            owner=by.owner,
            created_at=self.clock.now(),
        )


def validated_type(parts: ClusterServices, spec: Values) -> str:
    """Return the type of a policy with its version, if its spec fits that.

    :raises NotFound: the type does not exist
    :raises Invalid: the spec is invalid
    """
    full_name = '-'.join(profile_types.versioned_type(spec))
    known = parts.plugins.loadable(POLICIES)
    if full_name not in known:
        raise exceptions.NotFound(
            f"The policy_type '{full_name}' could not be found. Known types: "
            f'{", ".join(sorted(known)) or "none"}.'
        )
    properties = profile_types.properties_of(spec)
    policy: Policy = parts.plugins.make(POLICIES, full_name)
    _check(parts, policy, properties)
    return full_name


def _check(parts: ClusterServices, policy: Policy, given: Values) -> None:
    schema = policy.schema
    known, required = schema.get('properties') or {}, schema.get('required') or ()
    profile_types.check_items(given, known, required)
    parts.plugins.fit_policy(policy, given)
