"""JSON schemas of what there is."""

from watcherlite.api.operation import Schema, Versioned
from watcherlite.api.orchestration.schemas import shapes
from watcherlite.api.orchestration.schemas.shapes import whole

_VERSION: Schema = whole(
    {
        'id': shapes.TEXT,
        'status': {'type': 'string', 'enum': ['CURRENT']},
        'links': shapes.LINKS,
    }
)
_REVISION: Schema = whole({'revision': shapes.TEXT})

NO_ARGUMENTS: Versioned = shapes.arguments({})
VERSIONS: Versioned = shapes.listed('versions', _VERSION)
BUILD_INFO: Versioned = shapes.under('api', _REVISION, {'engine': _REVISION})
