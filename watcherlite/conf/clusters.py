"""[clusters]: how large clusters may become, and what may be done with them."""

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'clusters',
    title='Clusters',
    help='Clusters of nodes. Set these alike for watcherlite-api, which refuses what '
    'is too large, and for watcherlite-engine, which does what is asked for.',
)

OPTS = [
    cfg.IntOpt(
        'max_nodes_per_cluster',
        default=1000,
        min=1,
        max=100000,
        help='How many nodes a cluster may have. Raise it for larger clusters; each '
        'node takes some rows of the database.',
    ),
    cfg.IntOpt(
        'max_clusters_per_project',
        default=100,
        min=0,
        max=2**31 - 1,
        help='How many clusters a project may have; 0: any number. Lower it where one '
        'project could take what others need.',
    ),
    cfg.IntOpt(
        'cluster_action_timeout',
        default=3600,
        min=1,
        max=2**31 - 1,
        help='Seconds that an action on a cluster may take whose request gave no '
        'timeout. Raise it when nodes take longer than that to become ready.',
    ),
    cfg.IntOpt(
        'check_interval_min',
        default=1,
        min=1,
        max=2**31 - 1,
        help='Seconds between two looks at the nodes of a cluster, at least: a health '
        'policy with a shorter interval is treated as if it had this one. Raise it '
        'when looking costs more than it helps.',
    ),
    cfg.IntOpt(
        'check_interval_max',
        default=3600,
        min=1,
        max=2**31 - 1,
        help='Seconds between two looks at the nodes of a cluster, at most: a health '
        'policy with a longer interval is treated as if it had this one. Raise it for '
        'clusters whose nodes hardly ever fail.',
    ),
    cfg.BoolOpt(
        'name_unique',
        default=False,
        help='Whether no two clusters of a project may have the same name, and no two '
        'nodes, profiles, policies or receivers. What has the same name already stays '
        'as it is, and nodes that clusters make are named as their configuration '
        'says.',
    ),
    cfg.ListOpt(
        'user_action_types',
        default=[],
        item_type=cfg.types.String(),
        help='Which action types users may have executed on clusters and nodes, beside '
        'those that clusters have themselves; empty: all that are installed. Those '
        'for stacks are never among them. An action type may have limits of its own, '
        'as `command` and `http_request` do.',
    ),
]
