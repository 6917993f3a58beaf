"""[api]: the REST API server, authentication and limits."""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'api',
    title='REST API',
    help='Options of watcherlite-api and `watcherlite standalone`. Under gunicorn or '
    'uwsgi, which have their own options, host, port, workers, threads, '
    'max_header_size, max_connections and client_timeout have no effect.',
)

NOAUTH = 'noauth'

OPTS = [
    cfg.HostAddressOpt(
        'host',
        default='127.0.0.1',
        help='The address to listen on. The default accepts local connections only. '
        'Set it to 0.0.0.0, to :: or to one address of the machine to accept '
        'remote connections, with an auth_strategy other than noauth.',
    ),
    cfg.PortOpt(
        'port',
        default=9322,
        help='The port to listen on. Change it if another program uses it; with 0 '
        'the system chooses a free port, which is logged.',
    ),
    cfg.IntOpt(
        'workers',
        default=1,
        min=1,
        max=256,
        help='The number of processes that watcherlite-api starts. Raise it when one '
        'process saturates a processor. `watcherlite standalone` always serves '
        'in one process.',
    ),
    cfg.IntOpt(
        'threads',
        default=16,
        min=2,
        max=1024,
        help='The number of requests that a process handles concurrently. An open '
        'event stream occupies one of them. Raise it, together with [database] '
        'max_pool_size, when requests wait although no processor is busy.',
    ),
    cfg.IntOpt(
        'max_limit',
        default=1000,
        min=1,
        max=100_000,
        help='The maximum, and default, number of rows of a page of a collection. '
        'Lower it when responses are too large for clients or proxies.',
    ),
    cfg.IntOpt(
        'idempotency_key_lifetime',
        default=86400,
        min=60,
        max=31_536_000,
        help='The number of seconds for which the Idempotency-Key of a request is '
        'remembered: a request repeated later is executed again. API processes '
        'purge older keys.',
    ),
    cfg.FloatOpt(
        'request_retention',
        default=90.0,
        min=0,
        max=36500,
        help='The number of days for which the requests that changed something are '
        'recorded: who sent them, and what they changed. API processes delete older '
        'records. Raise it if an audit of the changes goes back further; 0 keeps '
        'all of them.',
    ),
    cfg.IntOpt(
        'max_event_streams',
        min=0,
        max=1024,
        sample_default='<half of threads>',
        help='The maximum number of open event streams of a process. Further '
        'requests are refused with a request to retry, and clients can poll '
        'events by sequence number. Lower it when streams leave too few threads '
        'to other requests; 0 disables streams.',
    ),
    cfg.IntOpt(
        'max_body_size',
        default=4 * 1024 * 1024,
        min=1024,
        help='The maximum size of a request body in bytes. Raise it for larger '
        'plans; a larger body is refused with status 413.',
    ),
    cfg.IntOpt(
        'max_header_size',
        default=65536,
        min=4096,
        max=1024 * 1024,
        help='The maximum size of the request line and headers in bytes. Raise it '
        'for longer tokens or URLs; a larger header is refused with status 431.',
    ),
    cfg.IntOpt(
        'max_connections',
        default=512,
        min=16,
        max=65536,
        help='The maximum number of open connections of a process. Beyond it, the '
        'connection that has been idle for longest is closed, or else the one '
        'whose request has been incomplete for longest. Raise it, and the limit '
        'of open files to more than twice as many, for more concurrent clients.',
    ),
    cfg.IntOpt(
        'client_timeout',
        default=60,
        min=1,
        max=3600,
        help='The number of seconds within which a client must send a complete '
        'request, and within which it must receive the response. Lower it when '
        'the API is exposed to untrusted clients, raise it for slow '
        'connections. A slower client is disconnected; it occupies no thread '
        'meanwhile.',
    ),
    cfg.StrOpt(
        'auth_strategy',
        default=NOAUTH,
        choices=[
            (NOAUTH, 'no authentication; for one machine and for tests'),
            ('http_basic', 'users and passwords from a file'),
            ('keystone', 'tokens of OpenStack, see [keystone_authtoken]'),
        ],
        help='The authentication method. Set it to keystone in an OpenStack '
        'deployment, otherwise to http_basic, before the API becomes reachable '
        'for others.',
    ),
    cfg.BoolOpt(
        'noauth_on_any_address',
        default=False,
        help='Whether the API may listen on an address that other machines can reach '
        'while auth_strategy is noauth. Enable it only if access is restricted '
        'by other means, such as an authenticating proxy or an isolated test '
        'network.',
    ),
    cfg.StrOpt(
        'http_basic_auth_user_file',
        default='/etc/watcherlite/htpasswd',
        help='The file of http_basic users and passwords, a line USER:HASH for each, '
        'with bcrypt hashes (htpasswd -B). Changes are read automatically.',
    ),
    cfg.DictOpt(
        'http_basic_user_roles',
        default={},
        sample_default='alice:admin,bob:reader+service',
        help='The roles of http_basic users, several roles joined by +: reader, '
        'member, manager, admin, service, or those of custom policies. Set it '
        'for users who need more than http_basic_default_roles.',
    ),
    cfg.ListOpt(
        'http_basic_default_roles',
        default=[],
        help='The roles of http_basic users who are not in http_basic_user_roles; '
        'without roles they have no access. Set it to reader if all users of '
        'the file may read, and to admin if all of them are administrators.',
    ),
    cfg.BoolOpt(
        'enable_webhooks_auth',
        default=True,
        help='Whether calls of an audit webhook require authentication. Disable it '
        'for callers that cannot authenticate; any client that knows the name of an '
        'EVENT audit can then trigger it.',
    ),
    cfg.BoolOpt(
        'healthcheck_details',
        default=False,
        help='Whether /healthcheck reports the state of the database, the broker, '
        'the daemons and the outbox to everybody, instead of administrators '
        'only. Enable it for a monitoring system that cannot authenticate.',
    ),
    cfg.StrOpt(
        'healthcheck_disable_file',
        default='',
        help='If this file exists, /healthcheck answers 503, so that a load balancer '
        'stops sending requests. Set it to be able to take a machine out of '
        'service by touching a file.',
    ),
    cfg.BoolOpt(
        'metrics',
        default=False,
        help='Whether to serve /metrics in the format of Prometheus: requests of '
        'this process, and active plans, unfinished actions, workers and '
        'pending notifications in the database. It requires no authentication; '
        'enable it if everybody who can reach the API may read them.',
    ),
    cfg.ListOpt(
        'allowed_hosts',
        default=[],
        sample_default='api.example.org',
        help='The host names, without a port, accepted in requests without '
        'authentication: /metrics, /healthcheck with details for everybody, and '
        'webhooks while enable_webhooks_auth is false. Addresses, localhost and '
        'the name of this machine are always accepted. Set it if a monitoring '
        'system or a proxy uses another name; * accepts every name. Other names '
        'are refused to prevent DNS rebinding attacks by web pages.',
    ),
]
