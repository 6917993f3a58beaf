"""JSON schemas of the documents that say what there is."""

from watcherlite.api.infra_optim.schemas import shapes
from watcherlite.api.operation import Schema, Versioned, always

_SELF: Schema = {
    'type': 'array',
    'items': shapes.whole({'href': shapes.TEXT, 'rel': shapes.TEXT}),
}
_ONE: Schema = shapes.whole(
    {
        'id': shapes.TEXT,
        'status': {'type': 'string', 'enum': ['CURRENT']},
        'max_version': shapes.TEXT,
        'min_version': shapes.TEXT,
        'links': _SELF,
    }
)
SERVICE = always(
    shapes.whole(
        {
            'name': shapes.TEXT,
            'description': shapes.TEXT,
            'versions': {'type': 'array', 'items': _ONE},
            'default_version': _ONE,
        }
    )
)


def _collections(*more: str) -> Schema:
    nouns = (
        *('audit_templates', 'audits', 'actions', 'action_plans'),
        *('scoring_engines', 'services', *more),
    )
    return shapes.whole(
        {
            'id': shapes.TEXT,
            'media_types': {
                'type': 'array',
                'items': shapes.whole({'base': shapes.TEXT, 'type': shapes.TEXT}),
            },
            'links': _SELF,
            **dict.fromkeys(nouns, shapes.LINKS),
        }
    )


VERSION: Versioned = {
    (1, 0): _collections(),
    (1, 3): _collections('data_model'),
    (1, 4): _collections('data_model', 'webhooks'),
}
