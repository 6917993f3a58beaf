"""[applier]: the daemon that executes action plans."""

from oslo_config import cfg

from watcherlite.conf import worker_options

GROUP = cfg.OptGroup(
    'applier',
    title='Applier',
    help='Options of watcherlite-applier, which executes the actions of action plans.',
)

OPTS = [
    *worker_options.options('action plans'),
    cfg.StrOpt(
        'on_worker_loss',
        default='resume',
        choices=[
            ('resume', 'another worker continues the plan'),
            ('fail', 'started actions of the worker are FAILED, the rest is cancelled'),
            ('cancel', 'the plan is cancelled, as Watcher does'),
        ],
        help='The handling of an action plan when a worker that executes it is lost. '
        'With resume, only actions that are neither idempotent nor checkable '
        'are FAILED. Change it if an operator has to decide before the plan '
        'continues.',
    ),
]
