"""[dashboard]: the web pages of the API server."""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'dashboard',
    title='Dashboard',
    help='Options of the web pages at /dashboard, which watcherlite-api and '
    '`watcherlite standalone` serve beside the REST API, with the same '
    'authentication and policies.',
)

OPTS = [
    cfg.BoolOpt(
        'enabled',
        default=True,
        help='Whether to serve the pages at /dashboard. Disable it if only programs '
        'use this API.',
    ),
    cfg.IntOpt(
        'session_lifetime',
        default=28800,
        min=60,
        max=2_592_000,
        help='The number of seconds after which a user must log in again. With '
        'auth_strategy keystone, a session also ends when its token expires. '
        'Lower it where browsers are shared.',
    ),
    cfg.URIOpt(
        'keystone_auth_uri',
        schemes=['http', 'https'],
        sample_default='<www_authenticate_uri of [keystone_authtoken]>',
        help='The URL of keystone with which the login form of auth_strategy keystone '
        'requests a token. Set it if this host reaches keystone at another address '
        'than its users.',
    ),
]
