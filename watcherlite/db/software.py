"""The interface of the store for software configs and deployments."""

import dataclasses
import datetime
from typing import Protocol

from watcherlite import exceptions
from watcherlite.db.query import Query
from watcherlite.domain.software import (
    NewSoftwareConfig,
    NewSoftwareDeployment,
    SoftwareConfig,
    SoftwareDeployment,
)

#: Filters of deployments; there are none of configs.
DEPLOYMENT_FILTERS = ('server_id',)


@dataclasses.dataclass(frozen=True, slots=True)
class ListedConfig:
    """A software config of a list, without its documents, which may be large."""

    uuid: str
    tenant: str
    name: str
    group: str
    created_at: datetime.datetime


@dataclasses.dataclass(frozen=True, slots=True)
class ListedDeployment:
    """A software deployment, with the uuid of its config."""

    deployment: SoftwareDeployment
    config_uuid: str


@dataclasses.dataclass(frozen=True, slots=True)
class DeployedConfig:
    """A software deployment with its config."""

    deployment: SoftwareDeployment
    config: SoftwareConfig


def config_not_found(uuid: str) -> exceptions.NotFound:
    """Return the error for a config that does not exist in the caller's project."""
    return exceptions.NotFound(f'Software config with id {uuid} not found')


def deployment_not_found(uuid: str) -> exceptions.NotFound:
    """Return the error for a deployment that does not exist in the caller's project."""
    return exceptions.NotFound(f'Deployment with id {uuid} not found')


class SoftwareTransaction(Protocol):
    """The methods of `db.api.Transaction` for software configs and deployments."""

    def insert_software_config(self, config: NewSoftwareConfig) -> SoftwareConfig:
        """Insert a config; return it with its id."""

    def lock_software_config(self, uuid: str, tenant: str) -> int:
        """Return the id of a config, which exists until the end of the transaction.

        :raises NotFound: the project has no such config
        """

    def delete_software_config(self, config: SoftwareConfig) -> None:
        """Delete a config if it exists; raise Conflict if a deployment has it."""

    def insert_software_deployment(
        self, deployment: NewSoftwareDeployment
    ) -> SoftwareDeployment:
        """Insert a deployment; return it with its id. Lock its config before."""

    def lock_software_deployment(self, uuid: str, tenant: str) -> DeployedConfig:
        """Lock and return a deployment, with its config.

        :raises NotFound: the project has no such deployment
        """

    def save_software_deployment(self, deployment: SoftwareDeployment) -> None:
        """Write a deployment that this transaction has locked."""

    def delete_software_deployment(self, deployment: SoftwareDeployment) -> None:
        """Delete a deployment if it exists."""

    def count_software_configs(self, tenant: str) -> int:
        """Return the number of configs of a project."""

    def count_software_deployments(
        self, tenant: str, server_id: str | None = None
    ) -> int:
        """Return the number of deployments of a project.

        :param server_id: only of this server
        """


class SoftwareStore(Protocol):
    """The methods of `db.api.Store` for software configs and deployments."""

    def find_software_config(self, uuid: str, tenant: str) -> SoftwareConfig:
        """Return a config; raise NotFound if the project has no such config."""

    def list_software_configs(self, query: Query) -> list[ListedConfig]:
        """Return a page of configs, the newest first.

        :raises NotFound: the project has no config `Query.after`
        """

    def find_software_deployment(
        self, uuid: str, tenant: str | None
    ) -> ListedDeployment:
        """Return a deployment.

        :param tenant: None: of any project
        :raises NotFound: there is no such deployment
        """

    def list_software_deployments(self, query: Query) -> list[ListedDeployment]:
        """Return a page of deployments, the oldest first.

        :raises NotFound: the project has no deployment `Query.after`
        """

    def deployments_of_server(
        self, server_id: str, tenant: str, limit: int
    ) -> list[DeployedConfig]:
        """Return the first deployments of a project for a server, with their configs.

        By the names of the configs; one statement.
        """
