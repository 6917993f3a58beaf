"""[applier]: the daemon that executes action plans."""

from oslo_config import cfg

from watcherlite.conf import worker_options

GROUP = cfg.OptGroup(
    'applier',
    title='Applier',
    help='watcherlite-applier executes the actions of action plans.',
)

OPTS = [
    *worker_options.options('action plans'),
    cfg.StrOpt(
        'on_worker_loss',
        default='resume',
        choices=[
            ('resume', 'the plan goes on at another worker'),
            ('fail', 'what the worker had started is FAILED, the rest is cancelled'),
            ('cancel', 'the plan is cancelled, as Watcher does'),
        ],
        help='What becomes of an action plan when a worker that executes it is lost. '
        'Under resume only an action that can neither be run twice nor be checked is '
        'FAILED. Change it when an operator has to look before anything goes on.',
    ),
]
