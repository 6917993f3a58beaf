"""A page of the clustering API takes a constant number of statements."""

import sqlalchemy

from tests import base
from tests.functional.api import fixtures
from tests.unit.api.requests import ask
from watcherlite.domain.clusters import Owner
from watcherlite.engine.clusters.requests.values import (
    ClusterRequest,
    NodeRequest,
    ReceiverRequest,
    RequestContext,
)

SPEC = {'type': 'os.heat.value', 'version': '1.0', 'properties': {'value': 'x'}}
#: noun -> statements: one for the page, others for the referenced rows.
COSTS = {'profiles': 1, 'clusters': 4, 'nodes': 3, 'receivers': 2, 'actions': 2}


class TestStatementCounts(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.fixture = fixtures.ApiFixture.of(self)
        self.clusters = self.fixture.runtime.clusters
        self.by = RequestContext(Owner('default', 'ada'), True, wait=True)
        self.statements: list[str] = []
        listener = (
            self.fixture.runtime.store.engine,
            'before_cursor_execute',
            self._record,
        )
        sqlalchemy.event.listen(*listener)
        self.addCleanup(sqlalchemy.event.remove, *listener)

    def _record(self, connection, cursor, statement, *rest) -> None:
        if statement.lstrip().upper().startswith('SELECT'):
            self.statements.append(statement)

    def make(self, name: str) -> None:
        """Store an object of each kind, with a profile of its own."""
        self.clusters.profiles.create(f'p-{name}', SPEC, self.by)
        made = self.clusters.create(ClusterRequest(f'c-{name}', f'p-{name}'), self.by)
        member = NodeRequest(f'n-{name}', f'p-{name}', made.row.uuid)
        self.clusters.nodes.create(member, self.by)
        new = ReceiverRequest(f'r-{name}', 'webhook', made.row.uuid, 'CLUSTER_CHECK')
        self.clusters.receivers.create(new, self.by, 'http://127.0.0.1/v1')

    def costs(self) -> dict[str, int]:
        """Return the number of statements of each list."""
        found = {}
        for noun in COSTS:
            self.statements.clear()
            answer = ask(
                *(fixtures.application(), 'GET', f'/clustering/v1/{noun}'),
                Host='localhost',
                OpenStack_API_Version='clustering 1.15',
            )
            self.assertEqual(200, answer.status)
            found[noun] = len(self.statements)
        return found

    def test_lists_take_same_number_of_statements_for_one_and_many_rows(self) -> None:
        self.make('a')
        first = self.costs()
        for name in 'bcdef':
            self.make(name)

        self.assertEqual((COSTS, COSTS), (first, self.costs()))
