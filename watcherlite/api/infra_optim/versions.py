"""The microversions of the infra-optim API: those of Watcher, and later ones."""

from watcherlite.api.microversions import Versions
from watcherlite.api.operation import Version

INFRA_OPTIM = Versions(
    'infra-optim',
    {
        (1, 0): 'Goals, strategies, audit templates, audits, action plans, actions, '
        'scoring engines, services.',
        (1, 1): 'Audits have start_time and end_time.',
        (1, 2): 'Audits have force: they run even while an action plan is ONGOING.',
        (1, 3): 'The data model: GET /v1/data_model.',
        (1, 4): 'Webhooks: POST /v1/webhooks/{audit} triggers an EVENT audit.',
        (1, 5): 'PATCH /v1/actions/{uuid} skips an action; actions, action plans and '
        'audits show status_message.',
        (1, 6): 'The data model shows server_pinned_az and server_flavor_extra_specs.',
        (1, 7): 'Audit templates have default_parameters.',
        (1, 8): 'GET /v1/actions/{uuid} shows outputs, and /v1/actions/{uuid}/logs and '
        '/events the log and the events of the action; POST .../retry of a plan or an '
        'action creates a plan of what did not succeed; GET /v1/plugins, '
        '/v1/notifications and /v1/requests; audits, action plans and actions are '
        'searched by text, user, since and until; action plans show their progress, '
        'services their lane and lease; the data models storage and baremetal. Not in '
        'OpenStack Watcher.',
    },
)

#: The versions that introduced attributes of audits, plans, actions and templates.
START_AND_END: Version = (1, 1)
FORCE: Version = (1, 2)
STATUS_MESSAGE: Version = (1, 5)
EXTENDED_MODEL: Version = (1, 6)
DEFAULT_PARAMETERS: Version = (1, 7)
OUTPUTS: Version = (1, 8)
LOGS: Version = (1, 8)
ACTION_EVENTS: Version = (1, 8)
RETRY: Version = (1, 8)
PROGRESS: Version = (1, 8)
LEASES: Version = (1, 8)
PLUGINS: Version = (1, 8)
NOTIFICATIONS: Version = (1, 8)
REQUESTS: Version = (1, 8)
SEARCH: Version = (1, 8)
OTHER_MODELS: Version = (1, 8)

#: The state of deleted objects, which is not stored.
DELETED = 'DELETED'
