"""Contract of the store: software configs and deployments."""

from typing import Any

from tests.contract.store_case import StoreCase
from tests.factories import NOW, at, new_uuid
from watcherlite import exceptions
from watcherlite.db.query import Query
from watcherlite.db.software import DeployedConfig, ListedConfig, ListedDeployment
from watcherlite.domain.software import (
    COMPLETE,
    IN_PROGRESS,
    NewSoftwareConfig,
    NewSoftwareDeployment,
    SoftwareConfig,
    SoftwareDeployment,
)

TENANT, OTHER = 'project-a', 'project-b'
SERVER = 'server-1'


def make_config(**values: Any) -> NewSoftwareConfig:
    """Return a new software config of one of the tenants."""
    given: dict[str, Any] = {
        'uuid': new_uuid(),
        'tenant': TENANT,
        'name': 'install',
        'group': 'script',
        'config': '#!/bin/sh\necho ž 🚀',
        'inputs': [{'name': 'password', 'type': 'String', 'value': 's3cret'}],
        'outputs': [{'name': 'result', 'type': 'String', 'error_output': False}],
        'options': {'a': [1, None]},
        'created_at': NOW,
        **values,
    }
    return NewSoftwareConfig(**given)


def make_deployment(config: SoftwareConfig, **values: Any) -> NewSoftwareDeployment:
    """Return a new deployment of a software config."""
    given: dict[str, Any] = {
        'uuid': new_uuid(),
        'tenant': config.tenant,
        'server_id': SERVER,
        'config_id': config.id,
        'action': 'CREATE',
        'status': IN_PROGRESS,
        'status_reason': 'Deploy data available',
        'input_values': {'password': 's3cret'},
        'output_values': None,
        'signal_token': 't' * 43,
        'created_at': NOW,
        **values,
    }
    return NewSoftwareDeployment(**given)


class StoreSoftwareContract(StoreCase):
    """Software configs and deployments belong to a project until they are deleted."""

    def insert_config(self, **values: Any) -> SoftwareConfig:
        return self.commit(lambda tx: tx.insert_software_config(make_config(**values)))

    def insert_deployment(
        self, config: SoftwareConfig, **values: Any
    ) -> SoftwareDeployment:
        new = make_deployment(config, **values)
        return self.commit(lambda tx: tx.insert_software_deployment(new))

    def test_a_software_config_is_found_in_its_project_until_it_is_deleted(
        self,
    ) -> None:
        config = self.insert_config()
        structured = self.insert_config(config={'a': {'get_input': 'b'}}, options={})

        found = [
            self.store.find_software_config(one.uuid, TENANT)
            for one in (config, structured)
        ]
        self.assertEqual([config, structured], found)
        for uuid, tenant in ((config.uuid, OTHER), (new_uuid(), TENANT), ('\0', OTHER)):
            self.assertRaisesRegex(
                exceptions.NotFound,
                f'Software config with id {uuid} not found',
                self.store.find_software_config,
                uuid,
                tenant,
            )
        for _ in range(2):
            self.commit(lambda tx: tx.delete_software_config(config))
        self.assertRaises(
            exceptions.NotFound, self.store.find_software_config, config.uuid, TENANT
        )

    def test_software_configs_are_listed_by_project_the_newest_first(self) -> None:
        configs = [self.insert_config(name=f'c{n}') for n in range(3)]
        foreign = self.insert_config(tenant=OTHER)

        def names(**query: Any) -> list[str]:
            found = self.store.list_software_configs(Query(**query))
            return [config.name for config in found]

        self.assertEqual(['c2', 'c1', 'c0'], names(tenant=TENANT))
        self.assertEqual(['c2', 'c1'], names(tenant=TENANT, limit=2))
        self.assertEqual(['c0'], names(tenant=TENANT, after=configs[1].uuid))
        self.assertEqual(['install', 'c2', 'c1', 'c0'], names())
        self.assertEqual(
            [ListedConfig(foreign.uuid, OTHER, 'install', 'script', NOW)],
            self.store.list_software_configs(Query(tenant=OTHER)),
        )
        self.assertRaises(
            exceptions.NotFound,
            self.store.list_software_configs,
            Query(tenant=TENANT, after=foreign.uuid),
        )

    def test_a_software_config_with_deployments_is_not_deleted(self) -> None:
        config = self.insert_config()
        deployment = self.insert_deployment(config)

        def delete() -> bool:
            return self.is_committed(lambda tx: tx.delete_software_config(config))

        self.assertFalse(delete())
        self.assertEqual(config, self.store.find_software_config(config.uuid, TENANT))
        for _ in range(2):
            self.commit(lambda tx: tx.delete_software_deployment(deployment))
        self.assertTrue(delete())

    def test_the_id_of_a_locked_software_config_is_of_the_project(self) -> None:
        config = self.insert_config()

        def lock(tenant: str) -> int:
            return self.commit(lambda tx: tx.lock_software_config(config.uuid, tenant))

        self.assertEqual(config.id, lock(TENANT))
        self.assertRaises(exceptions.NotFound, lock, OTHER)

    def test_a_software_deployment_is_found_and_changed_in_its_project(self) -> None:
        config, second = self.insert_config(), self.insert_config()
        deployment = self.insert_deployment(config)

        def change(tenant: str) -> tuple[DeployedConfig, SoftwareDeployment]:
            def block(tx: Any) -> tuple[DeployedConfig, SoftwareDeployment]:
                found = tx.lock_software_deployment(deployment.uuid, tenant)
                after = found.deployment.evolve(
                    config_id=second.id,
                    action='UPDATE',
                    status=COMPLETE,
                    status_reason='password=s3cret',
                    input_values={},
                    output_values={'token': 'abc', 'deploy_status_code': 0},
                    updated_at=at(1),
                )
                tx.save_software_deployment(after)
                return found, after

            return self.commit(block)

        listed = self.store.find_software_deployment(deployment.uuid, None)
        self.assertEqual(ListedDeployment(deployment, config.uuid), listed)
        before, after = change(TENANT)
        self.assertEqual(DeployedConfig(deployment, config), before)
        self.assertEqual(
            ListedDeployment(after, second.uuid),
            self.store.find_software_deployment(deployment.uuid, TENANT),
        )
        self.assertRaises(exceptions.NotFound, change, OTHER)
        self.assertRaisesRegex(
            exceptions.NotFound,
            f'Deployment with id {deployment.uuid} not found',
            self.store.find_software_deployment,
            deployment.uuid,
            OTHER,
        )

    def test_software_deployments_are_listed_by_server_the_oldest_first(self) -> None:
        config = self.insert_config()
        first, second = (self.insert_deployment(config) for _ in range(2))
        elsewhere = self.insert_deployment(config, server_id='server-2')
        foreign = self.insert_deployment(self.insert_config(tenant=OTHER))

        def uuids(**query: Any) -> list[str]:
            found = self.store.list_software_deployments(Query(**query))
            return [one.deployment.uuid for one in found]

        here = {'server_id': SERVER}
        mine = [first.uuid, second.uuid, elsewhere.uuid]
        self.assertEqual(mine, uuids(tenant=TENANT))
        self.assertEqual([*mine, foreign.uuid], uuids())
        self.assertEqual(mine[:2], uuids(tenant=TENANT, filters=here))
        self.assertEqual(
            mine[1:2], uuids(tenant=TENANT, filters=here, after=first.uuid, limit=5)
        )
        self.assertEqual([], uuids(tenant=TENANT, filters={'server_id': 'none'}))
        self.assertEqual(
            [ListedDeployment(elsewhere, config.uuid)],
            self.store.list_software_deployments(
                Query(tenant=TENANT, filters={'server_id': 'server-2'})
            ),
        )
        self.assertRaises(exceptions.NotFound, uuids, tenant=TENANT, after=foreign.uuid)

    def test_the_deployments_of_a_server_are_sorted_by_the_names_of_their_configs(
        self,
    ) -> None:
        late, early = (self.insert_config(name=name) for name in ('2', '1'))
        found = [self.insert_deployment(config) for config in (late, early, early)]
        self.insert_deployment(late, server_id='server-2')
        self.insert_deployment(self.insert_config(tenant=OTHER))

        expected = [
            DeployedConfig(found[1], early),
            DeployedConfig(found[2], early),
            DeployedConfig(found[0], late),
        ]
        self.assertEqual(expected, self.store.deployments_of_server(SERVER, TENANT, 10))
        self.assertEqual(
            expected[:1], self.store.deployments_of_server(SERVER, TENANT, 1)
        )
        self.assertEqual([], self.store.deployments_of_server('\0', TENANT, 1))

    def test_software_configs_and_deployments_are_counted(self) -> None:
        config = self.insert_config()
        for server in (SERVER, SERVER, 'server-2'):
            self.insert_deployment(config, server_id=server)

        with self.store.transaction() as tx:
            counts = (
                tx.count_software_configs(TENANT),
                tx.count_software_configs(OTHER),
                tx.count_software_deployments(TENANT),
                tx.count_software_deployments(TENANT, SERVER),
                tx.count_software_deployments(OTHER, SERVER),
            )
        self.assertEqual((1, 0, 3, 2, 0), counts)
