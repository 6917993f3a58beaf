"""The options of plugins, each plugin's in a group of its own."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from oslo_config import cfg

from watcherlite.plugins import base


def group_name(namespace: str, name: str) -> str:
    """Return the group of a plugin's options in the ini file.

    That of `Local::File` is `watcherlite.resource_handlers.local_file`: colons end the
    key of a setting in environment variables and in many tools for ini files.
    """
    if namespace == base.RESOURCE_HANDLERS:
        name = re.sub(r'[^a-z0-9_.-]+', '_', name.lower())
    return f'{namespace}.{name}'


def of(plugin: type) -> list[cfg.Opt]:
    """Return the result of the plugin's `get_config_opts`.

    :raises TypeError: it is not a sequence of options
    """
    declare = getattr(plugin, 'get_config_opts', None)
    options = list(declare() or ()) if declare is not None else []
    for option in options:
        if not isinstance(option, cfg.Opt):
            raise TypeError(
                f'get_config_opts returned a {type(option).__name__}, which is not an '
                'oslo.config option'
            )
    return options


def register(
    conf: cfg.ConfigOpts, namespace: str, name: str, options: Sequence[cfg.Opt]
) -> None:
    """Register a plugin's options.

    The group is registered even without options, so that a setting in it is detected as
    a mistake. Values are read at each access: a reload of the files takes effect at
    once.
    """
    group = group_name(namespace, name)
    conf.register_group(cfg.OptGroup(group))
    conf.register_opts(list(options), group=group)


def standalone_group(plugin: type, values: Mapping[str, Any] | None = None) -> Any:
    """Return an option group for a plugin that is used without an ini file.

    :param values: by option name, validated like those of a file; the others have their
        defaults
    :raises ValueError: an option does not accept the value
    :raises oslo_config.cfg.NoSuchOptError: there is no such option
    """
    conf = cfg.ConfigOpts()
    # No file of this machine may affect a test or an author.
    conf([], project='watcherlite', default_config_files=[], default_config_dirs=[])
    register(conf, 'alone', 'plugin', of(plugin))
    group = group_name('alone', 'plugin')
    for name, value in (values or {}).items():
        conf.set_override(name, value, group=group)
    return conf[group]
