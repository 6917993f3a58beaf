"""JSON schemas of versions, releases and engines."""

from watcherlite.api.operation import Schema, Versioned
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.api.orchestration.schemas.fragments import closed

_VERSION: Schema = closed(
    {
        'id': fragments.TEXT,
        'status': {'type': 'string', 'enum': ['CURRENT']},
        'links': fragments.LINKS,
    }
)
_REVISION: Schema = closed({'revision': fragments.TEXT})

VERSIONS: Versioned = fragments.listed('versions', _VERSION)
VERSION: Versioned = fragments.under('version', _VERSION)
BUILD_INFO: Versioned = fragments.under('api', _REVISION, {'engine': _REVISION})


_SERVICE: Schema = fragments.closed(
    {
        'id': fragments.TEXT,
        'engine_id': fragments.TEXT,
        'binary': fragments.TEXT,
        'topic': fragments.TEXT,
        'host': fragments.TEXT,
        'hostname': fragments.TEXT,
        'status': {'type': 'string', 'enum': ['up', 'down']},
        'created_at': fragments.TIME,
        'updated_at': fragments.TIME,
        'deleted_at': fragments.TIME,
    }
)
SERVICES: Versioned = fragments.listed('services', _SERVICE)
