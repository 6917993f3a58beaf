"""JSON schemas of what there is: versions, releases, engines."""

from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.operation import Schema, Versioned, always
from watcherlite.api.shapes import links, listed, whole

_VERSION: Schema = whole(
    {
        'id': shapes.TEXT,
        'status': {'type': 'string', 'enum': ['CURRENT']},
        'updated': shapes.TIME,
        'media-types': {'type': 'array', 'items': shapes.OBJECT},
        'links': links('self', 'help'),
        'min_version': shapes.TEXT,
        'max_version': shapes.TEXT,
    }
)
_REVISION: Schema = whole({'revision': shapes.TEXT})
_SERVICE: Schema = whole(
    {
        'id': shapes.TEXT,
        'binary': shapes.TEXT,
        'host': shapes.TEXT,
        'topic': shapes.TEXT,
        'status': {'type': 'string', 'enum': ['enabled', 'disabled']},
        'state': {'type': 'string', 'enum': ['up', 'down']},
        'disabled_reason': shapes.TEXT_OR_NULL,
        'updated_at': shapes.TIME,
    }
)

VERSIONS: Versioned = listed('versions', _VERSION)
VERSION: Versioned = shapes.under('version', _VERSION)
BUILD_INFO: Versioned = shapes.under(
    'build_info', whole({'api': _REVISION, 'engine': _REVISION})
)
SERVICES: Versioned = always(whole({'services': {'type': 'array', 'items': _SERVICE}}))
