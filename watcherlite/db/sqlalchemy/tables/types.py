"""Column types, which convert between values in Python and in the database.

The document of a `constructs.RowSource` uses the same conversions.
"""

import datetime
import json
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from watcherlite.clock import UTC
from watcherlite.db.sqlalchemy.encryption import cipher_of
from watcherlite.db.sqlalchemy.text import NAME_LENGTH, dumps, name_text, to_text
from watcherlite.domain.actions import MESSAGE_LENGTH, truncate
from watcherlite.domain.creators import Creator, from_mapping
from watcherlite.states.stack import State

Convert = Callable[[Any], Any]

#: Only an INTEGER can be the rowid of SQLite.
BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
UUID = sa.String(36)
NAME = sa.String(NAME_LENGTH)
WORD = sa.String(32)
#: A SHA-256 digest, in hexadecimal digits.
DIGEST = sa.String(64)
#: A boolean that the database computes, or that may be NULL.
FLAG = sa.SmallInteger()


class Converted(sa.types.TypeDecorator[Any]):
    """A type whose conversions replace those of its implementation."""

    impl: Any = sa.Text

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # SQLAlchemy requires the attribute in each class.
        cls.cache_ok = True

    def to_database(self, dialect: sa.Dialect) -> Convert | None:
        """Return the conversion of a value that is not None; None: no conversion."""
        return None

    def from_database(self, dialect: sa.Dialect) -> Convert | None:
        """Return the conversion of a stored value or NULL; None: no conversion.

        It is called for each value of each row, without a wrapper.
        """
        return None

    def bind_processor(self, dialect: sa.Dialect) -> Convert | None:
        return _unless_null(self.to_database(dialect))

    def result_processor(self, dialect: sa.Dialect, coltype: Any) -> Convert | None:
        return self.from_database(dialect)


def _unless_null(convert: Convert | None) -> Convert | None:
    if convert is None:
        return None

    def process(value: Any) -> Any:
        return None if value is None else convert(value)

    return process


class UtcTime(Converted):
    """An aware time in UTC, stored naive, exact to the microsecond."""

    impl = sa.DateTime

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        # DATETIME of MySQL has no fraction of seconds by default.
        kind = mysql.DATETIME(fsp=6) if dialect.name == 'mysql' else sa.DateTime()
        return kind

    def to_database(self, dialect: sa.Dialect) -> Convert | None:
        return to_text

    def from_database(self, dialect: sa.Dialect) -> Convert | None:
        return _parse_time if dialect.name == 'sqlite' else _make_aware


def _parse_time(value: str | None) -> datetime.datetime | None:
    return None if value is None else datetime.datetime.fromisoformat(value + '+00:00')


def _make_aware(value: datetime.datetime | None) -> datetime.datetime | None:
    return None if value is None else value.replace(tzinfo=UTC)


class LongText(Converted):
    """Text of any length, without NUL, which databases reject."""

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        # TEXT of MySQL is limited to 64 KiB.
        kind = mysql.LONGTEXT() if dialect.name == 'mysql' else sa.Text()
        return kind

    def to_database(self, dialect: sa.Dialect) -> Convert | None:
        return _clean


def _clean(text: str) -> str:
    return text.replace('\x00', '?') if '\x00' in text else text


class Message(Converted):
    """A message, cut at the maximum length."""

    impl = sa.String(MESSAGE_LENGTH)

    def to_database(self, dialect: sa.Dialect) -> Convert | None:
        return truncate


class Flag(Converted):
    """A boolean as a number, as not all databases have a boolean type."""

    impl = sa.SmallInteger

    def to_database(self, dialect: sa.Dialect) -> Convert | None:
        return int

    def from_database(self, dialect: sa.Dialect) -> Convert | None:
        return _to_bool


def _to_bool(value: int | None) -> bool | None:
    return None if value is None else bool(value)


class Json(LongText):
    """A value as JSON text, which JSON types of databases would change."""

    def to_database(self, dialect: sa.Dialect) -> Convert | None:
        return _to_json

    def from_database(self, dialect: sa.Dialect) -> Convert | None:
        return _from_json


def _to_json(value: Any) -> str:
    return '{}' if value == {} else dumps(value)


def _from_json(text: str | None) -> Any:
    if text is None:
        return None
    return {} if text == '{}' else json.loads(text)


class JsonTuple(Json):
    """A tuple of texts as JSON text."""

    def from_database(self, dialect: sa.Dialect) -> Convert | None:
        return _to_tuple


def _to_tuple(text: str | None) -> tuple[Any, ...] | None:
    if text is None:
        return None
    return () if text == '[]' else tuple(json.loads(text))


class JsonNames(JsonTuple):
    """A tuple of tags or names as JSON text that can be searched."""

    def to_database(self, dialect: sa.Dialect) -> Convert | None:
        return _names_text


def _names_text(names: Sequence[str]) -> str:
    return f'[{",".join(map(name_text, names))}]'


class JsonList(Json):
    """A list as JSON text; NULL, in rows of earlier versions, is an empty list."""

    def from_database(self, dialect: sa.Dialect) -> Convert | None:
        return _to_list


def _to_list(text: str | None) -> list[Any]:
    return [] if text is None else json.loads(text)


class CreatorJson(Json):
    """A creator as JSON text; NULL in rows of earlier versions."""

    def to_database(self, dialect: sa.Dialect) -> Convert | None:
        return _creator_text

    def from_database(self, dialect: sa.Dialect) -> Convert | None:
        return _to_creator


def _creator_text(creator: Creator) -> str:
    return _to_json(creator.as_mapping())


def _to_creator(text: str | None) -> Creator:
    return from_mapping(None if text is None else json.loads(text))


class StackState(Json):
    """An action, a status and its reason, see `states.stack`, as JSON text."""

    def to_database(self, dialect: sa.Dialect) -> Convert | None:
        return _state_text

    def from_database(self, dialect: sa.Dialect) -> Convert | None:
        return _to_state


def _state_text(state: State) -> str:
    return dumps([state.action, state.status, state.reason])


def _to_state(text: str | None) -> State | None:
    return None if text is None else State(*json.loads(text))


class Ciphertext(str):
    """An encrypted text, which an encrypted column stores unchanged."""

    __slots__ = ()


class Secret:
    """A value that is always encrypted, unless it is empty."""

    __slots__ = ('value',)

    def __init__(self, value: Any) -> None:
        self.value = value


class Encrypted(LongText):
    """A value that is encrypted in the database.

    :param always: encrypt every value that is not empty; otherwise only those that
        `conf.masking` would mask
    """

    def __init__(self, always: bool = True) -> None:
        super().__init__()
        self.always = always


class EncryptedText(Encrypted):
    """A text that is encrypted in the database."""

    def to_database(self, dialect: sa.Dialect) -> Convert | None:
        cipher, always = cipher_of(dialect), self.always

        def encrypt(text: str) -> str | None:
            if isinstance(text, Ciphertext):
                return text
            return cipher.stored(_clean(text), always)

        return encrypt

    def from_database(self, dialect: sa.Dialect) -> Convert | None:
        plain_text = cipher_of(dialect).decrypt

        def decrypt(text: str | None) -> str | None:
            return None if text is None else plain_text(text)

        return decrypt


class EncryptedJson(Encrypted):
    """A value as JSON text that is encrypted in the database."""

    def to_database(self, dialect: sa.Dialect) -> Convert | None:
        cipher, always = cipher_of(dialect), self.always

        def encrypt(value: Any) -> str:
            if isinstance(value, Ciphertext):
                return value
            if isinstance(value, Secret):
                return cipher.document(value.value, True)
            return cipher.document(value, always)

        return encrypt

    def from_database(self, dialect: sa.Dialect) -> Convert | None:
        loads = cipher_of(dialect).loads

        def decrypt(text: str | None) -> Any:
            if text is None:
                return None
            return {} if text == '{}' else loads(text)

        return decrypt


TEXT = LongText()
JSON = Json()
TIME = UtcTime()
MESSAGE = Message()
