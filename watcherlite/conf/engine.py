"""[engine]: the daemon that executes everything but action plans."""

from oslo_config import cfg

from watcherlite.conf import worker_options

GROUP = cfg.OptGroup(
    'engine',
    title='Engine',
    help='watcherlite-engine executes all actions that are not part of an action plan.',
)

OPTS = [
    *worker_options.options('all that is not an action plan'),
    cfg.FloatOpt(
        'action_plan_expiry',
        default=24.0,
        min=0.0,
        mutable=True,
        help='Hours after which a RECOMMENDED action plan that nobody has started '
        'becomes SUPERSEDED; 0: never. Lower it when the infrastructure changes so '
        'fast that older proposals would do harm.',
    ),
    cfg.FloatOpt(
        'check_periodic_interval',
        default=1800.0,
        min=1.0,
        mutable=True,
        help='Seconds between two looks for action plans that have expired. Of all '
        'engines one looks.',
    ),
]
