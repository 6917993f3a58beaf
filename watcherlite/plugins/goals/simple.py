"""Goals without indicators: their solutions are not compared."""

from watcherlite.plugins import base


class Dummy(base.Goal):
    """A goal reserved for trials."""

    display_name = 'Dummy goal'
    description = 'Reserved for trials.'


class Unclassified(base.Goal):
    """A goal for strategies without another goal."""

    display_name = 'Unclassified'
    description = 'For strategies that belong to none of the other goals.'


class ThermalOptimization(base.Goal):
    """Balanced temperature of servers."""

    display_name = 'Thermal Optimization'
    description = 'Balances the temperature of servers.'


class AirflowOptimization(base.Goal):
    """Optimized airflow between servers."""

    display_name = 'Airflow Optimization'
    description = 'Optimizes the airflow between servers.'


class NoisyNeighbor(base.Goal):
    """Isolation of workloads that deprive more important ones of cache."""

    display_name = 'Noisy Neighbor'
    description = 'Moves workloads that deprive more important ones of cache.'


class SavingEnergy(base.Goal):
    """Lower power consumption."""

    display_name = 'Saving Energy'
    description = 'Reduces the power consumption of servers.'


class ClusterMaintaining(base.Goal):
    """Maintenance of nodes without interrupting their workload."""

    display_name = 'Cluster Maintaining'
    description = 'Maintains nodes without interrupting their workload.'
