"""The operations that clusters and nodes have in common."""

import abc
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain.clusters import Profile
from watcherlite.engine.clusters.requests import action_inputs, values
from watcherlite.engine.clusters.requests.base import (
    ActionRequest,
    BuildInputs,
    Target,
    Values,
)
from watcherlite.engine.clusters.requests.deletion import TargetDeletion
from watcherlite.engine.clusters.requests.values import Accepted, RequestContext


class TargetOperations(TargetDeletion[Target], abc.ABC):
    """The operations on clusters or on nodes; a name is a uuid, a name or a short id.

    During other actions on the target a request is rejected (ResourceIsLocked,
    ActionConflict) unless its context has `wait`.

    :cvar parsers: the fields that an update may change, and the parser of each
    :cvar options: of an update besides its fields, likewise
    """

    parsers: ClassVar[Mapping[str, values.Parser]]
    options: ClassVar[Mapping[str, values.Parser]] = {}

    def update(
        self, name: str, by: RequestContext, changes: Values
    ) -> Accepted[Target]:
        """Change the target, and with another profile also its resources.

        :param changes: of `parsers`, `options` and `profile_id`
        :raises FeatureNotSupported: the status of the target does not allow it
        :raises BadRequest: nothing would change, or not to this profile
        """
        known = (*self.parsers, *self.options, 'profile_id')
        values.check_known_keys(changes, known)
        profile = None
        if changes.get('profile_id') is not None:
            profile = self.resolve_reference(Profile, str(changes['profile_id']), by)
        requested = values.parse_changes(changes, self.parsers)
        options = values.parse_changes(changes, self.options)

        def build_inputs(tx: Transaction, row: Target) -> Values:
            self._check_updatable(row)
            inputs = {k: v for k, v in requested.items() if v != getattr(row, k)}
            if profile is not None and self._is_outdated(tx, row, profile, options):
                self._check_profile_type(row, profile)
                inputs |= {'new_profile_id': profile.uuid, **options}
            if not inputs:
                raise exceptions.BadRequest('No property needs an update.')
            if 'name' in inputs:
                tenant = row.owner.tenant
                self.check_unique(tx, self.kind, inputs['name'], tenant, row.uuid)
            return inputs

        return self._request('UPDATE', name, by, build_inputs)

    def _check_updatable(self, row: Target) -> None:
        """Raise FeatureNotSupported if the status does not allow an update."""

    @abc.abstractmethod
    def _is_outdated(
        self, tx: Transaction, row: Target, profile: Profile, options: Values
    ) -> bool:
        """Return whether an update to a profile has something to do."""

    def _check_profile_type(self, row: Target, profile: Profile) -> None:
        if profile.type != self.parts.profile(row.profile_id).type:
            raise exceptions.BadRequest(
                f'Cannot update a {self.noun.lower()} to a different profile type, '
                'operation aborted.'
            )

    def check(
        self, name: str, by: RequestContext, params: Values | None = None
    ) -> Accepted[Target]:
        """Check a node, or all nodes of a cluster."""
        action_type = f'{self.noun}_CHECK'
        inputs = action_inputs.check(self.parts, action_type, params or {})
        return self._request('CHECK', name, by, lambda tx, row: inputs)

    def recover(
        self, name: str, by: RequestContext, params: Values | None = None
    ) -> Accepted[Target]:
        """Recover a node, or the nodes of a cluster that are not ACTIVE.

        :param params: see `action_inputs.recover`
        """
        action_type = f'{self.noun}_RECOVER'

        def build_inputs(tx: Transaction, row: Target) -> Values:
            profile = self.parts.profile(row.profile_id)
            return action_inputs.recover(self.parts, action_type, profile, params or {})

        return self._request('RECOVER', name, by, build_inputs)

    def operate(
        self,
        name: str,
        by: RequestContext,
        operation: Any,
        params: Values | None = None,
        filters: Values | None = None,
    ) -> Accepted[Target]:
        """Run an operation of the profile on a node, or on nodes of a cluster.

        :param filters: of a cluster: name, profile_id, status, role of the nodes
        """
        given = values.parse_mapping(params, 'params')

        def build_inputs(tx: Transaction, row: Target) -> Values:
            profile = self.parts.profile(row.profile_id)
            inputs = action_inputs.operate(self.parts, profile, str(operation), given)
            return {**inputs, **self._operated_nodes(tx, row, filters or {}, by)}

        return self._request('OPERATION', name, by, build_inputs, str(operation))

    def _operated_nodes(
        self, tx: Transaction, row: Target, filters: Values, by: RequestContext
    ) -> Values:
        """Return the input that names the nodes of an operation on a cluster."""
        return {}

    def _request(
        self,
        verb: str,
        name: str,
        by: RequestContext,
        build_inputs: BuildInputs[Target],
        operation: str | None = None,
    ) -> Accepted[Target]:
        request = ActionRequest(f'{self.noun}_{verb}', by, operation=operation)
        return self.request_action(self.kind, name, request, build_inputs)
