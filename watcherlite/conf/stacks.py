"""[stacks]: how large stacks may become, and how long their operations may take."""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'stacks',
    title='Stacks',
    help='What is made of templates. Set these alike for watcherlite-api, which '
    'refuses what is too large, and for watcherlite-engine, which makes the stacks.',
)

OPTS = [
    cfg.IntOpt(
        'stack_action_timeout',
        default=3600,
        min=1,
        max=2**31 - 1,
        help='Seconds that an operation on a stack may take for which the request '
        'gave no timeout_mins. Raise it when resources take longer than that to '
        'become ready.',
    ),
    cfg.IntOpt(
        'max_nested_stack_depth',
        default=5,
        min=0,
        max=20,
        help='How many stacks may be around one, each in the other; 0: a resource of '
        'a stack cannot be a stack.',
    ),
    cfg.IntOpt(
        'max_resources_per_stack',
        default=1000,
        min=1,
        max=100000,
        help='How many resources a stack may have together with all that are nested '
        'in it. Raise it for larger stacks; each resource takes some rows of the '
        'database.',
    ),
    cfg.IntOpt(
        'max_template_size',
        default=524288,
        min=1024,
        max=2**30,
        help='Bytes that a template, or any of the files that come with it, may have. '
        'A request as a whole is limited by [api] max_body_size.',
    ),
    cfg.IntOpt(
        'max_evaluation_size',
        default=32 * 1024 * 1024,
        min=1024 * 1024,
        max=2**34,
        help='How many characters and values the functions of all templates may make '
        'for one request: to create, to update, to validate or to preview a stack. '
        'Raise it for large stacks with long texts in each resource; a request takes '
        'some seconds of a processor for a hundred millions of them.',
    ),
    cfg.IntOpt(
        'max_shown_size',
        default=8 * 1024 * 1024,
        min=65536,
        max=2**30,
        help='Bytes that the outputs of a stack may have together when they are shown, '
        'and the properties and metadata of all resources in the answer to a preview. '
        'An answer takes several times as much memory while it is made.',
    ),
    cfg.IntOpt(
        'max_stacks_per_tenant',
        default=0,
        min=0,
        max=2**31 - 1,
        help='How many stacks a project may have, nested ones not counted; 0: any '
        'number.',
    ),
]
