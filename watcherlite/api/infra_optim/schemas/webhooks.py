"""JSON schemas of webhooks."""

from watcherlite.api.operation import always

#: Any JSON, as long as there is some.
EVENT = always(
    {
        'title': 'body',
        'description': 'What happened: any JSON value, but not no body at all.',
    }
)
