"""The configuration: one module per option group, and no global instance.

Everything is registered on a configuration that is passed in, so that a process, a test
or a program that embeds watcherlite may hold several independent ones.
"""

from collections.abc import Sequence
from types import ModuleType

from oslo_config import cfg

from watcherlite.conf import (
    api,
    applier,
    clusters,
    dashboard,
    data_models,
    database,
    default,
    engine,
    logs,
    messaging,
    notifications,
    openstack,
    outgoing_http,
    registration,
    secrets,
    stacks,
)
from watcherlite.conf.advisories import advisories, key_advice
from watcherlite.conf.configuration import Configuration
from watcherlite.conf.database import database_url
from watcherlite.conf.default import state_directory
from watcherlite.conf.logs import setup_logging
from watcherlite.conf.secrets import key_file, sealing_keys
from watcherlite.conf.validation import PLUGIN_GROUP, bad_values, unknown_options

__all__ = [
    'GROUPS',
    'PLUGIN_GROUP',
    'PROJECT',
    'Configuration',
    'advisories',
    'bad_values',
    'database_url',
    'key_advice',
    'key_file',
    'new',
    'register_group',
    'register_opts',
    'sealing_keys',
    'setup_logging',
    'state_directory',
    'unknown_options',
]

PROJECT = 'watcherlite'

#: The modules of the option groups, in the order of the sample file.
GROUPS = (
    default,
    database,
    secrets,
    messaging,
    api,
    dashboard,
    applier,
    engine,
    stacks,
    clusters,
    outgoing_http,
    openstack,
    data_models,
    notifications,
)


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register all groups of watcherlite, and the options of oslo.log."""
    for module in GROUPS:
        register_group(conf, module)
    logs.register_opts(conf)


def register_group(conf: cfg.ConfigOpts, module: ModuleType) -> None:
    """Register the options of one of GROUPS."""
    if module is default:
        default.register_opts(conf)
    else:
        registration.register(conf, module.GROUP, module.OPTS)


def new(
    args: Sequence[str] | None = None,
    config_files: Sequence[str] | None = None,
    config_dirs: Sequence[str] | None = None,
    *,
    prog: str | None = None,
    version: str | None = None,
) -> Configuration:
    """Return a parsed and validated configuration.

    A value comes from the command line, else from the environment
    (`OS_<GROUP>__<OPTION>`), else from the last file that has it.

    :param args: the command line without the program's name; None is an empty one
    :param config_files: read as if each preceded `args` as `--config-file`; None reads
        the files of the search path instead (`~/.watcherlite/watcherlite.conf`,
        `/etc/watcherlite/watcherlite.conf`, ...)
    :param config_dirs: the same for `--config-dir`; None reads those of the search
        path, and none at all if there are `config_files`
    :param prog: the program's name, for `--help`
    :param version: the output of `--version`
    :raises ConfigurationError: a file cannot be read, or a value is invalid
    :raises SystemExit: as argparse does, for `--help` and a bad command line
    """
    conf = Configuration()
    register_opts(conf)
    arguments = [f'--config-file={path}' for path in config_files or []]
    arguments += [f'--config-dir={path}' for path in config_dirs or []]
    conf(
        [*arguments, *(args or [])],
        project=PROJECT,
        prog=prog,
        version=version,
        default_config_files=None if config_files is None else [],
        default_config_dirs=(
            None if config_files is None and config_dirs is None else []
        ),
    )
    return conf
