"""[engine]: the daemon that executes everything but action plans."""

from oslo_config import cfg

from watcherlite.conf import lanes, registration

GROUP = cfg.OptGroup(
    'engine',
    title='Engine',
    help='watcherlite-engine executes all actions that are not part of an action plan.',
)

OPTS = lanes.options('all that is not an action plan')


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the group and its options."""
    registration.register(conf, GROUP, OPTS)
