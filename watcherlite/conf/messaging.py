"""[messaging]: the connection to the message broker."""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'messaging',
    title='Messaging',
    help='The broker wakes workers and delivers notifications. It is not required '
    'for correctness: while it is unavailable, actions start a little later and '
    'notifications are queued in the database.',
)

OPTS = [
    cfg.StrOpt(
        'url',
        default='memory://',
        secret=True,
        help='The URL of the broker, for instance '
        'amqp://USER:PASSWORD@HOST:5672/VHOST; amqps for TLS, rabbit is '
        'accepted for amqp. Several hosts of one cluster are separated by '
        'commas, as in oslo.messaging. The default is in-process: set it if '
        'there are several processes or consumers of notifications. Write a '
        'dollar sign in a password as $$ in this file.',
    ),
    cfg.StrOpt(
        'tls_ca_file',
        default='',
        help='The certificates of the authorities to trust in an amqps connection, a '
        "PEM file. Empty: those of the system. Set it if the broker's "
        'certificate was issued by a private authority.',
    ),
    cfg.StrOpt(
        'tls_cert_file',
        default='',
        help='The client certificate, a PEM file. Set it if the broker requires '
        'client certificates.',
    ),
    cfg.StrOpt(
        'tls_key_file',
        default='',
        help='The private key of this certificate, a PEM file. Set it if the key is '
        'not in tls_cert_file; only the service should be able to read the file.',
    ),
    cfg.IntOpt(
        'heartbeat',
        default=15,
        min=0,
        help='Seconds without heartbeats after which a connection is considered '
        'dead; 0 disables heartbeats. Lower it to detect a lost broker sooner; '
        'raise it if a busy broker is considered dead.',
    ),
    cfg.IntOpt(
        'connect_timeout',
        default=5,
        min=1,
        help='Seconds to wait for a broker to accept a connection before the next '
        'one of `url` is tried. Raise it if the broker is remote.',
    ),
    cfg.IntOpt(
        'confirm_timeout',
        default=10,
        min=1,
        help='Seconds to wait for a publisher confirmation. Without it the message '
        'is published again, with the same message_id. Raise it if the disks of '
        'the broker are slow.',
    ),
    cfg.IntOpt(
        'reconnect_max',
        default=30,
        min=1,
        help='The maximum number of seconds between two attempts to reconnect. '
        'Delays grow exponentially, with jitter. Raise it if many daemons share '
        'a broker that starts slowly.',
    ),
]
