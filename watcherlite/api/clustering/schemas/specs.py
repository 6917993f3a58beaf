"""JSON schemas of profiles and policies: what has a spec."""

from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.operation import Schema, Versioned, always
from watcherlite.api.shapes import whole

_SHOWN = {
    'name': shapes.TEXT,
    'type': shapes.TEXT,
    **shapes.OWNED,
    'spec': shapes.OBJECT,
    'created_at': shapes.TIME,
    'updated_at': shapes.TIME,
}
_PROFILE: Schema = whole(
    {'id': shapes.TEXT_OR_NULL, **_SHOWN, 'metadata': shapes.OBJECT}
)
_POLICY: Schema = whole({'id': shapes.TEXT_OR_NULL, **_SHOWN, 'data': shapes.OBJECT})

INDEX: Versioned = always(shapes.index(shapes.filters('name', 'type')))

PROFILES: Versioned = always(shapes.page('profiles', _PROFILE))
PROFILE: Versioned = shapes.under('profile', _PROFILE)
NEW_PROFILE: Versioned = always(
    shapes.brought(
        'profile',
        {
            'name': shapes.NAME,
            'spec': shapes.SPEC,
            'metadata': shapes.OBJECT_OR_NULL,
        },
        *('name', 'spec'),
    )
)
CHANGED_PROFILE: Versioned = always(
    shapes.brought(
        'profile',
        {'name': shapes.NAME_OR_NULL, 'metadata': shapes.OBJECT_OR_NULL},
    )
)
#: Clients send what they would create.
_OWN_NAME: dict[str, Schema] = {'name': shapes.TEXT_OR_NULL}
VALIDATED_PROFILE: Versioned = always(
    shapes.brought(
        'profile',
        {'spec': shapes.SPEC, **_OWN_NAME, 'metadata': shapes.OBJECT_OR_NULL},
        'spec',
    )
)

POLICIES: Versioned = always(shapes.page('policies', _POLICY))
POLICY: Versioned = shapes.under('policy', _POLICY)
NEW_POLICY: Versioned = always(
    shapes.brought(
        'policy', {'name': shapes.NAME, 'spec': shapes.SPEC}, *('name', 'spec')
    )
)
CHANGED_POLICY: Versioned = always(
    shapes.brought('policy', {'name': shapes.NAME_OR_NULL})
)
VALIDATED_POLICY: Versioned = always(
    shapes.brought('policy', {'spec': shapes.SPEC, **_OWN_NAME}, 'spec')
)
