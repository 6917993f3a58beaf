"""JSON schemas of the version documents."""

from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.operation import Schema, Versioned, unversioned

_SELF: Schema = {
    'type': 'array',
    'items': fragments.closed({'href': fragments.TEXT, 'rel': fragments.TEXT}),
}
_ONE: Schema = fragments.closed(
    {
        'id': fragments.TEXT,
        'status': {'type': 'string', 'enum': ['CURRENT']},
        'max_version': fragments.TEXT,
        'min_version': fragments.TEXT,
        'links': _SELF,
    }
)
SERVICE = unversioned(
    fragments.closed(
        {
            'name': fragments.TEXT,
            'description': fragments.TEXT,
            'versions': {'type': 'array', 'items': _ONE},
            'default_version': _ONE,
        }
    )
)


def _collections(*more: str) -> Schema:
    nouns = (
        'audit_templates',
        'audits',
        'actions',
        'action_plans',
        'scoring_engines',
        'services',
        *more,
    )
    return fragments.closed(
        {
            'id': fragments.TEXT,
            'media_types': {
                'type': 'array',
                'items': fragments.closed(
                    {'base': fragments.TEXT, 'type': fragments.TEXT}
                ),
            },
            'links': _SELF,
            **dict.fromkeys(nouns, fragments.LINKS),
        }
    )


VERSION: Versioned = {
    (1, 0): _collections(),
    (1, 3): _collections('data_model'),
    (1, 4): _collections('data_model', 'webhooks'),
}
