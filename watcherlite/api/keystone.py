"""keystonemiddleware and its options."""

from collections.abc import Callable

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.api.errors import Wsgi

GROUP = 'keystone_authtoken'


def checker(conf: cfg.ConfigOpts) -> Callable[[Wsgi], Wsgi]:
    """Return a function that wraps an application in keystonemiddleware.

    :raises ConfigurationError: [keystone_authtoken] is incomplete
    """
    # It takes 19 MB, so it is imported only if it is used.
    from keystonemiddleware import auth_token

    for options in auth_token.list_opts():
        conf.register_opts(options[1], group=options[0])
    if not (conf[GROUP].auth_type or conf[GROUP].auth_section):
        raise exceptions.ConfigurationError(
            '[api] auth_strategy is keystone, and [keystone_authtoken] has no '
            'auth_type; set it, for instance to password, with auth_url, username, '
            'password, project_name and the domains'
        )

    def around(application: Wsgi) -> Wsgi:
        checked: Wsgi = auth_token.AuthProtocol(
            application, {'oslo_config_config': conf}
        )
        return checked

    return around
