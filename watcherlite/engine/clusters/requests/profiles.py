"""Operations on profiles."""

from typing import Any

from watcherlite import exceptions
from watcherlite.domain import events
from watcherlite.domain.clusters import Profile
from watcherlite.engine.clusters.requests import values
from watcherlite.engine.clusters.requests.base import ClusterOperationBase, Values
from watcherlite.engine.clusters.requests.values import RequestContext
from watcherlite.execution.retries import retry_on_conflict

#: Fields that a request may change.
CHANGES = ('name', 'metadata')
#: Name of a profile that is only validated.
VALIDATED = 'validated_profile'


class ProfileOperations(ClusterOperationBase):
    """The operations on profiles; a name is a uuid, a name or a short id."""

    def create(
        self, name: Any, spec: Any, by: RequestContext, metadata: Values | None = None
    ) -> Profile:
        """Store a profile.

        :raises NotFound: there is no such type
        :raises InvalidSpec: the spec does not fit its type
        """
        wanted = values.parse_name(name)
        profile = self._profile(wanted, spec, by).evolve(
            uuid=events.new_uuid(), metadata=values.parse_mapping(metadata, 'metadata')
        )
        return self.insert_object(profile)

    def validate(self, spec: Any, by: RequestContext) -> Profile:
        """Return the profile that a spec makes, which has no uuid; store nothing.

        :raises InvalidSpec, NotFound: as `create`
        """
        return self._profile(VALIDATED, spec, by)

    def _profile(self, name: str, spec: Any, by: RequestContext) -> Profile:
        given = values.parse_mapping(spec, 'spec')
        try:
            checked = self.parts.profile_types.check(given)
        except exceptions.Invalid as error:
            raise exceptions.InvalidSpec(
                f'Failed in creating profile {name}: {error}'
            ) from None
        return Profile(
            uuid='',
            name=name,
            type=checked.type,
            handler=checked.handler,
            spec=given,
            owner=by.owner,
            created_at=self.clock.now(),
        )

    def update(self, name: str, by: RequestContext, changes: Values) -> Profile:
        """Change the name or the metadata of a profile; its spec never changes.

        :param changes: of CHANGES
        """
        values.check_known_keys(changes, CHANGES)
        wanted: dict[str, Any] = {}
        if changes.get('name') is not None:
            wanted['name'] = values.parse_name(changes['name'])
        if changes.get('metadata') is not None:
            wanted['metadata'] = values.parse_mapping(changes['metadata'], 'metadata')
        return self.update_object(Profile, name, by, wanted)

    @retry_on_conflict
    def delete(self, name: str, by: RequestContext) -> None:
        """Delete a profile; ResourceInUse while clusters or nodes are made of it."""
        row = self.store.find_object(Profile, name, by.tenant)
        with self.store.transaction() as tx:
            tx.delete_object(row)
