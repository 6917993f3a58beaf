"""[messaging]: the broker that tells workers to look now, and the world the news."""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'messaging',
    title='Messaging',
    help='Messages make things fast, the database makes them safe: with the broker '
    'down, plans run on a little later and notifications wait.',
)

OPTS = [
    cfg.StrOpt(
        'url',
        default='memory://',
        secret=True,
        help='The broker, for instance amqp://USER:PASSWORD@HOST:5672/VHOST; amqps '
        'for TLS, rabbit is accepted for amqp. Several hosts of one cluster are '
        'separated by commas, as oslo.messaging has them. The default stays within '
        'the process: set it as soon as there is more than one, or when others are to '
        'receive notifications. In this file a dollar sign of a password is written '
        '$$.',
    ),
    cfg.StrOpt(
        'tls_ca_file',
        default='',
        help='The certificates of the authorities to trust in an amqps connection, '
        'a file in PEM form. Empty trusts those of the system. Set it when the '
        "broker's certificate was issued by an authority of your own.",
    ),
    cfg.StrOpt(
        'tls_cert_file',
        default='',
        help='The certificate to show to the broker, a file in PEM form. Set it when '
        'the broker asks its clients for one.',
    ),
    cfg.StrOpt(
        'tls_key_file',
        default='',
        help='The private key of this certificate, a file in PEM form. Set it when '
        'the key is not in tls_cert_file; only the service may read the file.',
    ),
    cfg.IntOpt(
        'heartbeat',
        default=15,
        min=0,
        help='Seconds without any sign of life after which a connection is taken for '
        'dead; 0 turns heartbeats off. Lower it to notice sooner that a broker has '
        'vanished without a word; raise it when a busy broker is taken for dead.',
    ),
    cfg.IntOpt(
        'connect_timeout',
        default=5,
        min=1,
        help='Seconds to wait for a broker to accept a connection before the next '
        'one of `url` is tried. Raise it when the broker is far away.',
    ),
    cfg.IntOpt(
        'confirm_timeout',
        default=10,
        min=1,
        help='Seconds to wait for the broker to confirm what was published. Without '
        'the confirmation it is published again, with the same message_id. Raise it '
        'when the disks of the broker are slow.',
    ),
    cfg.IntOpt(
        'reconnect_max',
        default=30,
        min=1,
        help='The most seconds between two tries to reach a broker that is down. '
        'The first tries come quickly, later ones ever more slowly and at random. '
        'Raise it when many daemons share a broker that needs long to come up.',
    ),
]
