"""[stacks]: limits of stacks and timeouts of their operations."""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'stacks',
    title='Stacks',
    help='Limits of stacks. Configure them identically for watcherlite-api, which '
    'validates requests, and for watcherlite-engine, which executes them.',
)

OPTS = [
    cfg.IntOpt(
        'stack_action_timeout',
        default=3600,
        min=1,
        max=2**31 - 1,
        help='The default timeout of an operation on a stack without timeout_mins, '
        'in seconds. Raise it if resources take longer to become ready.',
    ),
    cfg.IntOpt(
        'max_nested_stack_depth',
        default=5,
        min=0,
        max=20,
        help='The maximum nesting depth of stacks; 0: a resource of a stack cannot be '
        'a stack.',
    ),
    cfg.IntOpt(
        'max_resources_per_stack',
        default=1000,
        min=1,
        max=100000,
        help='The maximum number of resources of a stack including its nested '
        'stacks. Raise it for larger stacks; each resource occupies some rows '
        'of the database.',
    ),
    cfg.IntOpt(
        'max_template_size',
        default=524288,
        min=1024,
        max=2**30,
        help='The maximum size of a template, or of any file submitted with it, in '
        'bytes. The size of a request is limited by [api] max_body_size.',
    ),
    cfg.IntOpt(
        'max_evaluation_size',
        default=32 * 1024 * 1024,
        min=1024 * 1024,
        max=2**34,
        help='The maximum number of characters and values produced by the functions '
        'of all templates for one request: to create, update, validate or '
        'preview a stack. Raise it for large stacks with long texts in each '
        'resource; a request uses some seconds of processor time for a hundred '
        'million of them.',
    ),
    cfg.IntOpt(
        'max_shown_size',
        default=8 * 1024 * 1024,
        min=65536,
        max=2**30,
        help='The maximum size of all outputs of a stack in one response, and of the '
        'properties and metadata of all resources in the response to a preview, '
        'in bytes. Creating a response takes several times as much memory.',
    ),
    cfg.IntOpt(
        'max_stacks_per_tenant',
        default=0,
        min=0,
        max=2**31 - 1,
        help='The maximum number of stacks of a project, without nested ones; 0: '
        'unlimited.',
    ),
    cfg.IntOpt(
        'max_software_configs_per_tenant',
        default=4096,
        min=0,
        max=2**31 - 1,
        help='The maximum number of software configs of a project that are created '
        'by the API, not by stacks; 0: unlimited.',
    ),
    cfg.IntOpt(
        'max_software_deployments_per_tenant',
        default=4096,
        min=0,
        max=2**31 - 1,
        help='The maximum number of software deployments of a project that are '
        'created by the API, not by stacks; 0: unlimited.',
    ),
]
