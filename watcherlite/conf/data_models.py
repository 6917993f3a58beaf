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
    cfg.StrOpt(
        'notification_transport_url',
        default='',
        secret=True,
        help='The URL of the broker to which nova, cinder and ironic send '
        'notifications, in the form of [messaging] url, usually the transport_url of '
        'nova. watcherlite-engine then keeps the data models current by '
        'notifications instead of collecting them again, and recovers failed nodes '
        'of clusters whose health policy has the mode LIFECYCLE_EVENTS. Empty: it '
        'does not.',
    ),
    cfg.ListOpt(
        'notification_topics',
        default=[
            'nova.versioned_notifications',
            'openstack.notifications',
            'ironic.ironic_versioned_notifications',
        ],
        help='The topics of the notifications, as EXCHANGE.TOPIC: the control_exchange '
        'of each service, and a topic of its notifications. Topics whose exchange does '
        'not exist are consumed when it does. Change it if the options of the '
        'services differ from their defaults.',
    ),
    cfg.StrOpt(
        'notification_tls_ca_file',
        default='',
        help='The certificates of the authorities to trust in an amqps connection to '
        'this broker, a PEM file. Empty: those of the system. Set it if its '
        'certificate was issued by a private authority.',
    ),
    cfg.FloatOpt(
        'max_age_with_notifications',
        default=600.0,
        min=0.0,
        max=86400.0,
        mutable=True,
        help='The maximum age in seconds of a data model that is kept current by '
        'notifications: while the broker is connected, and a notification has '
        'arrived that concerns it. Otherwise max_age applies. Lower it if the '
        'capacity of compute nodes changes often, which has no notification.',
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
