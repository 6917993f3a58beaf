"""Serve Horizon: PORT DIRECTORY, with DIRECTORY/local/local_settings.py.

The interpreter of the environment of Horizon runs this module.
"""

import gc
import sys
from wsgiref import simple_server

import yaml


class Handler(simple_server.WSGIRequestHandler):
    def log_message(self, *args):
        """Log no requests."""


def main():
    port, directory = int(sys.argv[1]), sys.argv[2]
    # Scanning the modules for garbage takes a fifth of the time of their import.
    gc.disable()
    # Horizon reads the policies of all services.
    yaml.SafeLoader = yaml.CSafeLoader
    # Before the package `local` of Horizon, which has no local_settings.
    sys.path.insert(0, directory)
    from openstack_dashboard.wsgi import application

    gc.freeze()
    gc.enable()
    server = simple_server.make_server(
        '127.0.0.1', port, application, handler_class=Handler
    )
    print(f'Horizon answers on {port}', flush=True)
    server.serve_forever()


if __name__ == '__main__':
    main()
