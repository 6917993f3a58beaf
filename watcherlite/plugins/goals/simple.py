"""Goals without figures: a solution for one is as good as any other."""

from watcherlite.plugins import base


class Dummy(base.Goal):
    """Reserved for trying things out."""

    display_name = 'Dummy goal'
    description = 'Reserved for trying things out.'


class Unclassified(base.Goal):
    """For strategies that belong to none of the others."""

    display_name = 'Unclassified'
    description = 'For strategies that belong to none of the other goals.'


class ThermalOptimization(base.Goal):
    """Balance the temperature of servers."""

    display_name = 'Thermal Optimization'
    description = 'Balances the temperature of servers.'


class AirflowOptimization(base.Goal):
    """Make the best of the airflow between servers."""

    display_name = 'Airflow Optimization'
    description = 'Makes the best of the airflow between servers.'


class NoisyNeighbor(base.Goal):
    """Move what takes the cache away from something more important."""

    display_name = 'Noisy Neighbor'
    description = 'Moves what takes the cache away from something more important.'


class SavingEnergy(base.Goal):
    """Need less power."""

    display_name = 'Saving Energy'
    description = 'Reduces the power that servers need.'


class ClusterMaintaining(base.Goal):
    """Maintain nodes without interrupting what runs on them."""

    display_name = 'Cluster Maintaining'
    description = 'Maintains nodes without interrupting what runs on them.'
