"""[notifications]: which notifications are sent, and their format."""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'notifications',
    title='Notifications',
    help='Versioned notifications of every change, in the envelope of oslo.messaging '
    '2.0, published to the broker of [messaging] url.',
)

OPTS = [
    cfg.StrOpt(
        'level',
        default='info',
        ignore_case=True,
        mutable=True,
        choices=[
            ('', 'send nothing'),
            ('debug', 'send all'),
            ('info', 'send INFO and above'),
            ('warning', 'send WARN and above'),
            ('error', 'send ERROR and above: failures'),
            ('critical', 'send CRITICAL only'),
        ],
        help='The minimum priority of notifications. Set it to error if consumers '
        'are interested in failures only, or leave it empty if there are no '
        'consumers: queues without consumers fill up the broker.',
    ),
    cfg.ListOpt(
        'topics',
        default=['versioned_notifications'],
        help='The topics of notifications; the routing key and the queue are '
        'TOPIC.PRIORITY, for instance versioned_notifications.info. Set several '
        'if several groups of consumers each need all notifications.',
    ),
    cfg.StrOpt(
        'exchange',
        default='watcher',
        help='The topic exchange to publish to. Set it to the control_exchange of '
        'existing consumers.',
    ),
    cfg.BoolOpt(
        'amqp_durable_queues',
        default=False,
        help='Whether the exchange and queues are durable. Consumers that use '
        'oslo.messaging have an option of the same name: both sides must agree, '
        'or the broker refuses the second declaration. Enable it for RabbitMQ 4 '
        'and later.',
    ),
    cfg.BoolOpt(
        'rabbit_quorum_queue',
        default=False,
        help='Whether queues are replicated in a RabbitMQ cluster (quorum queues); '
        'such queues are durable as well. Enable it if the consumers of '
        'oslo.messaging have enabled the option of the same name.',
    ),
    cfg.BoolOpt(
        'amqp_auto_delete',
        default=False,
        help='Whether a queue is deleted with its last consumer. Enable it only if '
        'consumers do so too; notifications are lost while there is no consumer.',
    ),
    cfg.StrOpt(
        'action_plan_event_prefix',
        default='actionplan',
        mutable=True,
        choices=[
            ('actionplan', 'as in the specification of the notifications'),
            ('action_plan', 'as sent by released versions of Watcher'),
        ],
        help='The prefix of the event types of action plans. Change it for consumers '
        'written for a released Watcher.',
    ),
    cfg.StrOpt(
        'payload_version',
        default='latest',
        mutable=True,
        choices=[
            ('latest', 'all available fields'),
            ('1.0', 'the fields of the specification only, no status_message'),
        ],
        help='The version of the payloads. Change it if consumers refuse newer '
        'versions.',
    ),
    cfg.IntOpt(
        'batch_size',
        default=500,
        min=1,
        max=10000,
        help='The number of changes that are published before waiting for '
        'confirmations; most changes have one or two notifications. Lower it if '
        'the confirmations of a batch take longer than publish_timeout.',
    ),
    cfg.IntOpt(
        'publish_timeout',
        default=30,
        min=1,
        help='The timeout of such a batch in seconds, after which it is retried. '
        'Raise it if the broker is slow or remote.',
    ),
    cfg.IntOpt(
        'redelivery_window',
        default=3600,
        min=0,
        mutable=True,
        help='The number of seconds for which confirmed notifications are published '
        'again, with the same message_id, if their queue is lost before it was '
        'seen empty: queues that are not durable are lost when the broker '
        'restarts. 0: never. Raise it if consumers may be offline for longer; '
        'the queue of a new topic starts with the notifications of this period. '
        'Not used with amqp_auto_delete.',
    ),
]
