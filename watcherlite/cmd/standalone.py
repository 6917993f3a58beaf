"""`watcherlite standalone`: all lanes and the API in one process."""

from collections.abc import Sequence

from watcherlite.cmd import api_server, daemon
from watcherlite.domain.actions import LANES


def main(args: Sequence[str] = ()) -> int:
    """Run until stopped; return the exit code.

    :param args: configuration arguments, as for the daemons
    """
    return daemon.main('watcherlite standalone', LANES, args, api=api_server.Api())
