"""The number of statements on software configs and deployments, and their indexes."""

from collections.abc import Callable
from typing import Any

from tests.contract.store_software import SERVER, TENANT, make_config, make_deployment
from tests.functional.db import counting, stores
from watcherlite.db.query import Query


class SoftwareStatementTests(counting.CountingTests):
    """Statements on software; databases differ in the class attributes."""

    def insert(self) -> tuple[Any, Any]:
        """Store deployments of many servers; return a config and a deployment."""
        with self.store.transaction() as tx:
            configs = [tx.insert_software_config(make_config()) for _ in range(10)]
            for number in range(400):
                tenant = TENANT if number % 2 else f'project-{number}'
                new = make_deployment(
                    configs[0], tenant=tenant, server_id=f'server-{number}'
                )
                tx.insert_software_deployment(new)
            deployment = tx.insert_software_deployment(make_deployment(configs[1]))
        return configs[1], deployment

    def analyze(self) -> None:
        """Collect statistics, if they decide on the index."""

    def test_each_query_is_one_statement_that_locks_nothing(self) -> None:
        config, deployment = self.insert()
        of_server = Query(tenant=TENANT, filters={'server_id': SERVER}, limit=10)
        reads: dict[str, Callable[[], Any]] = {
            'find_config': lambda: self.store.find_software_config(config.uuid, TENANT),
            'list_configs': lambda: self.store.list_software_configs(
                Query(tenant=TENANT, after=config.uuid, limit=10)
            ),
            'find_deployment': lambda: self.store.find_software_deployment(
                deployment.uuid, TENANT
            ),
            'list_deployments': lambda: self.store.list_software_deployments(of_server),
            'deployments_of_server': lambda: self.store.deployments_of_server(
                SERVER, TENANT, 10
            ),
        }
        for name, read in reads.items():
            with self.texts() as found:
                self.assertTrue(read(), name)
            self.assertEqual(1, len(found), name)
            self.assertNotRegex(found[0], 'FOR |LOCK IN', name)

    def test_the_deployments_of_a_server_are_read_from_their_index(self) -> None:
        self.insert()
        self.analyze()
        of_server = Query(tenant=TENANT, filters={'server_id': SERVER}, limit=10)

        for read in (
            lambda: self.store.deployments_of_server(SERVER, TENANT, 10),
            lambda: self.store.list_software_deployments(of_server),
        ):
            query_plan = self.explained_call(read)
            self.assertIn('ix_software_deployments_tenant_server_id_id', query_plan)
            self.assertNotRegex(
                query_plan,
                r'Seq Scan on software_dep|SCAN software_dep|software_deployments\nALL',
            )


class SqliteSoftwareStatementTest(SoftwareStatementTests, stores.SqliteDatabase):
    explain = 'EXPLAIN QUERY PLAN'


class MysqlSoftwareStatementTest(SoftwareStatementTests, stores.MysqlDatabase):
    pass


class PostgresqlSoftwareStatementTest(
    SoftwareStatementTests, stores.PostgresqlDatabase
):
    def analyze(self) -> None:
        with self.store.engine.begin() as connection:
            connection.exec_driver_sql('ANALYZE software_deployments')
