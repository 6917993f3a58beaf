"""The worker options of both lanes."""

from collections.abc import Sequence

from oslo_config import cfg

_OPTS: Sequence[cfg.Opt] = (
    cfg.IntOpt(
        'max_parallel',
        default=8,
        min=1,
        max=1024,
        help='How many actions one process executes at the same time. Raise it '
        'when actions mostly wait for answers of other services. Actions that '
        'only wait for a time, as sleep does, take none of these places.',
    ),
    cfg.IntOpt(
        'max_probes',
        default=64,
        min=1,
        max=4096,
        help='How many checks, polls and lifecycle hooks one process has under way '
        'at the same time, beside max_parallel: they mostly wait for servers that '
        'users name. Raise it when many nodes are checked by URLs that answer '
        'slowly.',
    ),
    cfg.IntOpt(
        'max_probes_per_cluster',
        default=16,
        min=1,
        max=4096,
        help='How many of these one cluster, or stack, may have at the same time, '
        'so that one whose servers hang leaves room for the others.',
    ),
    cfg.IntOpt(
        'max_probes_per_project',
        default=32,
        min=1,
        max=4096,
        help='How many of these all clusters and stacks of one project may have at '
        'the same time. Lower it when many projects share the service.',
    ),
    cfg.IntOpt(
        'lease',
        default=30,
        min=1,
        help='Seconds after which a worker that gives no sign of life has lost '
        'its actions to the others. Lower it to have work taken over sooner; '
        'raise it when the database has pauses that long, because a worker that '
        'cannot renew its lease stops working.',
    ),
    cfg.IntOpt(
        'claim_batch',
        default=512,
        min=1,
        max=10000,
        mutable=True,
        help='The most actions that are taken in one transaction. Lower it when '
        'several workers share short plans and one of them takes them all, or '
        'when the database should see smaller transactions.',
    ),
    cfg.FloatOpt(
        'sweep_interval',
        default=10.0,
        min=0.1,
        mutable=True,
        help='Seconds between two looks at the database for work of which no '
        'message told, and for what lost workers have left behind. Lower it when '
        'there is no broker and several processes share one database.',
    ),
    cfg.IntOpt(
        'max_attempts',
        default=5,
        min=1,
        mutable=True,
        help='How often an action is started at most, the first time included, '
        'when its worker is lost time and again; 1 means never again. Lower it '
        'when an action that brings its worker down should be FAILED sooner.',
    ),
    cfg.FloatOpt(
        'signal_grace',
        default=5.0,
        min=0.0,
        mutable=True,
        help='Seconds that a plugin may take no notice of its deadline, or of a '
        'CANCEL, before its action is failed or cancelled without it and '
        'whatever it does later no longer counts. Raise it for plugins that need '
        'long to leave things in order.',
    ),
)


def options(work: str) -> list[cfg.Opt]:
    """Return the options of a lane's daemon.

    :param work: the noun for its work, in the plural, for the help texts
    """
    return [
        cfg.IntOpt(
            'workers',
            default=1,
            min=1,
            max=256,
            help=f'The number of processes that serve {work} on this machine. Raise '
            'it when one process saturates a processor and the database has '
            'capacity; for actions that wait for external services, raise '
            'max_parallel instead.',
        ),
        *_OPTS,
    ]
