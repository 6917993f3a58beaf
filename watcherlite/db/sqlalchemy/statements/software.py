"""Statements on software configs and deployments; see `db.software`."""

from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db.query import Query
from watcherlite.db.software import (
    DeployedConfig,
    ListedConfig,
    ListedDeployment,
    config_not_found,
    deployment_not_found,
)
from watcherlite.db.sqlalchemy.constructs import LIMIT, ONE
from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.lists.queries import fetch_page
from watcherlite.db.sqlalchemy.mappers import (
    LISTED_SOFTWARE_CONFIGS,
    SOFTWARE_CONFIGS,
    SOFTWARE_DEPLOYMENTS,
)
from watcherlite.db.sqlalchemy.rows import split
from watcherlite.db.sqlalchemy.statements.group import StatementGroup
from watcherlite.db.sqlalchemy.tables.software import (
    software_configs,
    software_deployments,
)
from watcherlite.db.sqlalchemy.text import can_be_stored
from watcherlite.domain.software import (
    NewSoftwareConfig,
    NewSoftwareDeployment,
    SoftwareConfig,
    SoftwareDeployment,
)

_KEY: Any = sa.bindparam('key', type_=sa.BigInteger)
_UUID: Any = sa.bindparam('uuid', type_=sa.String)
_TENANT: Any = sa.bindparam('tenant', type_=sa.String)
_SERVER: Any = sa.bindparam('server_id', type_=sa.String)
_IS_CONFIG = (software_configs.c.uuid == _UUID, software_configs.c.tenant == _TENANT)
_HAS_UUID = software_deployments.c.uuid == _UUID
_OF_PROJECT = software_deployments.c.tenant == _TENANT
_OF_SERVER = (_OF_PROJECT, software_deployments.c.server_id == _SERVER)
_JOINED = software_configs.c.id == software_deployments.c.config_id

CONFIG = SOFTWARE_CONFIGS.select().where(*_IS_CONFIG)
# Conflicts with FOR UPDATE, which the deletion of a config takes.
LOCK_CONFIG = (
    sa.select(software_configs.c.id)
    .where(*_IS_CONFIG)
    .with_for_update(read=True, key_share=True)
)
LOCK_TO_DELETE = (
    sa.select(software_configs.c.id)
    .where(software_configs.c.id == _KEY)
    .with_for_update()
)
USES_OF_CONFIG = (
    sa.select(ONE).where(software_deployments.c.config_id == _KEY).limit(ONE)
)
DELETE_CONFIG = sa.delete(software_configs).where(software_configs.c.id == _KEY)
COUNT_CONFIGS = (
    sa.select(sa.func.count())
    .select_from(software_configs)
    .where(software_configs.c.tenant == _TENANT)
)
_LISTED = sa.select(*SOFTWARE_DEPLOYMENTS.columns, software_configs.c.uuid).join_from(
    software_deployments, software_configs, _JOINED
)
#: Whether the project is given -> the statement.
DEPLOYMENT = {
    False: _LISTED.where(_HAS_UUID),
    True: _LISTED.where(_HAS_UUID, _OF_PROJECT),
}
LOCK_DEPLOYMENT = (
    SOFTWARE_DEPLOYMENTS.select().where(_HAS_UUID, _OF_PROJECT).with_for_update()
)
# Not locked: it never changes, and is not deleted before its deployments.
CONFIG_BY_ID = SOFTWARE_CONFIGS.select().where(software_configs.c.id == _KEY)
_DEPLOYED = sa.select(
    *SOFTWARE_DEPLOYMENTS.columns, *SOFTWARE_CONFIGS.columns
).join_from(software_deployments, software_configs, _JOINED)
OF_SERVER = (
    _DEPLOYED.where(*_OF_SERVER)
    .order_by(software_configs.c.name, software_deployments.c.id)
    .limit(LIMIT)
)
DELETE_DEPLOYMENT = sa.delete(software_deployments).where(
    software_deployments.c.id == _KEY
)
_COUNT = sa.select(sa.func.count()).select_from(software_deployments)
COUNT_DEPLOYMENTS = _COUNT.where(_OF_PROJECT)
COUNT_DEPLOYMENTS_OF_SERVER = _COUNT.where(*_OF_SERVER)
#: Columns of deployments that never change.
_CONSTANT = frozenset({'uuid', 'tenant', 'server_id', 'signal_token', 'created_at'})


class SoftwareStatements(StatementGroup):
    """Implementation of `db.software.SoftwareTransaction`."""

    def insert_software_config(self, config: NewSoftwareConfig) -> SoftwareConfig:
        values = SOFTWARE_CONFIGS.by_column(config)
        return config.stored(self._session.insert_row(software_configs, values))

    def lock_software_config(self, uuid: str, tenant: str) -> int:
        if can_be_stored(uuid):
            for row in self._session.rows(LOCK_CONFIG, uuid=uuid, tenant=tenant):
                return int(row[0])
        raise config_not_found(uuid)

    def delete_software_config(self, config: SoftwareConfig) -> None:
        self._session.rows(LOCK_TO_DELETE, key=config.id)
        if self._session.rows(USES_OF_CONFIG, key=config.id):
            raise exceptions.Conflict(
                f'Software config with id {config.uuid} can not be deleted as it is '
                'referenced: delete its deployments first.'
            )
        self._session.count(DELETE_CONFIG, key=config.id)

    def insert_software_deployment(
        self, deployment: NewSoftwareDeployment
    ) -> SoftwareDeployment:
        values = SOFTWARE_DEPLOYMENTS.by_column(deployment)
        return deployment.stored(self._session.insert_row(software_deployments, values))

    def lock_software_deployment(self, uuid: str, tenant: str) -> DeployedConfig:
        if can_be_stored(uuid):
            for row in self._session.rows(LOCK_DEPLOYMENT, uuid=uuid, tenant=tenant):
                deployment = SOFTWARE_DEPLOYMENTS.read(row)
                key = deployment.config_id
                (config,) = self._session.rows(CONFIG_BY_ID, key=key)
                return DeployedConfig(deployment, SOFTWARE_CONFIGS.read(config))
        raise deployment_not_found(uuid)

    def save_software_deployment(self, deployment: SoftwareDeployment) -> None:
        values = SOFTWARE_DEPLOYMENTS.by_column(deployment)
        changed = {n: value for n, value in values.items() if n not in _CONSTANT}
        self._session.update_row(software_deployments, deployment.id, changed)

    def delete_software_deployment(self, deployment: SoftwareDeployment) -> None:
        self._session.count(DELETE_DEPLOYMENT, key=deployment.id)

    def count_software_configs(self, tenant: str) -> int:
        return int(self._session.rows(COUNT_CONFIGS, tenant=tenant)[0][0])

    def count_software_deployments(
        self, tenant: str, server_id: str | None = None
    ) -> int:
        if server_id is None:
            rows = self._session.rows(COUNT_DEPLOYMENTS, tenant=tenant)
        else:
            rows = self._session.rows(
                COUNT_DEPLOYMENTS_OF_SERVER, tenant=tenant, server_id=server_id
            )
        return int(rows[0][0])


class SqlSoftwareStore:
    """Implementation of `db.software.SoftwareStore`."""

    _db: Database

    def find_software_config(self, uuid: str, tenant: str) -> SoftwareConfig:
        if can_be_stored(uuid):
            for row in self._db.rows(CONFIG, uuid=uuid, tenant=tenant):
                return SOFTWARE_CONFIGS.read(row)
        raise config_not_found(uuid)

    def list_software_configs(self, query: Query) -> list[ListedConfig]:
        rows = fetch_page(self._db, 'software_configs', query, config_not_found)
        return list(map(LISTED_SOFTWARE_CONFIGS.read, rows))

    def find_software_deployment(
        self, uuid: str, tenant: str | None
    ) -> ListedDeployment:
        values = {} if tenant is None else {'tenant': tenant}
        if can_be_stored(uuid):
            statement = DEPLOYMENT[tenant is not None]
            for row in self._db.rows(statement, uuid=uuid, **values):
                return _listed(row)
        raise deployment_not_found(uuid)

    def list_software_deployments(self, query: Query) -> list[ListedDeployment]:
        rows = fetch_page(self._db, 'software_deployments', query, deployment_not_found)
        return list(map(_listed, rows))

    def deployments_of_server(
        self, server_id: str, tenant: str, limit: int
    ) -> list[DeployedConfig]:
        if not can_be_stored(server_id):
            return []
        rows = self._db.rows(OF_SERVER, server_id=server_id, tenant=tenant, limit=limit)
        return list(map(_deployed, rows))


def _listed(row: Any) -> ListedDeployment:
    return ListedDeployment(SOFTWARE_DEPLOYMENTS.read(row[:-1]), row[-1])


def _deployed(row: Any) -> DeployedConfig:
    return DeployedConfig(*split(row, SOFTWARE_DEPLOYMENTS, SOFTWARE_CONFIGS))
