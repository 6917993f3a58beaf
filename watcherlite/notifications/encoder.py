"""Payloads as JSON text.

An encoder is derived from the versioned object class when a payload of it is first
needed. It writes the same document as `obj_to_primitive` of the object does, at a
fraction of the cost, from plain values. What several payloads have in common is encoded
once and passed on as Encoded.
"""

import datetime
import functools
import json
import operator
from collections.abc import Callable, Mapping, Sequence
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from watcherlite.objects.base import Payload, PayloadField

_Writer = Callable[[Any], str]


class Encoded(str):
    """JSON text, written as it is in place of a time, a document or a payload."""

    __slots__ = ()


class SharedPayload:
    """A nested payload that several payloads contain, encoded once in each version.

    :param values: field -> value, as for `PayloadEncoder.encode`
    """

    __slots__ = ('_encoded', '_values')

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._encoded: dict[PayloadEncoder, str] = {}

    def encode(self, encoder: 'PayloadEncoder') -> str:
        """Return the JSON text that an encoder writes."""
        text = self._encoded.get(encoder)
        if text is None:
            text = self._encoded[encoder] = encoder.encode(self._values)
        return text


class PayloadEncoder:
    """Writes payloads of one class in one version.

    :ivar names: the fields that `encode` reads
    """

    def __init__(self, cls: type['Payload'], version: str) -> None:
        fields = cls.fields_in(version)
        self._label = f'{cls.obj_name()} {version}'
        self._required = [field.name for field in fields if not field.nullable]
        self.names = tuple(field.name for field in fields)
        self._values = operator.itemgetter(*self.names)
        self._writers = tuple(_writer(field) for field in fields)
        prefix = cls.OBJ_SERIAL_NAMESPACE
        gaps = ','.join(f'"{name}":%s' for name in self.names)
        self._template = (
            f'{{"{prefix}.name":"{cls.obj_name()}",'
            f'"{prefix}.namespace":"{cls.OBJ_PROJECT_NAMESPACE}",'
            f'"{prefix}.version":"{version}",'
            f'"{prefix}.data":{{{gaps}}}}}'
        )

    def encode(self, values: Mapping[str, Any]) -> str:
        """Return the JSON text of a payload.

        :param values: field -> value. A nested payload is a mapping of its fields, a
            SharedPayload, or Encoded. Fields that this version does not have are
            ignored.
        :raises ValueError: a field is missing, null without being nullable, or of
            another type; the error names the class, and the field if it can
        """
        try:
            return self._template % tuple(
                map(operator.call, self._writers, self._values(values))
            )
        except KeyError as error:
            raise ValueError(f'{self._label}: {error.args[0]} is missing') from error
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(f'{self._label}: {self._reason(error, values)}') from error

    def _reason(self, error: Exception, values: Mapping[str, Any]) -> str:
        for name in self._required:
            if values[name] is None:
                return f'{name} must not be null'
        return str(error)


@functools.cache
def payload_encoder(payload: str, pinned: str) -> PayloadEncoder:
    """Return the encoder of a payload class in the pinned version, or its latest.

    :raises KeyError: there is no such class
    """
    # oslo.versionedobjects takes 0.4 s to import. A process that publishes nothing, and
    # every command that only prints help, does not need it.
    from watcherlite.objects import registry

    cls = registry.payload_classes()[payload]
    return PayloadEncoder(cls, pinned if pinned in cls.versions() else cls.VERSION)


def encode(payload: str, pinned: str, values: Mapping[str, Any]) -> Encoded:
    """Return a payload as JSON text for another payload; see `PayloadEncoder`."""
    return Encoded(payload_encoder(payload, pinned).encode(values))


def encode_time(value: datetime.datetime | None) -> Encoded | None:
    """Return the JSON text of a time: UTC, whole seconds, Z."""
    return None if value is None else Encoded(_time(value))


def encode_document(value: Mapping[str, Any] | Sequence[Any] | None) -> Encoded | None:
    """Return the JSON text of a mapping or sequence of JSON values."""
    return None if value is None else Encoded(_document(value))


def _writer(field: 'PayloadField') -> _Writer:
    write = _nested(field) if field.payload else _WRITERS[field.kind]
    return _nullable(write) if field.nullable else write


def _nullable(write: _Writer) -> _Writer:
    return lambda value: 'null' if value is None else write(value)


def _nested(field: 'PayloadField') -> _Writer:
    encoder = payload_encoder(str(field.payload), str(field.version))

    def write(value: Mapping[str, Any] | SharedPayload | Encoded | None) -> str:
        if value is None:
            raise TypeError('a payload is None')
        if isinstance(value, SharedPayload):
            return value.encode(encoder)
        return value if isinstance(value, Encoded) else encoder.encode(value)

    return write


def _time(value: datetime.datetime) -> str:
    if isinstance(value, Encoded):
        return value
    if value.tzinfo is not datetime.UTC and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC)
    return f'"{value.isoformat()[:19]}Z"'


def _boolean(value: object) -> str:
    if value is None:
        raise TypeError('a boolean is None')
    return 'true' if value else 'false'


def _integer(value: int) -> str:
    return f'{value:d}'


def _document(value: Mapping[str, Any] | Sequence[Any]) -> str:
    if isinstance(value, Encoded):
        return value
    if value is None:
        raise TypeError('a document is None')
    return _json(value)


def _plain(value: object) -> object:
    """Return a mapping or sequence as a type that the json module writes."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f'{type(value).__name__} has no JSON representation')


_json = json.JSONEncoder(separators=(',', ':'), default=_plain).encode

#: kind of field, see `objects.base.PayloadField` -> the function that writes a value
#: that is not null
_WRITERS: dict[str, _Writer] = {
    'UUID': encode_basestring_ascii,
    'string': encode_basestring_ascii,
    'boolean': _boolean,
    'integer': _integer,
    'time': _time,
    'object': _document,
    'array': _document,
    'array of UUIDs': _document,
}
