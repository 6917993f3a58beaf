"""Seal what is stored already: from before, or with a key that is to go."""

import contextlib
import uuid
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db.sqlalchemy.constructs import LIMIT
from watcherlite.db.sqlalchemy.database import Database, Session
from watcherlite.db.sqlalchemy.encryption import MARK, SEALED, FieldCipher, cipher_of
from watcherlite.db.sqlalchemy.objects import DEFINITIONS
from watcherlite.db.sqlalchemy.tables.schema import metadata
from watcherlite.db.sqlalchemy.tables.stacks import definitions
from watcherlite.db.sqlalchemy.tables.types import Ciphertext
from watcherlite.domain.actions import ENGINE

#: Rows that are read at once, and written in one transaction: short ones, so that
#: daemons can work meanwhile. Definitions may be large.
PORTION, FEW = 500, 10
#: In how many of the newest rows `check` looks for something that is sealed; of
#: definitions, which may be large, each has something.
NEWEST = {'definitions': 1, 'audits': 20, 'actions': 20}
_DEFINITION = DEFINITIONS.select().where(definitions.c.id == sa.bindparam('key'))
_KNOWN = sa.select(definitions.c.id).where(
    definitions.c.digest == sa.bindparam('digest'),
    definitions.c.id != sa.bindparam('key'),
)


def check(db: Database) -> None:
    """Raise KeyMissing if what was sealed lately cannot be opened here."""
    for name, limit in NEWEST.items():
        table = metadata.tables[name]
        newest = sa.select(*_sealed_texts(table)).order_by(table.c.id.desc())
        rows = db.rows(newest.limit(LIMIT), limit=limit)
        sealed = (text for row in rows for text in row if _is_sealed(text))
        text = next(sealed, None)
        if text is not None:
            cipher_of(db.engine.dialect).opened(text)


def reseal(db: Database) -> dict[str, int]:
    """Seal with the first key what is in clear and should not be, or has another key.

    Daemons may work meanwhile: a row that changed since it was read is left to who
    changed it. What an interrupted one has done is not done again.

    :returns: table -> how many of its rows were written
    :raises KeyMissing: something cannot be opened; what came before it is done
    """
    counts = {name: _reseal_table(db, metadata.tables[name]) for name in SEALED}
    if any(counts.values()) and db.engine.dialect.name == 'sqlite':
        with contextlib.suppress(exceptions.StoreConflict):
            db.overwrite()
    return counts


def _sealed_texts(table: sa.Table) -> list[Any]:
    """Return the columns that are sealed, as they are stored."""
    return [sa.type_coerce(table.c[c], sa.Text()).label(c) for c in SEALED[table.name]]


def _reseal_table(db: Database, table: sa.Table) -> int:
    (key,), columns = table.primary_key, list(SEALED[table.name])
    lane = [table.c.lane] if 'lane' in table.c else []
    select = (
        sa.select(key, *_sealed_texts(table), *lane)
        .where(key > sa.bindparam('after'))
        .order_by(key)
        .limit(LIMIT)
    )
    cipher = cipher_of(db.engine.dialect)
    count, after = 0, 0
    limit = FEW if table is definitions else PORTION
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
                        _find_anew(session, number)


def _changes(
    cipher: FieldCipher, table: str, texts: Mapping[str, str | None], whole: bool
) -> dict[str, tuple[str, str]]:
    """Return column -> (what it has, what it should have) where these differ."""
    found = {}
    for column, text in texts.items():
        if text is None or cipher.is_current(text):
            continue
        always = SEALED[table][column] or (whole and column != 'context')
        new = cipher.stored(cipher.opened(text), always or _is_sealed(text))
        if new is not None and new != text:
            found[column] = (text, new)
    return found


def _write(
    session: Session,
    table: sa.Table,
    number: int,
    changes: Mapping[str, tuple[str, str]],
) -> int:
    """Write a row that is still as it was read; return how many were."""
    (key,) = table.primary_key
    same = [
        sa.type_coerce(table.c[column], sa.Text()) == old
        for column, (old, _) in changes.items()
    ]
    values = {column: Ciphertext(new) for column, (_, new) in changes.items()}
    return session.count(sa.update(table).where(key == number, *same).values(values))


def _find_anew(session: Session, number: int) -> None:
    """Have a definition found by a digest of the first key.

    Unless there is an equal one that is found by it: then nobody has to find this.
    """
    (row,) = session.rows(_DEFINITION, key=number)
    digest = session.cipher.keyed(DEFINITIONS.read(row).digest)
    known = session.rows(_KNOWN, digest=digest, key=number)
    found_by = uuid.uuid4().hex * 2 if known else digest
    session.update_row(definitions, number, {'digest': found_by})


def _is_sealed(text: Any) -> bool:
    return isinstance(text, str) and text.startswith(MARK)
