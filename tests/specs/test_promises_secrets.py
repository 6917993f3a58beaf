"""The guarantee that the database contains no credential in clear text."""

from typing import TYPE_CHECKING, Any

from tests.cluster_worlds import BY
from tests.functional.db import raw, stores
from tests.functional.db.stores import POSTGRESQL, define_tests
from tests.operated_worlds import OperatedWorld
from tests.specs.database_case import OnDatabase
from tests.specs.test_stacks_in_plans import PlanWorld
from tests.stack_worlds import StackWorldCase, res
from tests.worlds import action, kind
from watcherlite.db.sqlalchemy.store import SqlStore
from watcherlite.domain.clusters import Receiver
from watcherlite.domain.outcomes import Done, Retry
from watcherlite.engine.clusters.requests.values import ReceiverRequest
from watcherlite.plugins.resource_handlers.random_string import RandomString
from watcherlite.states import stack as states

if TYPE_CHECKING:
    Base = StackWorldCase
else:
    # The mixin precedes the real base class.
    Base = object

#: The secrets to search for: unlike any other stored text, and valid base64 inside.
CANARIES = tuple(f'canary{n}c1f0a7b3' for n in range(4))
FIRST, SECOND, THIRD, FOURTH = CANARIES


class Secrets(Base):
    """Tests that store secrets, and search the database for them at the end."""

    _store: SqlStore | None

    def assert_unreadable(self, *secrets: str) -> None:
        """Check that no table contains these secrets in clear text."""
        assert self._store is not None
        self.assertEqual(
            {secret: set() for secret in secrets},
            {secret: raw.places(self._store.engine, secret) for secret in secrets},
        )

    def test_a_plan_discloses_no_secrets(self) -> None:
        seen: list[Any] = []

        def ask(context: Any) -> Any:
            seen.append(context.inputs['headers']['Authorization'])
            if context.attempt == 1:
                context.data['session_token'] = SECOND
                return Retry('not yet', 0.0)
            return Done({'headers': {'X-Auth-Token': THIRD}})

        world = self.create_world({'requests': kind(execute=ask)})
        world.worker()
        given = {
            'url': f'https://me:{FOURTH}@127.0.0.1/',
            'headers': {'Authorization': f'Bearer {FIRST}'},
        }
        plan = world.start(action('one', 'requests', input_parameters=given))
        world.wait_until_ended(plan)

        done = world.action('one')
        self.assertEqual({f'Bearer {FIRST}'}, set(seen))
        self.assertEqual(given, done.inputs)
        self.assertEqual({'session_token': SECOND}, done.data)
        self.assertEqual({'headers': {'X-Auth-Token': THIRD}}, done.outputs)
        self.assert_unreadable(*CANARIES)

    def test_a_stack_discloses_no_hidden_parameters(self) -> None:
        hidden = {'type': 'string', 'hidden': True}
        sections = {
            'parameters': {'db': hidden, 'also': {**hidden, 'default': SECOND}},
            'outputs': {'of_a': {'value': {'get_attr': ['a', 'output']}}},
        }
        resources = {
            'a': res(value={'get_param': 'db'}),
            'b': res(value={'get_attr': ['a', 'output']}, wait=1),
            'g': res('Group', count=2, value={'get_param': 'also'}),
            'r': res('Random'),
            'c': res(fixed={'get_resource': 'r'}),
        }
        handlers = {'Random': RandomString}
        world = PlanWorld(self.make_store(), handlers=handlers, sweep_interval=0.5)
        self.addCleanup(world.stop)
        for lane in ('applier', 'engine'):
            world.worker(lanes=(lane,))
        stack = world.make(resources, sections=sections, parameters={'db': FIRST})
        made = world.resource(stack, 'r').reference or ''
        self.assertEqual(FIRST, world.resource(stack, 'b').properties['value'])
        self.assertEqual(32, len(made))
        self.assert_unreadable(FIRST, SECOND, made)

        update = world.do('stack_update', stack, parameters={'db': THIRD})
        self.assertEqual('SUCCEEDED', world.wait_until_ended(world.start(update)).state)
        self.assertEqual(THIRD, world.resource(stack, 'b').properties['value'])
        self.assert_unreadable(FIRST, SECOND, THIRD, made)

        world.external.fails.add(('update', 'b'))
        world.change(stack, parameters={'db': FOURTH}, disable_rollback=True)
        self.assertEqual('UPDATE_FAILED', world.reload(stack).state.name)
        world.external.fails.clear()
        world.act(stack, states.DELETE)
        self.assertEqual('DELETE_COMPLETE', world.reload(stack).state.name)
        self.assert_unreadable(*CANARIES, made)

    def test_a_cluster_discloses_no_secrets(self) -> None:
        world = OperatedWorld(self.make_store(), sweep_interval=0.5)
        self.addCleanup(world.stop)
        world.worker()
        do = world.operations
        profile = world.profile(value=FIRST)
        cluster = world.cluster(2, profile=profile, metadata={'api_token': SECOND})
        patched = {'operation': 'patch', 'params': {'colour': THIRD}}
        new = ReceiverRequest(
            *('r', 'webhook', 'c', 'CLUSTER_OPERATION'),
            params=patched,
            actor={'trust_id': FOURTH},
        )
        issued = do.receivers.create(new, BY, 'http://127.0.0.1/v1')
        triggered = world.wait_for_end(
            do.receivers.trigger(issued.receiver.uuid, issued.token).action
        )
        self.assertEqual('SUCCEEDED', triggered.status, world.full_report())
        self.assertEqual(THIRD, world.nodes(cluster)[0].attributes['output'])
        world.external.fails.add(('reboot', 'c-1'))
        world.row(do.operate('c', BY, 'reboot', {}, {}))
        known = world.store.find_object(Receiver, 'r', BY.tenant)
        self.assertEqual((patched, FOURTH), (known.params, known.actor['trust_id']))
        self.assert_unreadable(*CANARIES, str(issued.token))

        begun = do.delete('c', BY)
        world.wait_for_end(begun.action)
        self.assertIsNotNone(world.reload(cluster).deleted_at)
        self.assert_unreadable(*CANARIES)


class SqliteSecretsTest(OnDatabase, Secrets, StackWorldCase, stores.SqliteFiles):
    """On SQLite, where the database files are searched as well."""

    def assert_unreadable(self, *secrets: str) -> None:
        """Also search the files, which contain deleted rows and the write-ahead log."""
        super().assert_unreadable(*secrets)
        files = [path.read_bytes() for path in self.home.glob('*.sqlite*')]
        self.assertIn(b'SQLite format 3', b''.join(files))
        found = [s for s in secrets if any(s.encode() in file for file in files)]
        self.assertEqual([], found)


define_tests(
    __name__, Secrets, before=(OnDatabase,), after=(StackWorldCase,), on=(POSTGRESQL,)
)
