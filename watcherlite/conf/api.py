"""[api]: where the REST API is served, to whom, and how much at a time."""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'api',
    title='REST API',
    help='watcherlite-api, and `watcherlite standalone`, serve the REST API with '
    'these. Under gunicorn or uwsgi, which have options of their own for it, host, '
    'port, workers, threads, max_header_size, max_connections and client_timeout say '
    'nothing.',
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
        'idempotency_key_lifetime',
        default=86400,
        min=60,
        max=31_536_000,
        help='For how many seconds the Idempotency-Key of a request is known: one that '
        'is repeated with it later is carried out again. Older keys are purged by the '
        'processes of the API.',
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
    cfg.IntOpt(
        'max_header_size',
        default=65536,
        min=4096,
        max=1024 * 1024,
        help='The most bytes of the first line and the headers of a request. Raise it '
        'when tokens or addresses are longer; a longer head is refused with status '
        '431.',
    ),
    cfg.IntOpt(
        'max_connections',
        default=512,
        min=16,
        max=65536,
        help='How many connections a process keeps open. When there are more, it '
        'closes the one that has been idle for longest, or else the one whose '
        'request has been incomplete for longest. Raise it, and the number of files '
        'that a process may open to more than twice as many, when there are so many '
        'clients at a time.',
    ),
    cfg.IntOpt(
        'client_timeout',
        default=60,
        min=1,
        max=3600,
        help='Seconds in which a client has to send a whole request, and in which it '
        'has to take what it is answered. Lower it when the API is reached by '
        'strangers, raise it for clients on slow lines. A client that is slower '
        'loses its connection; it holds no thread meanwhile.',
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
        'it for every user who may do more than http_basic_default_roles says.',
    ),
    cfg.ListOpt(
        'http_basic_default_roles',
        default=[],
        help='The roles of users of http_basic who are not in http_basic_user_roles; '
        'without any they may do nothing. Set it to reader where all users of the '
        'file may look, and to admin where all of them are administrators.',
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
    cfg.ListOpt(
        'allowed_hosts',
        default=[],
        sample_default='api.example.org',
        help='The names, without a port, by which what needs no authentication may be '
        'asked: /metrics, /healthcheck where it tells its details to everybody, and '
        'webhooks where enable_webhooks_auth is false. Addresses, localhost and the '
        'name of this machine need not be among them. Set it where a monitoring '
        'system, or a proxy, asks by another name; * allows every name. Other names '
        'are refused, so that a web page cannot have a browser ask by a name of its '
        'own that was made to lead here.',
    ),
]
