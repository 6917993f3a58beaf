"""Serve keystone: PORT, with its settings in $OS_KEYSTONE_CONFIG_DIR.

The interpreter of the environment of keystone runs this module. The server refuses
connections from UNREACHABLE to REACHABLE, because importing keystone again takes longer
than most tests. In addition to the API of keystone, it serves TOKEN_PATH.
"""

import gc
import signal
import sys
from urllib import parse

from cheroot import wsgi

UNREACHABLE, REACHABLE = signal.SIGUSR1, signal.SIGUSR2
#: Responds with a token for the user, the project and the expiry of the query, as if it
#: was issued some time ago.
TOKEN_PATH = '/issued-token'


def main():
    sys.argv[1:], port = [], int(sys.argv[1])
    # Scanning the modules for garbage takes a fifth of the time of their import.
    gc.disable()
    from keystone.server import wsgi as keystone

    gc.freeze()
    gc.enable()
    signal.signal(UNREACHABLE, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_BLOCK, [REACHABLE])
    application = add_token_path(keystone.initialize_public_application())
    while True:
        server = wsgi.Server(('127.0.0.1', port), application, numthreads=4)
        server.prepare()
        print(f'keystone answers on {port}', flush=True)
        try:
            server.serve()
        except KeyboardInterrupt:
            server.stop()
        print('keystone is unreachable', flush=True)
        signal.sigwait([REACHABLE])


def add_token_path(application):
    """Return a WSGI application that also serves TOKEN_PATH."""

    def answer(environ, start_response):
        if environ['PATH_INFO'] != TOKEN_PATH:
            return application(environ, start_response)
        query = dict(parse.parse_qsl(environ['QUERY_STRING']))
        start_response('200 OK', [('Content-Type', 'text/plain')])
        return [create_token(**query).encode()]

    return answer


def create_token(user, project, expiry):
    from keystone.token import provider, token_formatters

    return token_formatters.TokenFormatter().create_token(
        user,
        expiry,
        [provider.random_urlsafe_str()],
        token_formatters.ProjectScopedPayload,
        methods=['password'],
        project_id=project,
    )


if __name__ == '__main__':
    main()
