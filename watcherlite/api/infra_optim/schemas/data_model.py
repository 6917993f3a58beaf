"""JSON schemas of the data model."""

from watcherlite.api.fragments import closed
from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.operation import Version, unversioned

#: The microversion that introduced it.
SINCE: Version = (1, 3)
COMPUTE = 'compute'

QUERY = unversioned(
    {
        'type': 'object',
        'properties': {
            'data_model_type': {
                'type': 'string',
                'description': f'{COMPUTE}, which is the default; or storage or '
                'baremetal, from 1.8 on.',
            },
            'audit_uuid': {
                **fragments.UUID,
                'description': 'An audit; the answer is limited to its scope.',
            },
        },
        'additionalProperties': False,
    }
)
DATA_MODEL = unversioned(
    closed(
        {
            'context': {
                'type': 'array',
                'items': {'type': 'object'},
                'description': 'Compute nodes and servers, one flat object for '
                'each pair; or pools and volumes.',
            }
        },
        {'comment': {'type': 'string', 'description': 'The reason if it is empty.'}},
    )
)
