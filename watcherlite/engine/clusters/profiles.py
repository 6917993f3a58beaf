"""What users do with profiles; see `operations`."""

from typing import Any

from watcherlite import exceptions
from watcherlite.domain import events
from watcherlite.domain.clusters import Profile
from watcherlite.engine.clusters import asking
from watcherlite.engine.clusters.asking import Asker
from watcherlite.engine.clusters.requesting import Requests, Values
from watcherlite.execution.conflicts import again_on_conflict

#: What of a profile a request may change.
CHANGES = ('name', 'metadata')
#: How one is called that was only looked at.
VALIDATED = 'validated_profile'


class ProfileOperations(Requests):
    """The operations on profiles; a name is a uuid, a name or a short id."""

    def create(
        self, name: Any, spec: Any, by: Asker, metadata: Values | None = None
    ) -> Profile:
        """Store a profile.

        :raises NotFound: there is no such type
        :raises InvalidSpec: the spec does not fit its type
        """
        wanted = asking.name_of(name)
        profile = self._profile(wanted, spec, by).evolve(
            uuid=events.new_uuid(), metadata=asking.mapping_of(metadata, 'metadata')
        )
        return self.store_noun(profile)

    def validate(self, spec: Any, by: Asker) -> Profile:
        """Return the profile that a spec makes, which has no uuid; store nothing.

        :raises InvalidSpec, NotFound: as `create`
        """
        return self._profile(VALIDATED, spec, by)

    def _profile(self, name: str, spec: Any, by: Asker) -> Profile:
        given = asking.mapping_of(spec, 'spec')
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

    def update(self, name: str, by: Asker, changes: Values) -> Profile:
        """Change the name or the metadata of a profile; its spec never changes.

        :param changes: of CHANGES
        """
        asking.known_keys(changes, CHANGES)
        wanted: dict[str, Any] = {}
        if changes.get('name') is not None:
            wanted['name'] = asking.name_of(changes['name'])
        if changes.get('metadata') is not None:
            wanted['metadata'] = asking.mapping_of(changes['metadata'], 'metadata')
        return self.change_noun(Profile, name, by, wanted)

    @again_on_conflict
    def delete(self, name: str, by: Asker) -> None:
        """Delete a profile; ResourceInUse while clusters or nodes are made of it."""
        row = self.store.find_noun(Profile, name, by.tenant)
        with self.store.transaction() as tx:
            tx.delete_noun(row)
