"""The list of all options, for oslo-config-generator and the documentation."""

import copy

from oslo_config import cfg

from watcherlite import conf


def list_opts() -> list[tuple[cfg.OptGroup | None, list[cfg.Opt]]]:
    """Return (group, options) of every group; None is [DEFAULT].

    They are copies: the generator modifies its argument.
    """
    return [
        (copy.deepcopy(module.GROUP), copy.deepcopy(module.OPTS))
        for module in conf.GROUPS
    ]
