"""What users do with policies; see `operations`."""

from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import events
from watcherlite.domain.clusters import PolicyObject
from watcherlite.engine.clusters import asking
from watcherlite.engine.clusters.asking import Asker
from watcherlite.engine.clusters.parts import Parts
from watcherlite.engine.clusters.requesting import Requests, Values
from watcherlite.execution.conflicts import again_on_conflict
from watcherlite.plugins.base import POLICIES, Policy

#: What of a policy a request may change.
CHANGES = ('name',)
#: How one is called that was only looked at.
VALIDATED = 'validated_policy'
_KEYS = ('type', 'version', 'description', 'properties')


class PolicyOperations(Requests):
    """The operations on policies; a name is a uuid, a name or a short id."""

    def create(self, name: Any, spec: Any, by: Asker) -> PolicyObject:
        """Store a policy.

        :raises NotFound: there is no such type
        :raises InvalidSpec: the spec does not fit its type
        """
        wanted = asking.name_of(name)
        policy = self._policy(wanted, spec, by).evolve(uuid=events.new_uuid())
        return self.store_noun(policy)

    def validate(self, spec: Any, by: Asker) -> PolicyObject:
        """Return the policy that a spec makes, which has no uuid; store nothing.

        :raises InvalidSpec, NotFound: as `create`
        """
        return self._policy(VALIDATED, spec, by)

    def _policy(self, name: str, spec: Any, by: Asker) -> PolicyObject:
        given = asking.mapping_of(spec, 'spec')
        try:
            full_name = checked(self.parts, given)
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

    def update(self, name: str, by: Asker, changes: Values) -> PolicyObject:
        """Change the name of a policy; its spec never changes.

        :param changes: of CHANGES
        """
        asking.known_keys(changes, CHANGES)
        wanted = {}
        if changes.get('name') is not None:
            wanted['name'] = asking.name_of(changes['name'])
        return self.change_noun(PolicyObject, name, by, wanted)

    @again_on_conflict
    def delete(self, name: str, by: Asker) -> None:
        """Delete a policy; ResourceInUse while clusters are bound to it."""
        row = self.store.find_noun(PolicyObject, name, by.tenant)
        with self.store.transaction() as tx:
            tx.delete_noun(row)


def checked(parts: Parts, spec: Values) -> str:
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
    if full_name not in parts.plugins.loadable(POLICIES):
        raise exceptions.NotFound(f"The policy_type '{full_name}' could not be found.")
    properties = spec.get('properties')
    if not isinstance(properties, Mapping | None):
        raise exceptions.Invalid('The properties of a spec are a map.')
    policy: Policy = parts.plugins.make(POLICIES, full_name)
    _check(parts, policy, properties or {})
    return full_name


def _check(parts: Parts, policy: Policy, given: Values) -> None:
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
