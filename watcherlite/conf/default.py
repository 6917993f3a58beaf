"""[DEFAULT]: identity of the host, state directory and timeouts."""

import os
import pathlib
import socket

from oslo_config import cfg

from watcherlite import exceptions

#: oslo.config represents the group [DEFAULT] as None.
GROUP = None

OPTS = [
    cfg.StrOpt(
        'host',
        sample_default='<the name of the machine>',
        help='The name of this machine as the owner of actions, in logs and in the '
        'publisher_id of notifications. The default is the host name. Set it if '
        'two machines have the same name, or if the name changes between '
        'starts, as in containers.',
    ),
    cfg.StrOpt(
        'state_path',
        sample_default='~/.local/state/watcherlite',
        help='The directory for files of watcherlite, such as its SQLite database. '
        'If XDG_STATE_HOME is set, the default is its subdirectory watcherlite. '
        'Set it to /var/lib/watcherlite, or to another directory that only the '
        'service can read, when watcherlite runs as a service.',
    ),
    cfg.IntOpt(
        'default_action_timeout',
        default=3600,
        min=1,
        mutable=True,
        help='The default timeout of actions in seconds, for all attempts of an '
        'action together; an action that exceeds it is FAILED. Raise it if '
        'actions without a timeout take longer, such as the migration of a '
        'large instance; lower it to detect hanging actions earlier.',
    ),
    cfg.FloatOpt(
        'action_log_retention',
        default=30.0,
        min=0.0,
        mutable=True,
        help='The number of days for which the logs of actions are stored; their '
        'results are stored until the action is purged. 0 stores the logs as long. '
        'Lower it if commands log much.',
    ),
    cfg.IntOpt(
        'graceful_shutdown_timeout',
        default=60,
        min=0,
        mutable=True,
        help='The number of seconds that a daemon waits for running actions after '
        'SIGTERM. Actions still running are then taken over by another worker, '
        'or FAILED if their progress is unknown. Keep it below the stop timeout '
        'of the process manager (TimeoutStopSec of systemd).',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options, with defaults for this machine and user."""
    conf.register_opts(OPTS)
    conf.set_default('host', socket.gethostname())
    conf.set_default('state_path', str(_state_home() / 'watcherlite'))


def _state_home() -> pathlib.Path:
    """Return $XDG_STATE_HOME, or its default by the XDG specification."""
    home = os.environ.get('XDG_STATE_HOME', '')
    if os.path.isabs(home):
        return pathlib.Path(home)
    # The specification requires relative paths to be ignored.
    return pathlib.Path('~/.local/state').expanduser()


def state_directory(conf: cfg.ConfigOpts) -> pathlib.Path:
    """Return the directory `state_path`, created if it does not exist.

    Only its owner may read it: a database contains the inputs of plans.

    :raises ConfigurationError: it cannot be created, or is not a directory
    """
    path = pathlib.Path(conf.state_path).expanduser().absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise exceptions.ConfigurationError(
            f'The state directory {path} cannot be created: {error.strerror}. Set '
            '[DEFAULT] state_path to a directory that this user can write to.'
        ) from error
    return path
