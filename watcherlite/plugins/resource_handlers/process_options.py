"""The options for processes that stacks and clusters start."""

from oslo_config import cfg

from watcherlite.plugins.action_types import allow_list, http_parts
from watcherlite.plugins.resource_handlers import file_access

OPTIONS: tuple[cfg.Opt, ...] = (
    allow_list.option(
        'An executable that stacks may start.',
        'Who may create stacks may run what stands here as the user that runs the '
        'engine',
        '/usr/bin/redis-server --bind 127.0.0.1 --port {~[0-9]{4}}',
    ),
    cfg.DictOpt(
        'environment',
        default={'PATH': '/usr/bin:/bin', 'LANG': 'C.UTF-8'},
        mutable=True,
        help='What is in the environment of every process, for example '
        '`PATH:/usr/bin:/bin,LANG:C.UTF-8`. Nothing of the environment of the '
        'engine reaches them. What a template says is added, and '
        'WATCHERLITE_RESOURCE, by which the process is found again.',
    ),
    cfg.ListOpt(
        'variables',
        default=[],
        mutable=True,
        help='The names of the environment variables that templates may set, for '
        'example `PORT,APP_*`; none by default. Do not allow names by which a program '
        'is made to run other code, such as LD_PRELOAD or PYTHONPATH.',
    ),
    cfg.MultiOpt(
        'directories',
        item_type=file_access.Directory(),
        sample_default='/srv/stacks',
        mutable=True,
        help='A directory in which, and below which, templates may have processes '
        'start; `/` itself is always allowed. Repeat the option to allow several. '
        'Programs that read code from where they start, as `python -m` does, must '
        'not start where stacks may make files.',
    ),
    cfg.StrOpt(
        'log_directory',
        mutable=True,
        help='The directory for what processes write on their standard output and '
        'error, a file for each resource, which stays when the resource is deleted. '
        'Without it that is dropped.',
    ),
    *http_parts.OPTIONS,
)
