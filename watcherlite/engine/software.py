"""The operations of users on software configs and deployments outside of stacks.

A deployment is read by its server and changes nothing by itself: no action executes it.
"""

import json
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.db.software import DeployedConfig
from watcherlite.domain import bearer_tokens, software
from watcherlite.domain.events import new_uuid
from watcherlite.domain.software import (
    MAX_PER_SERVER,
    MAX_REASON,
    MAX_SIZE,
    NewSoftwareConfig,
    NewSoftwareDeployment,
    SoftwareConfig,
)
from watcherlite.engine.stacks.services import StackLimits
from watcherlite.execution.retries import retry_on_conflict

#: The error for an unknown signal URL, and for one with a wrong token.
NO_SIGNAL = (
    'No software deployment has this signal URL: it is deleted, or the token in the '
    'address is missing or wrong.'
)
#: The fields of a deployment that a request may change, beside its config.
_CHANGEABLE = ('action', 'status', 'status_reason', 'input_values', 'output_values')


def read_deployments(
    store: Store, server_id: str, tenant: str, root_url: str
) -> list[tuple[dict[str, Any], DeployedConfig]]:
    """Return the configs that are deployed to a server by the API, sorted by name.

    Each as the server reads it, and with the rows. It is one statement, because servers
    poll it.

    :param root_url: of the API, as the server reaches it
    """
    return [
        (software.deployed_config(found.config, found.deployment, root_url), found)
        for found in store.deployments_of_server(server_id, tenant, MAX_PER_SERVER)
    ]


class SoftwareOperations:
    """The operations on software configs and deployments."""

    def __init__(self, store: Store, clock: Clock, limits: StackLimits) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits

    # configs

    def create_config(self, tenant: str, values: Mapping[str, Any]) -> SoftwareConfig:
        """Store a config.

        :param values: `name`, `group`, `config`, `inputs`, `outputs` and `options`;
            null and omitted ones have a default
        :raises Invalid: the config is too large
        :raises RequestLimitExceeded: the project has reached its quota
        """
        new = NewSoftwareConfig(
            uuid=new_uuid(),
            tenant=tenant,
            name=values.get('name') or '',
            group=values.get('group') or software.UNGROUPED,
            config=values.get('config') or '',
            inputs=list(map(_declared_input, values.get('inputs') or ())),
            outputs=list(map(_declared_output, values.get('outputs') or ())),
            options=values.get('options') or {},
            created_at=self._clock.now(),
        )
        parts = (new.config, new.inputs, new.outputs, new.options)
        _check_size(parts, f'The software config {new.name}')
        return self._insert_config(new)

    @retry_on_conflict
    def _insert_config(self, new: NewSoftwareConfig) -> SoftwareConfig:
        with self._store.transaction() as tx:
            quota = self._limits.software_configs
            if quota:
                tx.lock_tenant(new.tenant)
                if tx.count_software_configs(new.tenant) >= quota:
                    raise _over_quota(quota, 'software configs')
            return tx.insert_software_config(new)

    @retry_on_conflict
    def delete_config(self, uuid: str, tenant: str) -> None:
        """Delete a config.

        :raises NotFound: the project has no such config
        :raises Conflict: a deployment has it
        """
        config = self._store.find_software_config(uuid, tenant)
        with self._store.transaction() as tx:
            tx.delete_software_config(config)

    # deployments

    def create_deployment(self, tenant: str, values: Mapping[str, Any]) -> str:
        """Store a deployment; return its uuid.

        :param values: `server_id` and `config_id`; `input_values`, `action`, `status`
            and `status_reason` have a default if they are null or omitted
        :raises Invalid: the project has no such config, or the values are too large
        :raises RequestLimitExceeded: the project has reached its quota
        """
        new = NewSoftwareDeployment(
            uuid=new_uuid(),
            tenant=tenant,
            server_id=values['server_id'],
            config_id=0,
            action=values.get('action') or software.INIT,
            status=values.get('status') or software.COMPLETE,
            status_reason=values.get('status_reason') or '',
            input_values=values.get('input_values') or {},
            output_values=None,
            signal_token=bearer_tokens.new_token(),
            created_at=self._clock.now(),
        )
        _check_size(new.input_values, 'The input_values')
        self._insert_deployment(new, values['config_id'])
        return new.uuid

    @retry_on_conflict
    def _insert_deployment(self, new: NewSoftwareDeployment, config: str) -> None:
        with self._store.transaction() as tx:
            tx.lock_tenant(new.tenant)
            quota = self._limits.software_deployments
            if quota and tx.count_software_deployments(new.tenant) >= quota:
                raise _over_quota(quota, 'software deployments')
            of_server = tx.count_software_deployments(new.tenant, new.server_id)
            if of_server >= MAX_PER_SERVER:
                raise exceptions.RequestLimitExceeded(
                    f'Server {new.server_id} has reached its limit of {MAX_PER_SERVER} '
                    'software deployments: delete some first.'
                )
            config_id = _lock_config(tx, config, new.tenant)
            tx.insert_software_deployment(new.evolve(config_id=config_id))

    @retry_on_conflict
    def update_deployment(
        self, uuid: str, tenant: str, changes: Mapping[str, Any]
    ) -> None:
        """Change a deployment; the server reads its new config and inputs.

        :param changes: the fields of `create_deployment` without `server_id`, and
            `output_values`; null and empty ones change nothing
        :raises NotFound: the project has no such deployment
        :raises Invalid: see `create_deployment`
        """
        changed = {name: changes[name] for name in _CHANGEABLE if changes.get(name)}
        for name in ('input_values', 'output_values'):
            _check_size(changed.get(name), f'The {name}')
        with self._store.transaction() as tx:
            before = tx.lock_software_deployment(uuid, tenant).deployment
            if changes.get('config_id'):
                config = changes['config_id']
                changed['config_id'] = _lock_config(tx, config, tenant)
            after = before.evolve(**changed, updated_at=self._clock.now())
            tx.save_software_deployment(after)

    @retry_on_conflict
    def delete_deployment(self, uuid: str, tenant: str) -> None:
        """Delete a deployment, and keep its config.

        :raises NotFound: the project has no such deployment
        """
        deployment = self._store.find_software_deployment(uuid, tenant).deployment
        with self._store.transaction() as tx:
            tx.delete_software_deployment(deployment)

    def signal(
        self, uuid: str, token: str | None, details: Mapping[str, Any] | None
    ) -> None:
        """Store the results that the server of a deployment sends.

        They are ignored unless the deployment is IN_PROGRESS, as a server may repeat
        them.

        :raises NotFound: there is no such deployment, or the token is wrong
        :raises Invalid: the results are too large
        """
        try:
            found = self._store.find_software_deployment(uuid, None).deployment
        except exceptions.NotFound:
            raise exceptions.NotFound(NO_SIGNAL) from None
        digest = bearer_tokens.digest_of(found.signal_token)
        if not bearer_tokens.is_valid(token, digest):
            raise exceptions.NotFound(NO_SIGNAL)
        self.store_results(uuid, found.tenant, details or {})

    @retry_on_conflict
    def store_results(self, uuid: str, tenant: str, details: Mapping[str, Any]) -> None:
        """Store the results of a deployment, unless it is not IN_PROGRESS.

        :raises NotFound: the project has no such deployment
        :raises Invalid: the results are too large
        """
        _check_size(details, 'The signal')
        with self._store.transaction() as tx:
            locked = tx.lock_software_deployment(uuid, tenant)
            if locked.deployment.status == software.IN_PROGRESS:
                self._store_results(tx, locked, details)

    def _store_results(
        self, tx: Transaction, found: DeployedConfig, details: Mapping[str, Any]
    ) -> None:
        values, failure = software.read_signal(found.config.outputs, details)
        after = found.deployment.evolve(
            output_values={**(found.deployment.output_values or {}), **values},
            status=software.FAILED if failure else software.COMPLETE,
            status_reason=(failure or software.RECEIVED)[:MAX_REASON],
            updated_at=self._clock.now(),
        )
        tx.save_software_deployment(after)


def _declared_input(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an input as it is stored: without null fields, but with a null value."""
    kept = {k: v for k, v in item.items() if v is not None or k == 'value'}
    if not kept.get('replace_on_change'):
        kept.pop('replace_on_change', None)
    return {'type': software.STRING, **kept}


def _declared_output(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an output as it is stored: without null fields."""
    kept = {name: value for name, value in item.items() if value is not None}
    return {'type': software.STRING, 'error_output': False, **kept}


def _lock_config(tx: Transaction, uuid: str, tenant: str) -> int:
    """Return the id of the config of a deployment; raise Invalid without it."""
    try:
        return tx.lock_software_config(uuid, tenant)
    except exceptions.NotFound:
        raise exceptions.Invalid(f'Config with id {uuid} not found') from None


def _check_size(value: Any, title: str) -> None:
    size = len(json.dumps(value))
    if size > MAX_SIZE:
        raise exceptions.Invalid(
            f'{title} has {size} characters as JSON; the limit is {MAX_SIZE}'
        )


def _over_quota(quota: int, noun: str) -> exceptions.RequestLimitExceeded:
    return exceptions.RequestLimitExceeded(
        f'The project has reached its limit of {quota} {noun}: delete some first.'
    )
