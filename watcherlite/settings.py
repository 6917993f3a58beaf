"""Conversion of options to the settings of the parts of a process."""

import dataclasses
import functools
import ipaddress

from oslo_config import cfg

from watcherlite import conf as configuration
from watcherlite import exceptions
from watcherlite.conf import openstack
from watcherlite.db.sqlalchemy.engine import DatabaseSettings
from watcherlite.destinations import Destinations
from watcherlite.engine.audits.reconciler import ReconcilerSettings
from watcherlite.engine.clusters.services import ClusterLimits
from watcherlite.engine.stacks.services import StackLimits
from watcherlite.execution.services import ExecutionSettings
from watcherlite.messaging.settings import MessagingSettings, NotificationSource
from watcherlite.notifications import settings as notification_settings
from watcherlite.plugins.openstack.settings import OpenStackSettings


def database_settings(conf: cfg.ConfigOpts) -> DatabaseSettings:
    """Return the settings of the database."""
    group = conf.database
    return DatabaseSettings(
        url=configuration.database_url(conf),
        max_pool_size=group.max_pool_size,
        pool_timeout=group.pool_timeout,
        connect_timeout=group.connect_timeout,
        statement_timeout=group.statement_timeout,
        busy_timeout=group.busy_timeout,
        sqlite_synchronous=group.sqlite_synchronous,
        keys=functools.partial(configuration.sealing_keys, conf),
    )


def messaging_settings(conf: cfg.ConfigOpts) -> MessagingSettings:
    """Return the settings of the connection to the broker."""
    group = conf.messaging
    return MessagingSettings(
        url=group.url.strip(),
        heartbeat=group.heartbeat,
        connect_timeout=group.connect_timeout,
        confirm_timeout=group.confirm_timeout,
        reconnect_max=group.reconnect_max,
        tls_ca_file=group.tls_ca_file or '',
        tls_cert_file=group.tls_cert_file or '',
        tls_key_file=group.tls_key_file or '',
    )


def service_notification_settings(conf: cfg.ConfigOpts) -> MessagingSettings | None:
    """Return the settings of the connection to the broker of the cloud.

    :returns: None if notifications of services are not consumed
    """
    group = conf.data_models
    url = group.notification_transport_url.strip()
    if not url:
        return None
    return dataclasses.replace(
        messaging_settings(conf),
        url=url,
        tls_ca_file=group.notification_tls_ca_file or '',
        tls_cert_file='',
        tls_key_file='',
        option='[data_models] notification_transport_url',
    )


def notification_sources(conf: cfg.ConfigOpts) -> list[NotificationSource]:
    """Return the topics of notifications of services.

    :raises exceptions.ConfigurationError: one is not EXCHANGE.TOPIC
    """
    found = []
    for name in conf.data_models.notification_topics:
        exchange, _, topic = name.rpartition('.')
        if not exchange or not topic:
            raise exceptions.ConfigurationError(
                f'[data_models] notification_topics: {name!r} is not EXCHANGE.TOPIC, '
                'for instance nova.versioned_notifications.'
            )
        found.append(NotificationSource(exchange, topic))
    return found


def execution_settings(conf: cfg.ConfigOpts, lane: str) -> ExecutionSettings:
    """Return the settings of the core for the daemon of a lane."""
    group = conf[lane]
    return ExecutionSettings(
        max_parallel=group.max_parallel,
        claim_batch=group.claim_batch,
        lease=group.lease,
        sweep_interval=group.sweep_interval,
        max_attempts=group.max_attempts,
        signal_grace=group.signal_grace,
        default_action_timeout=conf.default_action_timeout,
        max_coroutines=group.max_coroutines,
        max_per_service=group.max_per_service,
        max_probes=group.max_probes,
        max_probes_per_cluster=group.max_probes_per_cluster,
        max_probes_per_project=group.max_probes_per_project,
        max_action_log=group.max_action_log,
        action_log_retention=conf.action_log_retention,
    )


def stack_limits(conf: cfg.ConfigOpts) -> StackLimits:
    """Return the limits of stacks."""
    group = conf.stacks
    return StackLimits(
        depth=group.max_nested_stack_depth,
        resources=group.max_resources_per_stack,
        template=group.max_template_size,
        stacks=group.max_stacks_per_tenant,
        timeout=group.stack_action_timeout,
        evaluated=group.max_evaluation_size,
        shown=group.max_shown_size,
        software_configs=group.max_software_configs_per_tenant,
        software_deployments=group.max_software_deployments_per_tenant,
    )


def cluster_limits(conf: cfg.ConfigOpts) -> ClusterLimits:
    """Return the limits of clusters and of their actions."""
    group = conf.clusters
    return ClusterLimits(
        nodes=group.max_nodes_per_cluster,
        clusters=group.max_clusters_per_project,
        timeout=group.cluster_action_timeout,
        check_interval_min=group.check_interval_min,
        check_interval_max=group.check_interval_max,
        unique_names=group.name_unique,
        user_actions=frozenset(group.user_action_types),
        load_balancers=tuple(group.load_balancer_drivers),
    )


def destinations(conf: cfg.ConfigOpts) -> Destinations:
    """Return the servers that requests on behalf of users may reach."""
    group = conf.outgoing_http
    return _destinations(
        tuple(group.allowed_hosts),
        tuple(group.refused_networks),
        tuple(group.allowed_networks),
    )


# Each request reads the options, which a reload may have changed.
@functools.lru_cache(maxsize=8)
def _destinations(
    hosts: tuple[str, ...], refused: tuple[str, ...], allowed: tuple[str, ...]
) -> Destinations:
    return Destinations(
        hosts=hosts,
        refused=tuple(map(ipaddress.ip_network, refused)),
        allowed=tuple(map(ipaddress.ip_network, allowed)),
    )


def openstack_settings(conf: cfg.ConfigOpts) -> OpenStackSettings:
    """Return the settings of the access to OpenStack.

    :raises ConfigurationError: options contradict each other
    """
    group = conf.openstack
    auth = {
        option.dest: group[option.dest]
        for option in openstack.AUTH_OPTS
        if group[option.dest]
    }
    if group.cloud and auth:
        raise exceptions.ConfigurationError(
            f'[openstack] has cloud and {", ".join(sorted(auth))}; set either '
            'cloud, or the options of the authentication'
        )
    if group.keyfile and not group.certfile:
        raise exceptions.ConfigurationError('[openstack] has keyfile without certfile')
    verify = False if group.insecure else group.cafile
    return OpenStackSettings(
        cloud=group.cloud,
        client_config_file=group.client_config_file,
        auth_type=group.auth_type,
        auth=auth,
        interface=group.interface,
        region_name=group.region_name,
        verify=verify,
        cert=(group.certfile, group.keyfile) if group.keyfile else group.certfile,
        timeout=(group.connect_timeout, group.read_timeout),
        retries=group.retries,
        max_connections=group.max_connections,
        allow_service_authority=group.allow_service_authority,
        remote_auth_urls=tuple(group.remote_auth_urls),
    )


def reconciler_settings(conf: cfg.ConfigOpts) -> ReconcilerSettings:
    """Return the settings of the reconciler of audits."""
    group = conf.engine
    return ReconcilerSettings(
        action_plan_expiry=group.action_plan_expiry,
        check_periodic_interval=group.check_periodic_interval,
    )


def payload_settings(
    conf: cfg.ConfigOpts,
) -> notification_settings.NotificationSettings:
    """Return the settings of the contents of notifications."""
    group = conf.notifications
    return notification_settings.NotificationSettings(
        host=conf.host,
        topics=tuple(group.topics),
        level=group.level,
        event_prefix=group.action_plan_event_prefix,
        payload_version=group.payload_version,
    )


def relay_settings(conf: cfg.ConfigOpts) -> notification_settings.RelaySettings:
    """Return the settings of the relay."""
    group = conf.notifications
    return notification_settings.RelaySettings(
        batch_size=group.batch_size,
        publish_timeout=group.publish_timeout,
        # Such a queue ends with its last consumer, and is meant to.
        redelivery_window=0 if group.amqp_auto_delete else group.redelivery_window,
    )
