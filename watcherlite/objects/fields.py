"""The field types of payloads."""

import datetime
import uuid
from collections.abc import Mapping
from typing import Any

from oslo_versionedobjects import fields

StringField = fields.StringField
BooleanField = fields.BooleanField
IntegerField = fields.IntegerField
ObjectField = fields.ObjectField


class UUID(fields.UUID):
    """A uuid; unlike that of oslo, it rejects invalid values."""

    def coerce(self, obj: Any, attr: str, value: Any) -> str:
        uuid.UUID(str(value))
        return str(value)


class UUIDField(fields.AutoTypedField):
    AUTO_TYPE = UUID()


class ListOfUUIDField(fields.AutoTypedField):
    AUTO_TYPE = fields.List(UUID())


class DateTime(fields.DateTime):
    """A point in time; on the wire always UTC, in whole seconds, with a Z."""

    def coerce(self, obj: Any, attr: str, value: Any) -> datetime.datetime:
        return super().coerce(obj, attr, value).astimezone(datetime.UTC)

    def to_primitive(self, obj: Any, attr: str, value: datetime.datetime) -> str:
        return value.strftime('%Y-%m-%dT%H:%M:%SZ')


class DateTimeField(fields.AutoTypedField):
    AUTO_TYPE = DateTime()


class FlexibleDict(fields.FieldType):
    """A JSON object of any shape."""

    def coerce(self, obj: Any, attr: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise ValueError(
                f'A mapping is required in field {attr}, not a {type(value).__name__}'
            )
        return dict(value)

    def get_schema(self) -> dict[str, Any]:
        return {'type': ['object']}


class FlexibleDictField(fields.AutoTypedField):
    AUTO_TYPE = FlexibleDict()


class FlexibleList(fields.FieldType):
    """A JSON array of anything."""

    def coerce(self, obj: Any, attr: str, value: Any) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise ValueError(
                f'A list is required in field {attr}, not a {type(value).__name__}'
            )
        return list(value)

    def get_schema(self) -> dict[str, Any]:
        return {'type': ['array']}


class FlexibleListField(fields.AutoTypedField):
    AUTO_TYPE = FlexibleList()


#: The kind of a field that holds another payload.
PAYLOAD = 'payload'

#: field type -> kind: what the reference calls it, and what decides how it is written
KINDS = {
    UUIDField: 'UUID',
    StringField: 'string',
    BooleanField: 'boolean',
    IntegerField: 'integer',
    DateTimeField: 'time',
    FlexibleDictField: 'object',
    FlexibleListField: 'array',
    ListOfUUIDField: 'array of UUIDs',
    ObjectField: PAYLOAD,
}
