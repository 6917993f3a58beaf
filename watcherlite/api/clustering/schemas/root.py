"""JSON schemas of versions, releases and engines."""

from watcherlite.api.clustering.schemas import fragments
from watcherlite.api.fragments import closed, links, listed
from watcherlite.api.operation import Schema, Versioned, unversioned

_VERSION: Schema = closed(
    {
        'id': fragments.TEXT,
        'status': {'type': 'string', 'enum': ['CURRENT']},
        'updated': fragments.TIME,
        'media-types': {'type': 'array', 'items': fragments.OBJECT},
        'links': links('self', 'help'),
        'min_version': fragments.TEXT,
        'max_version': fragments.TEXT,
    }
)
_REVISION: Schema = closed({'revision': fragments.TEXT})
_SERVICE: Schema = closed(
    {
        'id': fragments.TEXT,
        'binary': fragments.TEXT,
        'host': fragments.TEXT,
        'topic': fragments.TEXT,
        'status': {'type': 'string', 'enum': ['enabled', 'disabled']},
        'state': {'type': 'string', 'enum': ['up', 'down']},
        'disabled_reason': fragments.TEXT_OR_NULL,
        'updated_at': fragments.TIME,
    }
)

VERSIONS: Versioned = listed('versions', _VERSION)
VERSION: Versioned = fragments.under('version', _VERSION)
BUILD_INFO: Versioned = fragments.under(
    'build_info', closed({'api': _REVISION, 'engine': _REVISION})
)
SERVICES: Versioned = unversioned(
    closed({'services': {'type': 'array', 'items': _SERVICE}})
)
