"""The worker options of both lanes."""

from collections.abc import Sequence

from oslo_config import cfg

_OPTS: Sequence[cfg.Opt] = (
    cfg.IntOpt(
        'max_parallel',
        default=8,
        min=1,
        max=1024,
        help='The number of actions that one process executes concurrently. Raise it '
        'if actions mostly wait for other services. Actions that only wait for '
        'a time, such as sleep, are not counted.',
    ),
    cfg.IntOpt(
        'max_coroutines',
        default=1000,
        min=1,
        max=100000,
        mutable=True,
        help='The number of actions of one process whose plugins wait as coroutines, '
        'in addition to max_parallel, for example for responses to HTTP requests. '
        'Raise it if more actions wait at a time; lower it to leave more of them to '
        'other workers.',
    ),
    cfg.IntOpt(
        'max_per_service',
        default=200,
        min=1,
        max=100000,
        help='The number of concurrent requests of one process to one service: a host '
        'and port, or a name such as compute. Further requests wait. Lower it if '
        'services refuse requests or become slow.',
    ),
    cfg.IntOpt(
        'max_probes',
        default=64,
        min=1,
        max=4096,
        help='The number of threads of one process for checks, polls, lifecycle hooks '
        'and plugins that block while they wait for a service, in addition to '
        'max_parallel. Raise it if many nodes are checked by slow URLs, or many '
        'actions on a cloud run at a time.',
    ),
    cfg.IntOpt(
        'max_probes_per_cluster',
        default=16,
        min=1,
        max=4096,
        help='The maximum number of checks, polls and hooks for one cluster or stack, '
        'so that a cluster whose servers hang does not block the others.',
    ),
    cfg.IntOpt(
        'max_probes_per_project',
        default=32,
        min=1,
        max=4096,
        help='The maximum number of these for all clusters and stacks of one '
        'project. Lower it if many projects share the service.',
    ),
    cfg.IntOpt(
        'lease',
        default=30,
        min=1,
        help='Seconds without a heartbeat after which a worker loses its actions to '
        'other workers. Lower it for faster takeover; raise it if the database '
        'has pauses of this length, because a worker that cannot renew its '
        'lease stops working.',
    ),
    cfg.IntOpt(
        'claim_batch',
        default=512,
        min=1,
        max=10000,
        mutable=True,
        help='The maximum number of actions claimed in one transaction. Lower it if '
        'one worker claims all actions of short plans, or to make transactions '
        'smaller.',
    ),
    cfg.FloatOpt(
        'sweep_interval',
        default=10.0,
        min=0.1,
        mutable=True,
        help='Seconds between two scans of the database for unannounced work and for '
        'actions of lost workers. Lower it if there is no broker and several '
        'processes share one database.',
    ),
    cfg.IntOpt(
        'max_attempts',
        default=5,
        min=1,
        mutable=True,
        help='The maximum number of starts of an action whose worker is lost '
        'repeatedly; 1 disables restarts. Lower it so that an action that '
        'crashes its worker is FAILED sooner.',
    ),
    cfg.IntOpt(
        'max_action_log',
        default=1048576,
        min=0,
        max=1073741824,
        mutable=True,
        help='The number of bytes that one attempt of an action may log, for example '
        'the output of a command; further output is dropped. 0 stores no logs.',
    ),
    cfg.FloatOpt(
        'signal_grace',
        default=5.0,
        min=0.0,
        mutable=True,
        help='Seconds after its deadline, or after a CANCEL, until an action is '
        'failed or cancelled without its plugin, whose later results are '
        'ignored. Raise it for plugins whose clean-up takes long.',
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
