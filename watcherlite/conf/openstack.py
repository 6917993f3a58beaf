"""[openstack]: the cloud that plans, stacks and clusters act on.

The options of the authentication and the connection have the names of keystoneauth, and
are declared here because importing it takes half a second.
"""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'openstack',
    title='OpenStack',
    help='The cloud that plans, stacks and clusters act on, and the user of this '
    'service in it: either a cloud of clouds.yaml, or the options of keystoneauth. '
    'openstacksdk must be installed: `pip install "watcherlite[openstack]"`. '
    'Configure these options identically for every watcherlite-api, '
    'watcherlite-applier and watcherlite-engine. Nothing connects to the cloud before '
    'it is needed.',
)

AUTH_TYPES = ('password', 'v3password', 'v3applicationcredential')

#: Options passed to the plugin of `auth_type`.
AUTH_OPTS = [
    cfg.URIOpt(
        'auth_url',
        schemes=['http', 'https'],
        sample_default='https://keystone.example.org/v3',
        help='The URL of keystone. Without it and without `cloud` no cloud is '
        'configured.',
    ),
    cfg.StrOpt(
        'username',
        help='The name of the user of this service, with the domain of the user.',
    ),
    cfg.StrOpt(
        'user_id',
        help='The id of the user of this service, instead of `username` and the domain '
        'of the user.',
    ),
    cfg.StrOpt(
        'user_domain_id',
        help='The id of the domain of the user; `default` in most clouds.',
    ),
    cfg.StrOpt(
        'user_domain_name',
        help='The name of the domain of the user, set instead of `user_domain_id`.',
    ),
    cfg.StrOpt(
        'password',
        secret=True,
        help='The password of the user. Make this file readable for this service only.',
    ),
    cfg.StrOpt(
        'project_id',
        help='The id of the project of this service, instead of its name and domain.',
    ),
    cfg.StrOpt(
        'project_name',
        help='The name of the project of this service, usually `service`, with the '
        'domain of the project.',
    ),
    cfg.StrOpt(
        'project_domain_id',
        help='The id of the domain of the project; `default` in most clouds.',
    ),
    cfg.StrOpt(
        'project_domain_name',
        help='The name of the domain of the project, set instead of '
        '`project_domain_id`.',
    ),
    cfg.StrOpt(
        'system_scope',
        help='`all` for a token of the whole system instead of one of a project.',
    ),
    cfg.StrOpt(
        'application_credential_id',
        help='The id of the application credential, for auth_type '
        'v3applicationcredential. Such a service cannot use trusts, and creates '
        'application credentials for the users of stacks and clusters instead.',
    ),
    cfg.StrOpt(
        'application_credential_secret',
        secret=True,
        help='The secret of the application credential. Make this file readable for '
        'this service only.',
    ),
]

OPTS = [
    cfg.StrOpt(
        'cloud',
        help='The name of a cloud in clouds.yaml. The other options of this group '
        'replace its region, interface and certificates if they are set; those of the '
        'authentication must not be set.',
    ),
    cfg.StrOpt(
        'client_config_file',
        sample_default='<clouds.yaml in the current directory, ~/.config/openstack or '
        '/etc/openstack>',
        help='The path of clouds.yaml. It contains passwords: make it readable for the '
        'user of this service only.',
    ),
    cfg.StrOpt(
        'auth_type',
        default='password',
        choices=AUTH_TYPES,
        help='The method of authentication without `cloud`. Other methods require '
        'a cloud of clouds.yaml.',
    ),
    *AUTH_OPTS,
    cfg.StrOpt(
        'interface',
        choices=('public', 'internal', 'admin'),
        sample_default='public',
        help='The interface of the endpoints in the service catalog. Set it to '
        'internal if this service shares the internal network of the cloud.',
    ),
    cfg.StrOpt(
        'region_name',
        help='The region of the services; stacks may select another one. Required if '
        'the service catalog has several regions.',
    ),
    cfg.StrOpt(
        'cafile',
        help='A file with the certificates of the authorities that are trusted, '
        'instead of those of the system.',
    ),
    cfg.StrOpt(
        'certfile',
        help='The path of a client certificate in PEM, for services that require one.',
    ),
    cfg.StrOpt(
        'keyfile',
        help='The path of the key of the client certificate in PEM, if it is separate.',
    ),
    cfg.BoolOpt(
        'insecure',
        default=False,
        help='Do not verify the certificates of services. Anyone between this service '
        'and the cloud can then read its passwords: for tests only.',
    ),
    cfg.FloatOpt(
        'connect_timeout',
        default=5,
        min=0.1,
        max=300,
        help='The seconds that a connection to a service may take. Increase it for a '
        'distant cloud.',
    ),
    cfg.FloatOpt(
        'read_timeout',
        default=60,
        min=1,
        max=3600,
        help='The seconds between two parts of a response. Increase it for services '
        'that take longer to answer a request.',
    ),
    cfg.IntOpt(
        'retries',
        default=2,
        min=0,
        max=10,
        help='The number of repetitions of a request that only reads, or requests a '
        'token, if the service does not respond, or responds with 502, 503 or 504. '
        'Other requests are never repeated. An action whose service remains '
        'unavailable is delayed until its timeout, whatever this value is.',
    ),
    cfg.IntOpt(
        'max_connections',
        default=256,
        min=1,
        max=100_000,
        help='The number of users whose tokens and service catalogs are kept in the '
        'memory of a process; the least recently used one is discarded. Each takes '
        'about 0.5 MiB.',
    ),
    cfg.BoolOpt(
        'allow_service_authority',
        default=False,
        help='Whether stacks, clusters and receivers of callers without a keystone '
        'token, because [api] auth_strategy is not keystone, act on the cloud with the '
        'authority of this service. Every caller of the API can then do whatever this '
        'service may do.',
    ),
    cfg.ListOpt(
        'remote_auth_urls',
        default=[],
        sample_default='https://keystone.other.example.org/v3',
        help='The URLs of keystone in other clouds whose resources nested stacks may '
        'manage, with a credential of their users in barbican: `credential_secret_id` '
        'in the context of OS::Heat::Stack. Requests are sent to all endpoints that '
        'the service catalog of such a cloud has, so name clouds that you trust.',
    ),
]
