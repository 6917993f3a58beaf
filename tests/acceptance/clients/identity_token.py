"""Print a token of keystone: USER PROJECT EXPIRY, with the settings of the server.

The token is like one that was issued some time ago. The interpreter of the environment
of keystone runs this module.
"""

import os
import sys

import keystone.conf
from keystone.token import provider, token_formatters


def main():
    user, project, expiry = sys.argv[1:]
    keystone.conf.configure()
    home = os.environ['OS_KEYSTONE_CONFIG_DIR']
    keystone.conf.CONF([], default_config_files=[f'{home}/keystone.conf'])
    token = token_formatters.TokenFormatter().create_token(
        user,
        expiry,
        [provider.random_urlsafe_str()],
        token_formatters.ProjectScopedPayload,
        methods=['password'],
        project_id=project,
    )
    print(token)


if __name__ == '__main__':
    main()
