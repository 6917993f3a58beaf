"""The rules of the service itself: its health and its descriptions."""

from watcherlite.api.policies.base import ADMIN, READER, SYSTEM_READER, rule

HEALTHCHECK_RULES = (
    rule(
        'healthcheck:detail',
        ADMIN,
        'Show the database, broker, lanes and outbox in /healthcheck.',
        ('GET', '/healthcheck'),
    ),
)

OPENAPI_RULES = (
    rule(
        'openapi:get',
        SYSTEM_READER,
        'Show the description of the API of plans and audits.',
        ('GET', '/v1/openapi.json'),
    ),
    rule(
        'clusters:openapi',
        READER,
        'Show the description of the API of clusters.',
        ('GET', '/clustering/v1/openapi.json'),
    ),
    rule(
        'stacks:openapi',
        READER,
        'Show the description of the API of stacks.',
        ('GET', '/orchestration/v1/openapi.json'),
    ),
)
