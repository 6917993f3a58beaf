"""Key rotation: encryption of stored secrets with the first key."""

import contextlib
import uuid
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db.sqlalchemy.constructs import LIMIT
from watcherlite.db.sqlalchemy.database import Database, Session
from watcherlite.db.sqlalchemy.encryption import MARK, FieldCipher, cipher_of
from watcherlite.db.sqlalchemy.mappers import DEFINITIONS
from watcherlite.db.sqlalchemy.tables.schema import metadata
from watcherlite.db.sqlalchemy.tables.stacks import definitions
from watcherlite.db.sqlalchemy.tables.types import Ciphertext, Encrypted
from watcherlite.domain.actions import ENGINE

#: Table -> column -> whether it is always encrypted. Documents of actions in the lane
#: of the engine always are, because they contain the properties of resources.
ENCRYPTED: Mapping[str, Mapping[str, bool]] = {
    name: {
        column.name: column.type.always
        for column in metadata.tables[name].columns
        if isinstance(column.type, Encrypted)
    }
    for name in (
        'actions',
        'action_log_entries',
        'events',
        'audits',
        'audit_templates',
        'definitions',
        'stacks',
        'resources',
        'software_configs',
        'software_deployments',
        'profiles',
        'policies',
        'clusters',
        'nodes',
        'bindings',
        'receivers',
        'sessions',
        'credentials',
        'requests',
    )
}
#: Rows of one transaction, which is short, so that daemons can continue. Definitions
#: may be large.
BATCH, DEFINITION_BATCH = 500, 10
#: Table -> the number of its newest rows in which `check` searches for an encrypted
#: text. Every definition has one.
CHECKED_ROWS = {'definitions': 1, 'audits': 20, 'actions': 20}
_DEFINITION = DEFINITIONS.select().where(definitions.c.id == sa.bindparam('key'))
_KNOWN = sa.select(definitions.c.id).where(
    definitions.c.digest == sa.bindparam('digest'),
    definitions.c.id != sa.bindparam('key'),
)


def check(db: Database) -> None:
    """Raise KeyMissing if recent secrets cannot be decrypted."""
    for name, limit in CHECKED_ROWS.items():
        table = metadata.tables[name]
        newest = sa.select(*_encrypted_texts(table)).order_by(table.c.id.desc())
        rows = db.rows(newest.limit(LIMIT), limit=limit)
        encrypted = (text for row in rows for text in row if _is_encrypted(text))
        text = next(encrypted, None)
        if text is not None:
            cipher_of(db.engine.dialect).decrypt(text)


def reencrypt(db: Database) -> dict[str, int]:
    """Encrypt secrets in plain text, or encrypted with another key, with the first key.

    Daemons may run at the same time: a row that changed since it was read is skipped,
    as its writer has encrypted it. An interrupted rotation continues where it stopped.

    :returns: table -> number of updated rows
    :raises KeyMissing: a secret cannot be decrypted; the rows before it are updated
    """
    counts = {name: _reencrypt_table(db, metadata.tables[name]) for name in ENCRYPTED}
    if any(counts.values()) and db.engine.dialect.name == 'sqlite':
        with contextlib.suppress(exceptions.StoreConflict):
            db.overwrite()
    return counts


def _encrypted_texts(table: sa.Table) -> list[Any]:
    """Return the encrypted columns, as they are stored."""
    return [
        sa.type_coerce(table.c[c], sa.Text()).label(c) for c in ENCRYPTED[table.name]
    ]


def _reencrypt_table(db: Database, table: sa.Table) -> int:
    (key,), columns = table.primary_key, list(ENCRYPTED[table.name])
    lane = [table.c.lane] if 'lane' in table.c else []
    select = (
        sa.select(key, *_encrypted_texts(table), *lane)
        .where(key > sa.bindparam('after'))
        .order_by(key)
        .limit(LIMIT)
    )
    cipher = cipher_of(db.engine.dialect)
    count, after = 0, 0
    limit = DEFINITION_BATCH if table is definitions else BATCH
    while True:
        rows = db.rows(select, after=after, limit=limit)
        if not rows:
            return count
        after = rows[-1][0]
        changed: list[tuple[int, dict[str, tuple[str, str]]]] = []
        for row in rows:
            whole = bool(lane) and row[-1] == ENGINE
            texts = dict(zip(columns, row[1:], strict=False))
            changes = _changes(cipher, table.name, texts, whole)
            if changes:
                changed.append((row[0], changes))
        if changed:
            with db.transaction() as session:
                for number, changes in changed:
                    count += _write(session, table, number, changes)
                    if table is definitions:
                        _update_digest(session, number)


def _changes(
    cipher: FieldCipher, table: str, texts: Mapping[str, str | None], whole: bool
) -> dict[str, tuple[str, str]]:
    """Return column -> (stored text, new text), where these differ."""
    found = {}
    for column, text in texts.items():
        if text is None or cipher.is_current(text):
            continue
        always = ENCRYPTED[table][column] or (whole and column != 'context')
        new = cipher.stored(cipher.decrypt(text), always or _is_encrypted(text))
        if new is not None and new != text:
            found[column] = (text, new)
    return found


def _write(
    session: Session,
    table: sa.Table,
    number: int,
    changes: Mapping[str, tuple[str, str]],
) -> int:
    """Update a row if it is as it was read; return the number of updated rows."""
    (key,) = table.primary_key
    same = [
        sa.type_coerce(table.c[column], sa.Text()) == old
        for column, (old, _) in changes.items()
    ]
    values = {column: Ciphertext(new) for column, (_, new) in changes.items()}
    return session.count(sa.update(table).where(key == number, *same).values(values))


def _update_digest(session: Session, number: int) -> None:
    """Replace the digest of a definition by one with the first key.

    If an equal definition already has that digest, this one gets a random one.
    """
    (row,) = session.rows(_DEFINITION, key=number)
    digest = session.cipher.keyed_digest(DEFINITIONS.read(row).digest)
    known = session.rows(_KNOWN, digest=digest, key=number)
    new_digest = uuid.uuid4().hex * 2 if known else digest
    session.update_row(definitions, number, {'digest': new_digest})


def _is_encrypted(text: Any) -> bool:
    return isinstance(text, str) and text.startswith(MARK)
