"""Encryption at rest: the encrypted columns, the keys, key rotation."""

import base64
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from tests import base
from tests.contract.cluster_case import (
    make_binding,
    make_cluster,
    make_node,
    make_policy,
    make_profile,
    make_receiver,
)
from tests.contract.stack_case import StackCase, make_definition
from tests.contract.store_software import make_config, make_deployment
from tests.factories import (
    NOW,
    make_action,
    make_audit,
    make_event,
    make_goal,
    make_template,
    new_uuid,
    store_actions,
    store_plan,
)
from tests.functional.db import raw, stores
from tests.functional.db.stores import MYSQL, POSTGRESQL, define_tests
from watcherlite import exceptions
from watcherlite.conf.secrets import BYTES, Keys
from watcherlite.db.action_logs import LogEntry
from watcherlite.db.api import Store, Transaction
from watcherlite.db.credentials import TRUST, Credential
from watcherlite.db.query import Query
from watcherlite.db.requests import RecordedRequest, RequestQuery
from watcherlite.db.sessions import UserSession
from watcherlite.db.sqlalchemy import key_rotation, tables
from watcherlite.db.sqlalchemy.encryption import MARK, FieldCipher, KeyLoader
from watcherlite.db.sqlalchemy.key_rotation import ENCRYPTED
from watcherlite.db.sqlalchemy.store import SqlStore
from watcherlite.db.sqlalchemy.tables.types import LongText
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.clusters import Cluster, Profile, Receiver
from watcherlite.domain.stacks import StoredDefinition

CANARY = 'canary-5d1f0c7b'
#: A value with the name of a secret, and one without.
NAMED, UNNAMED = {'password': CANARY}, {'value': CANARY}
#: table -> the number of rows that `store_secrets` inserts
ROWS = {**dict.fromkeys(ENCRYPTED, 1), 'actions': 2}
NONE_LEFT = dict.fromkeys(ENCRYPTED, 0)
#: table -> columns without secrets, visible to every user who may see the row
HARMLESS = {
    'goals': ('efficacy_specification',),
    'strategies': ('parameters_spec',),
    'scoring_engines': ('description', 'metainfo'),
    'action_plans': ('creator', 'global_efficacy', 'efficacy_indicators', 'fault'),
    'audits': ('creator',),
    'request_keys': ('created',),
    'credentials': ('roles',),
    'actions': ('parents',),
    'events': ('type',),
    'workers': ('lanes',),
    'requests': ('roles', 'path'),
    'stacks': ('status_reason', 'description', 'tags', 'under_lock'),
    'resources': (
        *('type', 'handler', 'physical_id', 'status_reason'),
        *('requires', 'under_lock', 'under_mark'),
    ),
    'profiles': ('handler',),
    'clusters': ('status_reason', 'dependents'),
    'nodes': ('handler', 'role', 'status_reason', 'dependents', 'physical_id'),
}


def keys(*letters: str) -> KeyLoader:
    """Return the loader of these keys."""
    values = [base64.b64encode(x.encode() * BYTES).decode() for x in letters]
    return lambda make: Keys(tuple(values), f'[the keys {" ".join(letters)}]')


def refused(make: bool) -> Keys:
    """Fail, because no keys are needed."""
    raise AssertionError('the keys were loaded')


class EncryptionTests(StackCase):
    """Encryption on every database."""

    #: Provided by the database mixin.
    open_empty: Callable[..., SqlStore]
    open_again: Callable[..., SqlStore]
    #: Reads all stored secrets.
    read: Callable[[Store], list[Any]]

    def make_store(self) -> Store:
        self.sql_store = self.open_empty(keys=keys('a'))
        return self.sql_store

    def with_keys(self, loading: KeyLoader) -> SqlStore:
        """Return another store on the same database."""
        store = self.open_again(keys=loading)
        self.addCleanup(store.close)
        return store

    def store_secrets(self) -> list[Any]:
        """Store a secret in every encrypted column; return the stored objects."""
        goal = self.commit(lambda tx: tx.ensure_goal(make_goal())).id
        inside = {'inputs': NAMED, 'context': NAMED, 'data': NAMED}
        ends = {'token': NAMED, 'outputs': NAMED}
        plan, (action,) = store_plan(self.store, make_action(**inside, **ends))
        own = dict.fromkeys(('inputs', 'data', 'token', 'outputs'), UNNAMED)
        (other,) = store_actions(self.store, make_action(lane=ENGINE, **own))
        audit = make_audit(goal, parameters=UNNAMED, scope=[UNNAMED])
        template = make_template(goal, default_parameters=UNNAMED, scope=[UNNAMED])
        documents = ('template', 'environment', 'files', 'parameters')
        definition = make_definition(**dict.fromkeys(documents, UNNAMED))

        def block(tx: Transaction) -> StoredDefinition:
            tx.add_events([make_event(action, detail=NAMED)])
            tx.insert_audit(audit)
            tx.insert_audit_template(template)
            return tx.insert_definition(definition)

        known = self.commit(block)
        stack = self.insert_stack(definition_id=known.id, context=NAMED)
        values = dict.fromkeys(
            ('properties', 'attributes', 'metadata', 'data'), UNNAMED
        )
        self.insert_resources(stack, {**values, 'reference': CANARY})

        read_clusters = self.store_cluster_secrets()
        read_software = self.store_software_secrets()
        session = UserSession('d' * 64, UNNAMED, NOW, NOW)
        self.store.insert_session(session)
        credential = Credential(
            new_uuid(), TRUST, 'u', 'p', (), CANARY, CANARY, created_at=NOW
        )
        self.store.insert_credential(credential)
        entry = LogEntry(1, 1, 'log', f'password={CANARY}', NOW)
        self.store.insert_log_entries([entry])
        request = RecordedRequest(
            'req-1', NOW, None, None, None, (), 'PATCH', '/', UNNAMED
        )
        self.commit(lambda tx: tx.insert_request(request))

        def read(store: Store) -> list[Any]:
            return [
                *read_clusters(store),
                *read_software(store),
                store.find_session(session.digest),
                *store.list_log_entries([entry.action_id]),
                *store.list_requests(RequestQuery()),
                *store.list_actions(),
                *store.list_events(plan_id=plan.id),
                store.get_audit(audit.uuid),
                store.find_audit_template(template.uuid),
                store.get_definition(known.id),
                store.find_stack(stack.uuid, None),
                *store.list_resources([stack.id]),
            ]

        self.read = read
        self.other = other
        self.definition = known
        return read(self.store)

    def store_software_secrets(self) -> Callable[[Store], list[Any]]:
        """Store secrets in all encrypted columns of software; return a reader."""
        documents = ('config', 'options')
        config = self.commit(
            lambda tx: tx.insert_software_config(
                make_config(
                    **dict.fromkeys(documents, UNNAMED),
                    inputs=[UNNAMED],
                    outputs=[UNNAMED],
                )
            )
        )
        deployment = make_deployment(
            config,
            status_reason=f'password={CANARY}',
            input_values=UNNAMED,
            output_values=UNNAMED,
            signal_token=CANARY,
        )
        self.commit(lambda tx: tx.insert_software_deployment(deployment))
        return lambda store: [
            store.find_software_config(config.uuid, config.tenant),
            store.find_software_deployment(deployment.uuid, config.tenant),
        ]

    def store_cluster_secrets(self) -> Callable[[Store], list[Any]]:
        """Store secrets in all encrypted columns of clusters; return a reader."""
        profile = make_profile(spec=UNNAMED, metadata=NAMED)
        policy = make_policy(spec=UNNAMED, data=UNNAMED)
        receiver = make_receiver(actor=UNNAMED, params=UNNAMED, channel=NAMED)
        plain = {'metadata': NAMED, 'data': UNNAMED}
        kept = dict.fromkeys(('properties', 'attributes', 'kept'), UNNAMED)

        def block(tx: Transaction) -> Cluster:
            cluster = tx.insert_object(
                make_cluster(tx.insert_object(profile), config=NAMED, **plain)
            )
            tx.insert_nodes([make_node(cluster, **plain, **kept)])
            bound = make_binding(cluster, tx.insert_object(policy), data=UNNAMED)
            tx.insert_binding(bound)
            tx.insert_object(receiver)
            return cluster

        key = self.commit(block).id

        def read(store: Store) -> list[Any]:
            nouns: list[Any] = []
            for kind in (Profile, Cluster, Receiver):
                nouns += store.list_objects(kind, Query())
            return [
                *nouns,
                *store.nodes_of([key]),
                *store.bindings_of_clusters([key])[key],
            ]

        return read

    # Access below the store

    def in_clear(self) -> set[tuple[str, str]]:
        """Return the columns with the secret in plain text."""
        return raw.places(self.sql_store.engine, CANARY)

    def put_in_clear(self) -> None:
        """Replace all encrypted texts by plain text."""
        cipher = FieldCipher(keys('a'))
        with self.sql_store.engine.connect() as connection:
            for name, columns in ENCRYPTED.items():
                table = tables.metadata.tables[name]
                (primary,) = table.primary_key
                for row in raw.rows(connection, table):
                    values = {
                        c: sa.literal(cipher.decrypt(row[c]), sa.Text)
                        for c in columns
                        if row[c]
                    }
                    here = primary == row[primary.name]
                    connection.execute(sa.update(table).where(here).values(values))
            definitions = tables.metadata.tables['definitions']
            digest = {'digest': self.definition.digest}
            connection.execute(sa.update(definitions).values(digest))

    # Encrypted columns

    def test_columns_with_secrets_are_encrypted_and_digests_are_keyed(self) -> None:
        self.store_secrets()
        encrypted = raw.places(self.sql_store.engine, MARK)
        expected = {(table, c) for table, columns in ENCRYPTED.items() for c in columns}
        self.assertEqual((expected, set()), (encrypted, self.in_clear()))
        # The digest of a definition is keyed.
        found = raw.places(self.sql_store.engine, self.definition.digest)
        self.assertEqual(set(), found)
        again = self.commit(lambda tx: tx.insert_definition(self.definition))
        self.assertEqual(self.definition.id, again.id)

    def test_parameters_are_encrypted_whatever_their_names(self) -> None:
        store_plan(self.store, make_action(inputs={'parameters': UNNAMED}))
        self.assertEqual(set(), self.in_clear())

    def test_keys_are_not_loaded_without_secrets(self) -> None:
        store = self.with_keys(refused)
        plan, (action,) = store_plan(store, make_action(inputs={'message': 'x'}))
        with store.transaction() as tx:
            (claimed,) = tx.claim(
                worker='w', limit=9, now=action.not_before, plan_id=plan.id
            )
            tx.add_events([make_event(claimed, detail={'count': 1})])
        store.check()
        self.assertEqual({'message': 'x'}, store.get_action(action.uuid).inputs)
        self.assertEqual('{"message":"x"}', store.pending_events(1)[0].action_inputs)

    # Data from before there were keys

    def test_plain_text_is_read_and_encrypted_by_a_rotation(self) -> None:
        stored = self.store_secrets()
        self.put_in_clear()
        store = self.with_keys(keys('a'))
        self.assertEqual(stored, self.read(store))
        self.assertIn(('resources', 'reference'), self.in_clear())

        self.assertEqual((ROWS, NONE_LEFT), (store.reencrypt(), store.reencrypt()))
        self.assertEqual((set(), stored), (self.in_clear(), self.read(store)))
        again = self.commit(lambda tx: tx.insert_definition(self.definition))
        self.assertEqual(self.definition.id, again.id)

    def test_plain_text_is_encrypted_by_the_next_write(self) -> None:
        self.store_secrets()
        self.put_in_clear()
        (row,) = self.store.list_resources(
            [self.store.find_stack(self.read(self.store)[-2].uuid, None).id]
        )
        self.commit(lambda tx: tx.save_resources([row.evolve(status='FAILED')]))
        self.assertNotIn('resources', {table for table, _ in self.in_clear()})

    def test_a_rotation_skips_rows_that_have_changed(self) -> None:
        self.store_secrets()
        self.put_in_clear()
        mine = ('{"value":"mine"}', '{"value":"other"}')
        with self.sql_store._db.transaction() as session:
            table, changes = tables.actions.actions, {'inputs': mine}
            written = key_rotation._write(session, table, self.other.id, changes)
        self.assertEqual(0, written)
        self.assertEqual(UNNAMED, self.store.get_action(self.other.uuid).inputs)

    # Other keys

    def test_a_rotation_keeps_all_secrets_readable(self) -> None:
        stored = self.store_secrets()
        first, later, last = (self.with_keys(keys(*k)) for k in ('ab', 'ba', 'b'))
        self.assertEqual([stored] * 2, [self.read(s) for s in (first, later)])
        with self.assertRaises(exceptions.KeyMissing):
            self.read(last)

        self.assertEqual((ROWS, NONE_LEFT), (later.reencrypt(), last.reencrypt()))
        self.assertEqual(stored, self.read(last))
        with last.transaction() as tx:
            again = tx.insert_definition(self.definition)
        self.assertEqual(self.definition.id, again.id)

    def test_one_of_equal_definitions_with_two_keys_is_found(self) -> None:
        self.store_secrets()
        store = self.with_keys(keys('b', 'a'))
        with store.transaction() as tx:
            newer = tx.insert_definition(self.definition)
        self.assertNotEqual(self.definition.id, newer.id)

        self.assertEqual(1, store.reencrypt()['definitions'])
        with store.transaction() as tx:
            self.assertEqual(newer, tx.insert_definition(self.definition))
        found = store.get_definition(self.definition.id)
        self.assertEqual(self.definition, found)

    def test_a_missing_key_is_an_error_with_its_remedy_and_changes_nothing(
        self,
    ) -> None:
        stored = self.store_secrets()
        foreign = self.with_keys(keys('x'))
        for call in (foreign.check, lambda: self.read(foreign), foreign.reencrypt):
            with self.assertRaises(exceptions.KeyMissing) as caught:
                call()
            self.assertEqual(
                'The database has secrets that [the keys x] cannot decrypt, as they '
                'were encrypted with another key: set [secrets] encryption_keys to '
                'the keys of the host that encrypted them, alike on all hosts',
                str(caught.exception),
            )
        self.store.check()
        self.assertEqual(stored, self.read(self.store))

    def test_a_store_without_keys_refuses_secrets(self) -> None:
        store = SqlStore(self.sql_store.engine)
        with self.assertRaisesRegex(
            exceptions.ConfigurationError, 'no encryption keys'
        ):
            store_actions(store, make_action(inputs=NAMED))
        self.assertEqual([], store.list_actions())


class ColumnsTest(base.TestCase):
    """Every column is declared as encrypted or as harmless."""

    def test_every_unlimited_text_is_encrypted_or_exempt(self) -> None:
        texts = {
            (table.name, column.name)
            for table in tables.metadata.sorted_tables
            for column in table.columns
            if isinstance(column.type, LongText)
        }
        encrypted = {
            (table, c) for table, columns in ENCRYPTED.items() for c in columns
        }
        harmless = {(table, c) for table, columns in HARMLESS.items() for c in columns}
        self.assertEqual(set(), encrypted & harmless)
        self.assertEqual(texts, encrypted | harmless)


class SqliteEncryptionTest(EncryptionTests, stores.SqliteFiles):
    """On SQLite."""

    def test_a_rotation_overwrites_plain_text_in_the_file(self) -> None:
        self.store_secrets()
        self.put_in_clear()
        self.assertTrue(self.is_in_files())
        self.with_keys(keys('a')).reencrypt()
        self.assertFalse(self.is_in_files())

    def is_in_files(self) -> bool:
        files = list(self.home.glob(f'{self.path.name}*'))
        return any(CANARY.encode() in path.read_bytes() for path in files)


define_tests(__name__, EncryptionTests, on=(POSTGRESQL, MYSQL))
