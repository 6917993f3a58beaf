"""[engine]: the daemon for audits, stacks and clusters."""

from oslo_config import cfg

from watcherlite.conf import worker_options

GROUP = cfg.OptGroup(
    'engine',
    title='Engine',
    help='Options of watcherlite-engine, which executes all actions that are not '
    'part of an action plan.',
)

OPTS = [
    *worker_options.options('all that is not an action plan'),
    cfg.FloatOpt(
        'action_plan_expiry',
        default=24.0,
        min=0.0,
        mutable=True,
        help='Hours after which a RECOMMENDED action plan that was not started '
        'becomes SUPERSEDED; 0: never. Lower it if the infrastructure changes '
        'so fast that older proposals would be harmful.',
    ),
    cfg.FloatOpt(
        'check_periodic_interval',
        default=1800.0,
        min=1.0,
        mutable=True,
        help='Seconds between two searches for expired action plans, which one of '
        'the engines performs.',
    ),
]
