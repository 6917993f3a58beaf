"""JSON schemas of profiles and policies."""

import dataclasses
from collections.abc import Mapping

from watcherlite.api.clustering.schemas import fragments
from watcherlite.api.fragments import closed
from watcherlite.api.operation import Schema, Versioned, unversioned

INDEX: Versioned = unversioned(
    fragments.list_arguments(fragments.filters('name', 'type'))
)

_SHOWN: Mapping[str, Schema] = {
    'id': fragments.TEXT_OR_NULL,
    'name': fragments.TEXT,
    'type': fragments.TEXT,
    **fragments.OWNED,
    'spec': fragments.OBJECT,
    'created_at': fragments.TIME,
    'updated_at': fragments.TIME,
}
#: Clients send the whole object with its name to validate its spec.
_VALIDATED: Mapping[str, Schema] = {
    'spec': fragments.SPEC,
    'name': fragments.TEXT_OR_NULL,
}


@dataclasses.dataclass(frozen=True, slots=True)
class SpecSchemas:
    """The schemas of one kind: of responses (one, page) and of bodies."""

    one: Versioned
    page: Versioned
    new: Versioned
    changed: Versioned
    validated: Versioned


def _schemas(
    noun: str, nouns: str, shown: Mapping[str, Schema], given: Mapping[str, Schema]
) -> SpecSchemas:
    """Return the schemas of one kind.

    :param shown: its members in addition to the common ones
    :param given: members of bodies in addition to name and spec
    """
    one = closed({**_SHOWN, **shown})

    def body(members: Mapping[str, Schema], *required: str) -> Versioned:
        return unversioned(fragments.wrapped(noun, {**members, **given}, *required))

    return SpecSchemas(
        one=fragments.under(noun, one),
        page=unversioned(fragments.page(nouns, one)),
        new=body({'name': fragments.NAME, 'spec': fragments.SPEC}, 'name', 'spec'),
        changed=body({'name': fragments.NAME_OR_NULL}),
        validated=body(_VALIDATED, 'spec'),
    )


PROFILE = _schemas(
    'profile',
    'profiles',
    {'metadata': fragments.OBJECT},
    {'metadata': fragments.OBJECT_OR_NULL},
)
POLICY = _schemas('policy', 'policies', {'data': fragments.OBJECT}, {})
