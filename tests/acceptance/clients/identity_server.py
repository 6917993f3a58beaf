"""Serve keystone: PORT, with its settings in $OS_KEYSTONE_CONFIG_DIR.

The interpreter of the environment of keystone runs this module.
"""

import sys

from cheroot import wsgi
from keystone.server import wsgi as keystone


def main():
    sys.argv[1:], port = [], int(sys.argv[1])
    application = keystone.initialize_public_application()
    server = wsgi.Server(('127.0.0.1', port), application, numthreads=4)
    server.prepare()
    print(f'keystone answers on {port}', flush=True)
    server.serve()


if __name__ == '__main__':
    main()
