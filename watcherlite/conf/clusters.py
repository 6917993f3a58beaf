"""[clusters]: limits and permissions of clusters."""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'clusters',
    title='Clusters',
    help='Limits of clusters and nodes. Configure them identically for '
    'watcherlite-api, which validates requests, and for watcherlite-engine, '
    'which executes them.',
)

OPTS = [
    cfg.IntOpt(
        'max_nodes_per_cluster',
        default=1000,
        min=1,
        max=100000,
        help='The maximum number of nodes of a cluster. Raise it for larger '
        'clusters; each node occupies some rows of the database.',
    ),
    cfg.IntOpt(
        'max_clusters_per_project',
        default=100,
        min=0,
        max=2**31 - 1,
        help='The maximum number of clusters of a project; 0: unlimited. Lower it to '
        'prevent one project from using the resources of others.',
    ),
    cfg.IntOpt(
        'cluster_action_timeout',
        default=3600,
        min=1,
        max=2**31 - 1,
        help='The default timeout of an action on a cluster, in seconds. Raise it if '
        'nodes take longer to become ready.',
    ),
    cfg.IntOpt(
        'check_interval_min',
        default=1,
        min=1,
        max=2**31 - 1,
        help='The minimum interval of health checks in seconds: shorter intervals of '
        'health policies are raised to it. Raise it when checks are expensive.',
    ),
    cfg.IntOpt(
        'check_interval_max',
        default=3600,
        min=1,
        max=2**31 - 1,
        help='The maximum interval of health checks in seconds: longer intervals of '
        'health policies are lowered to it. Raise it for clusters whose nodes '
        'rarely fail.',
    ),
    cfg.BoolOpt(
        'name_unique',
        default=False,
        help='Whether the names of clusters, nodes, profiles, policies and receivers '
        'must be unique in a project. Existing duplicates are kept, and nodes '
        'created by clusters are named according to their configuration.',
    ),
    cfg.ListOpt(
        'load_balancer_drivers',
        default=['octavia', 'haproxy'],
        item_type=cfg.types.String(),
        help='The drivers of load balancers in the order of preference: a policy '
        'senlin.policy.loadbalance without `driver` uses the first that can serve its '
        'cluster. octavia can if the service catalog of the cloud has the service, and '
        'there is the authority of the user of the cluster. Change it to prefer '
        'another driver, or to exclude one.',
    ),
    cfg.ListOpt(
        'user_action_types',
        default=[],
        item_type=cfg.types.String(),
        help='The action types that users may execute on clusters and nodes, in '
        'addition to those of clusters; empty: all installed types. Types for '
        'stacks are always excluded. Types such as `command` and `http_request` '
        'have further restrictions of their own.',
    ),
]
