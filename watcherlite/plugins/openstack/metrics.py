"""The metrics that strategies read from datasources, and their units."""

from collections.abc import Mapping

# of compute nodes, by host
HOST_CPU_USAGE = 'host_cpu_usage'
HOST_RAM_USAGE = 'host_ram_usage'
HOST_OUTLET_TEMP = 'host_outlet_temp'
HOST_INLET_TEMP = 'host_inlet_temp'
HOST_AIRFLOW = 'host_airflow'
HOST_POWER = 'host_power'
# of servers, by uuid
INSTANCE_CPU_USAGE = 'instance_cpu_usage'
INSTANCE_RAM_USAGE = 'instance_ram_usage'
INSTANCE_L3_CACHE_USAGE = 'instance_l3_cache_usage'

#: Metric -> its unit.
UNITS: Mapping[str, str] = {
    HOST_CPU_USAGE: '% of all CPUs of the compute node',
    HOST_RAM_USAGE: 'MiB',
    HOST_OUTLET_TEMP: 'degrees Celsius',
    HOST_INLET_TEMP: 'degrees Celsius',
    HOST_AIRFLOW: '0.1 CFM',
    HOST_POWER: 'W',
    INSTANCE_CPU_USAGE: '% of the vCPUs of the server',
    INSTANCE_RAM_USAGE: 'MiB',
    INSTANCE_L3_CACHE_USAGE: 'bytes',
}
HOST_METRICS = frozenset(
    {
        HOST_CPU_USAGE,
        HOST_RAM_USAGE,
        HOST_OUTLET_TEMP,
        HOST_INLET_TEMP,
        HOST_AIRFLOW,
        HOST_POWER,
    }
)
