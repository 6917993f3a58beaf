"""Values for payloads of any class, and the versioned objects that hold them."""

import datetime

from hypothesis import strategies as st

from watcherlite.objects import registry

CLASSES = registry.payload_classes()


def _naive(*date):
    return datetime.datetime(*date, tzinfo=datetime.UTC).replace(tzinfo=None)


_TEXT = st.text(max_size=20)
_SCALARS = st.none() | st.booleans() | st.integers() | _TEXT
_FLOATS = st.floats(allow_nan=False, allow_infinity=False)
_JSON = st.recursive(
    _SCALARS | _FLOATS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3)
    ),
    max_leaves=8,
)
_ZONES = st.sampled_from(
    [
        datetime.UTC,
        datetime.timezone(datetime.timedelta(hours=-8)),
        datetime.timezone(datetime.timedelta(hours=5, minutes=45)),
        None,
    ]
)
_VALUES = {
    'UUID': st.uuids().map(str),
    'string': _TEXT,
    'boolean': st.booleans(),
    'integer': st.integers(),
    'time': st.datetimes(
        # Years are written with four digits, and no zone moves the day out of them.
        min_value=_naive(1000, 1, 2),
        max_value=_naive(9999, 12, 30),
        timezones=_ZONES,
    ),
    'object': st.dictionaries(_TEXT, _JSON, max_size=4),
    'array': st.lists(_JSON, max_size=3),
    'array of UUIDs': st.lists(st.uuids().map(str), max_size=3),
}


def values(payload):
    """Return a strategy for the fields of the latest version of a class."""
    return st.fixed_dictionaries(
        {
            field.name: st.none() | _value(field) if field.nullable else _value(field)
            for field in latest_fields(payload)
        }
    )


def latest_fields(payload):
    """Return the fields of the latest version of a class."""
    cls = CLASSES[payload]
    return cls.fields_in(cls.VERSION)


def _value(field):
    return values(field.payload) if field.payload else _VALUES[field.kind]


def versioned_object(payload, fields):
    """Return the object that holds these values, nested ones included."""
    nested = {field.name: field.payload for field in latest_fields(payload)}
    return CLASSES[payload](
        **{
            name: versioned_object(nested[name], value)
            if nested[name] and value is not None
            else value
            for name, value in fields.items()
        }
    )
