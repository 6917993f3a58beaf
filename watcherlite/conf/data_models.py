"""[data_models]: models of the infrastructure, and measurements."""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'data_models',
    title='Data models and datasources',
    help='The models of the infrastructure that strategies examine, and the '
    'measurements that they read. Configure them identically for watcherlite-engine, '
    'which runs audits, and for watcherlite-api, which shows the models.',
)

OPTS = [
    cfg.FloatOpt(
        'max_age',
        default=60.0,
        min=0.0,
        max=86400.0,
        mutable=True,
        help='The maximum age in seconds of the data model that an audit uses, or that '
        'GET /v1/data_model shows: an older one is collected again. Lower it if '
        'audits propose changes to what no longer exists; 0: collect it for '
        'every audit. Raise it to send fewer requests to the cloud.',
    ),
    cfg.ListOpt(
        'datasources',
        default=['prometheus', 'aetos', 'gnocchi', 'file'],
        mutable=True,
        help='The datasources in the order of preference. A strategy reads the first '
        'one that is configured and has all of its metrics; each is configured in '
        'a group of its own, [watcherlite.datasources.<name>].',
    ),
]
