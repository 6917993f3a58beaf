"""[DEFAULT]: who this is, where it keeps its files, how long things may take."""

import os
import pathlib
import socket

from oslo_config import cfg

from watcherlite import exceptions

#: oslo.config knows the group [DEFAULT] as no group.
GROUP = None

OPTS = [
    cfg.StrOpt(
        'host',
        sample_default='<the name of the machine>',
        help='The name under which this machine shows up as the owner of an '
        'action, in logs and in the publisher_id of notifications. It defaults to '
        "the machine's own name. Set it when two machines have the same name, or "
        'when the name changes from one start to the next, as in containers.',
    ),
    cfg.StrOpt(
        'state_path',
        sample_default='~/.local/state/watcherlite',
        help='The directory of the files that watcherlite writes, first of all its '
        'SQLite database. Where XDG_STATE_HOME is set, the default is the directory '
        'watcherlite in that. Set it to /var/lib/watcherlite, or to another '
        'directory that only the service may read, when watcherlite runs as a '
        'service.',
    ),
    cfg.IntOpt(
        'default_action_timeout',
        default=3600,
        min=1,
        mutable=True,
        help='Seconds after which an action that names no timeout of its own is '
        'stopped and FAILED; all tries of an action count together. Raise it when '
        'actions without a timeout have good reason to run longer, as the migration '
        'of a large instance does; lower it to learn earlier of actions that hang.',
    ),
    cfg.IntOpt(
        'graceful_shutdown_timeout',
        default=60,
        min=0,
        mutable=True,
        help='Seconds that a daemon lets running actions finish after SIGTERM. What '
        'runs still is then left to another worker, or FAILED when nobody can tell '
        'how far it came. Keep it below the time after which the process manager '
        'kills the daemon (TimeoutStopSec of systemd).',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options, with the defaults that this machine and user give."""
    conf.register_opts(OPTS)
    conf.set_default('host', socket.gethostname())
    conf.set_default('state_path', str(_state_home() / 'watcherlite'))


def _state_home() -> pathlib.Path:
    """Return $XDG_STATE_HOME, or what the XDG base directory rules put for it."""
    home = os.environ.get('XDG_STATE_HOME', '')
    if os.path.isabs(home):
        return pathlib.Path(home)
    # The rules say to take no notice of a relative path.
    return pathlib.Path('~/.local/state').expanduser()


def state_directory(conf: cfg.ConfigOpts) -> pathlib.Path:
    """Return the directory `state_path`, made if it is not there yet.

    Only its owner may read what is in it: a database holds what plans contain.

    :raises ConfigurationError: it cannot be made, or is not a directory
    """
    path = pathlib.Path(conf.state_path).expanduser().absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise exceptions.ConfigurationError(
            f'The state directory {path} cannot be made: {error.strerror}. '
            'Set [DEFAULT] state_path to a directory that this user may write to.'
        ) from error
    return path
