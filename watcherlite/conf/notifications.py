"""[notifications]: what is told to the world, and in which form."""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'notifications',
    title='Notifications',
    help='Versioned notifications of every change, in the envelope of '
    'oslo.messaging 2.0, on the broker of [messaging] url.',
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
            ('error', 'send ERROR and above: what failed'),
            ('critical', 'send CRITICAL only'),
        ],
        help='The least priority of what is sent. Set it to error when consumers '
        'only care for what failed, or to nothing when there are no consumers: '
        'queues that nobody reads fill up the broker.',
    ),
    cfg.ListOpt(
        'topics',
        default=['versioned_notifications'],
        help='The topics that every notification goes to; the routing key and the '
        'queue are TOPIC.PRIORITY, for instance versioned_notifications.info. Name '
        'several when several groups of consumers each want all of them.',
    ),
    cfg.StrOpt(
        'exchange',
        default='watcher',
        help='The topic exchange to publish to. Change it to the control_exchange '
        'of consumers that were set up for another one.',
    ),
    cfg.BoolOpt(
        'amqp_durable_queues',
        default=False,
        help='Whether exchange and queues survive a restart of the broker. Consumers '
        'made with oslo.messaging have an option of the same name: both sides must '
        'agree, or the broker refuses the one that comes second. Turn it on for '
        'RabbitMQ 4 and later.',
    ),
    cfg.BoolOpt(
        'rabbit_quorum_queue',
        default=False,
        help='Whether queues are kept on several nodes of a RabbitMQ cluster; such '
        'queues are durable as well. Turn it on when the consumers of oslo.messaging '
        'have turned on the option of the same name.',
    ),
    cfg.BoolOpt(
        'amqp_auto_delete',
        default=False,
        help='Whether a queue disappears with its last consumer. Turn it on only '
        'when consumers do so too; what is sent while no consumer is there is then '
        'lost.',
    ),
    cfg.StrOpt(
        'action_plan_event_prefix',
        default='actionplan',
        mutable=True,
        choices=[
            ('actionplan', 'as the specification of the notifications says'),
            ('action_plan', 'as a shipped Watcher sends'),
        ],
        help='How the event types of action plans begin. Change it when consumers '
        'were written for a shipped Watcher.',
    ),
    cfg.StrOpt(
        'payload_version',
        default='latest',
        mutable=True,
        choices=[
            ('latest', 'everything that there is to tell'),
            ('1.0', 'the fields of the specification only, no status_message'),
        ],
        help='The version of the payloads. Change it when consumers refuse what '
        'is newer than they know.',
    ),
    cfg.IntOpt(
        'batch_size',
        default=500,
        min=1,
        max=10000,
        help='How many changes are told of before the confirmations are waited for; '
        'most changes have one or two notifications. Lower it when confirmations of '
        'so many take longer than publish_timeout.',
    ),
    cfg.IntOpt(
        'publish_timeout',
        default=30,
        min=1,
        help='Seconds that such a batch may take as a whole before it is tried '
        'again. Raise it when the broker is slow or far away.',
    ),
    cfg.IntOpt(
        'redelivery_window',
        default=3600,
        min=0,
        mutable=True,
        help='Seconds for which notifications that the broker has confirmed are '
        'published again, with the same message_id, when the queue that they were in '
        'is lost before it was seen empty: queues that are not durable are lost when '
        'the broker restarts. 0: never. Raise it when consumers may be away for '
        'longer; a queue of a new topic begins with what was published within this '
        'time. Not used with amqp_auto_delete.',
    ),
]
