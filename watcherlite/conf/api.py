"""[api]: where the REST API is served, to whom, and how much at a time."""

from oslo_config import cfg

from watcherlite.conf import registration

GROUP = cfg.OptGroup(
    'api',
    title='REST API',
    help='watcherlite-api, and `watcherlite standalone`, serve the REST API with '
    'these. Under gunicorn or uwsgi, which have options of their own for it, host, '
    'port, workers and threads say nothing.',
)

NOAUTH = 'noauth'

OPTS = [
    cfg.HostAddressOpt(
        'host',
        default='127.0.0.1',
        help='The address to listen on. The default serves this machine only. Set it '
        'to 0.0.0.0, to :: or to one address of the machine when others are to use '
        'the API, with an auth_strategy other than noauth.',
    ),
    cfg.PortOpt(
        'port',
        default=9322,
        help='The port to listen on. Change it when another program has it; with 0 the '
        'system chooses one, and the log tells which.',
    ),
    cfg.IntOpt(
        'workers',
        default=1,
        min=1,
        max=256,
        help='How many processes watcherlite-api starts. Raise it when one process '
        'uses a whole processor. `watcherlite standalone` serves in one process '
        'whatever it says.',
    ),
    cfg.IntOpt(
        'threads',
        default=16,
        min=2,
        max=1024,
        help='How many requests a process works on at a time. An open stream of '
        'events takes one all the time. Raise it, and [database] max_pool_size with '
        'it, when requests wait although no processor is busy.',
    ),
    cfg.IntOpt(
        'max_limit',
        default=1000,
        min=1,
        max=100_000,
        help='The most rows of a page of a collection, and how many there are when '
        'the client names no limit. Lower it when answers are larger than clients, '
        'or proxies on the way, like.',
    ),
    cfg.IntOpt(
        'max_event_streams',
        min=0,
        max=1024,
        sample_default='<half of threads>',
        help='How many streams of events a process keeps open. Whoever comes later '
        'is told to try again, and can ask for events by number meanwhile. Lower it '
        'when streams leave too few threads to other requests; 0 means none.',
    ),
    cfg.IntOpt(
        'max_body_size',
        default=4 * 1024 * 1024,
        min=1024,
        help='The most bytes of the body of a request. Raise it when larger plans '
        'are to be created; a longer body is refused with status 413.',
    ),
    cfg.StrOpt(
        'auth_strategy',
        default=NOAUTH,
        choices=[
            (NOAUTH, 'everybody may do everything; for one machine and for tests'),
            ('http_basic', 'users and passwords from a file'),
            ('keystone', 'tokens of OpenStack, see [keystone_authtoken]'),
        ],
        help='How callers prove who they are. Set it to keystone where there is an '
        'OpenStack, and to http_basic where there is none, as soon as anybody but '
        'you can reach the API.',
    ),
    cfg.BoolOpt(
        'noauth_on_any_address',
        default=False,
        help='Whether the API may listen on an address that other machines reach '
        'while auth_strategy is noauth. Turn it on only where something else keeps '
        'strangers out, such as a proxy that authenticates, or the network of a test.',
    ),
    cfg.StrOpt(
        'http_basic_auth_user_file',
        default='/etc/watcherlite/htpasswd',
        help='The users of http_basic and their passwords, a line USER:HASH for each, '
        'with hashes made by bcrypt (htpasswd -B). It is read again when it changes.',
    ),
    cfg.DictOpt(
        'http_basic_user_roles',
        default={},
        sample_default='alice:admin,bob:reader+service',
        help='The roles of users of http_basic, several of one user joined by +: '
        'reader, member, manager, admin, service, or those of your own policies. Set '
        'it when not all users may do everything.',
    ),
    cfg.ListOpt(
        'http_basic_default_roles',
        default=['admin'],
        help='The roles of users of http_basic who are not in http_basic_user_roles. '
        'Set it to reader, or to nothing, when the file has users who are not '
        'administrators.',
    ),
    cfg.BoolOpt(
        'enable_webhooks_auth',
        default=True,
        help='Whether who calls the webhook of an audit has to prove who they are. '
        'Turn it off when they cannot; everybody who knows the name of an EVENT '
        'audit can trigger it then.',
    ),
    cfg.BoolOpt(
        'healthcheck_details',
        default=False,
        help='Whether /healthcheck tells everybody of the database, the broker, the '
        'daemons and the outbox, and not administrators only. Turn it on where a '
        'monitoring system that cannot authenticate asks for them.',
    ),
    cfg.StrOpt(
        'healthcheck_disable_file',
        default='',
        help='While there is a file of this name, /healthcheck answers 503, so that a '
        'load balancer sends no more requests here. Set it to be able to take a '
        'machine out of service by touching a file.',
    ),
    cfg.BoolOpt(
        'metrics',
        default=False,
        help='Whether /metrics tells figures in the format of Prometheus: requests of '
        'this process, and active plans, unfinished actions, workers and pending '
        'notifications of the database. It needs no authentication; turn it on where '
        'that may be seen by all who reach the API.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the group and its options."""
    registration.register(conf, GROUP, OPTS)
