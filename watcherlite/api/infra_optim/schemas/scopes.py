"""The JSON schema of the scope of an audit.

A scope is a list of objects, one for each kind of data model, with rules that include
or exclude parts of the infrastructure.
"""

from collections.abc import Mapping

from watcherlite import exceptions
from watcherlite.api.operation import Schema


def _objects(**properties: Schema) -> Schema:
    return {
        'type': 'array',
        'items': {
            'type': 'object',
            'properties': properties,
            'minProperties': 1,
            'additionalProperties': False,
        },
    }


_NAMED = _objects(name={'type': 'string'})
_WITH_UUID = _objects(uuid={'type': 'string'})
_AGGREGATES = _objects(
    id={
        'anyOf': [{'type': 'integer'}, {'type': 'string', 'enum': ['*']}],
        'description': 'A number, or * for all.',
    },
    name={'type': 'string'},
)

_COMPUTE = _objects(
    host_aggregates=_AGGREGATES,
    availability_zones=_NAMED,
    exclude=_objects(
        instances=_WITH_UUID,
        compute_nodes=_NAMED,
        host_aggregates=_AGGREGATES,
        instance_metadata={'type': 'array', 'items': {'type': 'object'}},
        projects=_WITH_UUID,
    ),
)
_STORAGE = _objects(
    availability_zones=_NAMED,
    volume_types=_NAMED,
    exclude=_objects(storage_pools=_NAMED, volumes=_WITH_UUID, projects=_WITH_UUID),
)
_BAREMETAL = _objects(exclude=_objects(ironic_nodes=_WITH_UUID))

_KINDS: Mapping[str, Schema] = {
    'compute': _COMPUTE,
    'storage': _STORAGE,
    'baremetal': _BAREMETAL,
}

SCOPE: Schema = {
    **_objects(**_KINDS),
    'type': ['array', 'null'],
    'description': 'The part of the infrastructure to which it is limited.',
}


def check(scope: object) -> None:
    """Raise Invalid for an inconsistent scope."""
    if not isinstance(scope, list):
        return
    for part in scope:
        rules = part.get('compute', ())
        included = any('host_aggregates' in rule for rule in rules)
        excluded = any(
            'host_aggregates' in left_out
            for rule in rules
            for left_out in rule.get('exclude', ())
        )
        if included and excluded:
            raise exceptions.Invalid(
                "host_aggregates can't be included and excluded together"
            )
