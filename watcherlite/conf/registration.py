"""Registration of option groups on a configuration."""

import copy
from collections.abc import Sequence

from oslo_config import cfg


def register(
    conf: cfg.ConfigOpts, group: cfg.OptGroup, options: Sequence[cfg.Opt]
) -> None:
    """Register the options under the group.

    A group object stores values that were set on its options, and `register_group`
    copies it too shallowly to separate them: each configuration gets a copy of its own
    here, otherwise it would see the overrides of all others.
    """
    conf.register_group(copy.deepcopy(group))
    conf.register_opts(list(options), group=group.name)
