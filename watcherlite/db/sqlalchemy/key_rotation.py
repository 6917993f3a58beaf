"""Seal what is stored already: from before, or with a key that is to go."""

import contextlib
import uuid
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.db.sqlalchemy.database import Database, Session
from watcherlite.db.sqlalchemy.encryption import MARK, SEALED, FieldCipher
from watcherlite.db.sqlalchemy.stack_rows import DEFINITION, to_definition
from watcherlite.domain.actions import ENGINE

#: Rows that are read at once, and written in one transaction: short ones, so that
#: daemons can work meanwhile. Definitions may be large.
PORTION, FEW = 500, 10
#: In how many of the newest rows `check` looks for something that is sealed; of
#: definitions, which may be large, each has something.
NEWEST = {'definitions': 1, 'audits': 20, 'actions': 20}
#: The primary key, where it is another one.
_KEYS = {'events': 'sequence'}
_DEFINITIONS = 'definitions'


def check(db: Database) -> None:
    """Raise KeyMissing if what was sealed lately cannot be opened here."""
    for table, limit in NEWEST.items():
        columns = ', '.join(SEALED[table])
        template = f'SELECT {columns} FROM {table} ORDER BY id DESC LIMIT :limit'
        rows = db.rows(template, limit=limit)
        sealed = (text for row in rows for text in row if _is_sealed(text))
        newest = next(sealed, None)
        if newest is not None:
            db.mapper.sealing.opened(newest)


def reseal(db: Database) -> dict[str, int]:
    """Seal with the first key what is in clear and should not be, or has another key.

    Daemons may work meanwhile: a row that changed since it was read is left to who
    changed it. What an interrupted one has done is not done again.

    :returns: table -> how many of its rows were written
    :raises KeyMissing: something cannot be opened; what came before it is done
    """
    counts = {table: _reseal_table(db, table) for table in SEALED}
    if any(counts.values()) and db.engine.dialect.name == 'sqlite':
        _forget(db)
    return counts


def _reseal_table(db: Database, table: str) -> int:
    key, columns = _key(table), list(SEALED[table])
    also = ['lane'] if table == 'actions' else []
    select = (
        f'SELECT {", ".join([key, *also, *columns])} FROM {table} '
        f'WHERE {key} > :after ORDER BY {key} LIMIT :limit'
    )
    count, after = 0, 0
    limit = FEW if table == _DEFINITIONS else PORTION
    while True:
        rows = db.rows(select, after=after, limit=limit)
        if not rows:
            return count
        after = rows[-1][0]
        changed: list[tuple[int, dict[str, tuple[str, str]]]] = []
        for row in rows:
            whole = bool(also) and row[1] == ENGINE
            texts = dict(zip(columns, row[1 + len(also) :], strict=True))
            changes = _changes(db.mapper.sealing, table, texts, whole)
            if changes:
                changed.append((row[0], changes))
        if changed:
            with db.transaction() as session:
                for number, changes in changed:
                    count += _write(session, table, number, changes)
                    if table == _DEFINITIONS:
                        _find_anew(session, number)


def _changes(
    sealing: FieldCipher, table: str, texts: Mapping[str, str | None], whole: bool
) -> dict[str, tuple[str, str]]:
    """Return column -> (what it has, what it should have) where these differ."""
    found = {}
    for column, text in texts.items():
        if text is None or sealing.is_current(text):
            continue
        always = SEALED[table][column] or (whole and column != 'context')
        new = sealing.stored(sealing.opened(text), always or _is_sealed(text))
        if new is not None and new != text:
            found[column] = (text, new)
    return found


def _write(
    session: Session, table: str, number: int, changes: Mapping[str, tuple[str, str]]
) -> int:
    """Write a row that is still as it was read; return how many were."""
    values = ', '.join(f'{column} = :new_{column}' for column in changes)
    same = ' AND '.join(f'{column} = :old_{column}' for column in changes)
    parameters: dict[str, Any] = {'number': number}
    for column, (old, new) in changes.items():
        parameters[f'old_{column}'], parameters[f'new_{column}'] = old, new
    return session.count(
        f'UPDATE {table} SET {values} WHERE {_key(table)} = :number AND {same}',
        **parameters,
    )


def _find_anew(session: Session, number: int) -> None:
    """Have a definition found by a digest of the first key.

    Unless there is an equal one that is found by it: then nobody has to find this.
    """
    columns = ', '.join(DEFINITION)
    row = session.rows(
        f'SELECT {columns} FROM definitions WHERE id = :number', number=number
    )[0]
    digest = session.mapper.sealing.keyed(to_definition(row, session.mapper).digest)
    known = session.rows(
        'SELECT 1 FROM definitions WHERE digest = :digest AND id <> :number',
        digest=digest,
        number=number,
    )
    session.count(
        'UPDATE definitions SET digest = :digest WHERE id = :number',
        digest=uuid.uuid4().hex * 2 if known else digest,
        number=number,
    )


def _forget(db: Database) -> None:
    """Have SQLite write over what rows were: it leaves it in the file otherwise."""
    with contextlib.suppress(exceptions.StoreConflict):
        db.change('VACUUM')
        db.rows('PRAGMA wal_checkpoint(TRUNCATE)')


def _key(table: str) -> str:
    return _KEYS.get(table, 'id')


def _is_sealed(text: Any) -> bool:
    return isinstance(text, str) and text.startswith(MARK)
