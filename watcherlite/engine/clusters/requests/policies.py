"""Operations on policies."""

from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import events
from watcherlite.domain.clusters import PolicyObject
from watcherlite.engine.clusters.requests import values
from watcherlite.engine.clusters.requests.base import ClusterOperationBase, Values
from watcherlite.engine.clusters.requests.values import RequestContext
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.execution.retries import retry_on_conflict
from watcherlite.plugins.base import POLICIES, Policy

#: Fields that a request may change.
CHANGES = ('name',)
#: Name of a policy that is only validated.
VALIDATED = 'validated_policy'
_KEYS = ('type', 'version', 'description', 'properties')


class PolicyOperations(ClusterOperationBase):
    """The operations on policies; a name is a uuid, a name or a short id."""

    def create(self, name: Any, spec: Any, by: RequestContext) -> PolicyObject:
        """Store a policy.

        :raises NotFound: there is no such type
        :raises InvalidSpec: the spec does not fit its type
        """
        wanted = values.parse_name(name)
        policy = self._policy(wanted, spec, by).evolve(uuid=events.new_uuid())
        return self.insert_object(policy)

    def validate(self, spec: Any, by: RequestContext) -> PolicyObject:
        """Return the policy that a spec makes, which has no uuid; store nothing.

        :raises InvalidSpec, NotFound: as `create`
        """
        return self._policy(VALIDATED, spec, by)

    def _policy(self, name: str, spec: Any, by: RequestContext) -> PolicyObject:
        given = values.parse_mapping(spec, 'spec')
        try:
            full_name = validated_type(self.parts, given)
        except exceptions.Invalid as error:
            raise exceptions.InvalidSpec(
                f'Failed in creating policy {name}: {error}'
            ) from None
        return PolicyObject(
            uuid='',
            name=name,
            type=full_name,
            spec=given,
            owner=by.owner,
            created_at=self.clock.now(),
        )

    def update(self, name: str, by: RequestContext, changes: Values) -> PolicyObject:
        """Change the name of a policy; its spec never changes.

        :param changes: of CHANGES
        """
        values.check_known_keys(changes, CHANGES)
        wanted = {}
        if changes.get('name') is not None:
            wanted['name'] = values.parse_name(changes['name'])
        return self.update_object(PolicyObject, name, by, wanted)

    @retry_on_conflict
    def delete(self, name: str, by: RequestContext) -> None:
        """Delete a policy; ResourceInUse while clusters are bound to it."""
        row = self.store.find_object(PolicyObject, name, by.tenant)
        with self.store.transaction() as tx:
            tx.delete_object(row)


def validated_type(parts: ClusterServices, spec: Values) -> str:
    """Return the type of a policy with its version, if its spec fits that.

    :raises NotFound: there is no such type
    :raises Invalid: names what is wrong
    """
    for key in ('type', 'version'):
        if key not in spec:
            raise exceptions.Invalid(
                f"The '{key}' key is missing from the provided spec map."
            )
    unknown = sorted(set(spec) - set(_KEYS))
    if unknown:
        raise exceptions.Invalid(f"Unrecognizable spec item '{unknown[0]}'")
    full_name = f'{spec["type"]}-{spec["version"]}'
    known = parts.plugins.loadable(POLICIES)
    if full_name not in known:
        raise exceptions.NotFound(
            f"The policy_type '{full_name}' could not be found. Known types: "
            f'{", ".join(sorted(known)) or "none"}.'
        )
    properties = spec.get('properties')
    if not isinstance(properties, Mapping | None):
        raise exceptions.Invalid('The properties of a spec are a map.')
    policy: Policy = parts.plugins.make(POLICIES, full_name)
    _check(parts, policy, properties or {})
    return full_name


def _check(parts: ClusterServices, policy: Policy, given: Values) -> None:
    schema = policy.schema
    known = schema.get('properties') or {}
    names = sorted(str(key) for key in given)
    wrong = [f"Unrecognizable spec item '{key}'" for key in names if key not in known]
    wrong += [
        f"Required spec item '{key}' not provided"
        for key in schema.get('required') or ()
        if key not in given
    ]
    if wrong:
        raise exceptions.Invalid('; '.join(wrong))
    parts.plugins.fit_policy(policy, given)
