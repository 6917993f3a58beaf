"""Alarms of aodh."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import urlencode

from watcherlite.domain.resource_results import Property
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields, references
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.rest_resource import RestResource

_OPERATOR = fields.one_of('le', 'ge', 'eq', 'lt', 'gt', 'ne')
_QUERY = fields.items(
    fields.mapping(
        {
            'field': fields.TEXT,
            'type': {
                **fields.one_of('integer', 'float', 'string', 'boolean', 'datetime'),
                'default': 'string',
            },
            'op': _OPERATOR,
            'value': fields.TEXT,
        }
    )
)
#: Actions -> the property with the queues for them.
_ACTIONS = {
    'alarm_actions': 'alarm_queues',
    'ok_actions': 'ok_queues',
    'insufficient_data_actions': 'insufficient_data_queues',
}
_STATES = {
    'alarm_actions': 'alarm',
    'ok_actions': 'ok',
    'insufficient_data_actions': 'insufficient data',
}


def _actions() -> Iterator[tuple[str, Property]]:
    """Yield the properties for the actions of alarms."""
    for name, queues in _ACTIONS.items():
        state = _STATES[name]
        yield (
            name,
            field(
                fields.TEXTS,
                f'The URLs that are called in the state `{state}`.',
                updatable=True,
                sent=OWN,
            ),
        )
        yield (
            queues,
            field(
                fields.TEXTS,
                f'The queues of zaqar that get a message in the state `{state}`.',
                default=[],
                updatable=True,
                sent=OWN,
            ),
        )


COMMON: Mapping[str, Property] = {
    'description': field(fields.TEXT, 'The description.', updatable=True),
    'enabled': field(
        fields.FLAG, 'Whether it is evaluated.', default=True, updatable=True
    ),
    **dict(_actions()),
    'repeat_actions': field(
        fields.FLAG,
        'Whether the actions are repeated while the state stays the same.',
        default=True,
        updatable=True,
    ),
    'severity': field(
        fields.one_of('low', 'moderate', 'critical'),
        'The severity.',
        default='low',
        updatable=True,
    ),
    'time_constraints': field(
        fields.items(
            fields.mapping(
                {
                    'name': fields.TEXT,
                    'start': fields.TEXT,
                    'description': fields.TEXT,
                    'duration': {**fields.INTEGER, 'minimum': 0},
                    'timezone': fields.TEXT,
                },
                ['name', 'start', 'duration'],
            )
        ),
        'The times at which it is evaluated: each with a `start` in the syntax of '
        'cron and a `duration` in seconds.',
        default=[],
    ),
}


def rule(
    schema: Mapping[str, Any], description: str, required: bool = False
) -> Property:
    """Return a property that is part of the rule of an alarm."""
    return field(schema, description, required=required, updatable=True, sent=OWN)


class AodhAlarm(RestResource):
    """An alarm: its rule, and what is done in its states."""

    service = 'alarming'
    noun = 'alarm'
    path = '/alarms'
    version = 'v2'
    key = 'alarm_id'
    #: The type in the API; its rule is in `<kind>_rule`.
    kind: ClassVar[str]
    #: The properties that the rule consists of.
    rules: ClassVar[Collection[str]]

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        desired = context.properties
        body = {
            name: value
            for name, value in super().body(context, connection).items()
            if value is not None
        }
        for name, queues in _ACTIONS.items():
            body[name] = [
                *(url for url in desired.get(name) or () if url),
                *(
                    f'trust+zaqar://?{urlencode({"queue_name": queue})}'
                    for queue in desired.get(queues) or ()
                ),
            ]
        return {
            **body,
            'name': self.name_of(context),
            'type': self.kind,
            f'{self.kind}_rule': self.rule_of(connection, desired),
        }

    def changes(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> dict[str, Any]:
        """Return the whole alarm: an update replaces it."""
        return self.body(context, connection)

    def rule_of(self, connection: Any, desired: Mapping[str, Any]) -> Any:
        """Return the rule."""
        return {
            name: desired[name] for name in self.rules if desired.get(name) is not None
        }

    def _is_to_be_named(
        self, context: ResourceContext, record: Mapping[str, Any]
    ) -> bool:
        # The name is always the unique one.
        return False

    def status_of(self, record: Mapping[str, Any]) -> str:
        """Return no status: that of an alarm is not that of its resource."""
        return ''


class Alarm(AodhAlarm):
    """An alarm for the samples of a meter."""

    description = 'An alarm for the samples of a meter, for old releases of aodh.'
    kind = 'threshold'
    rules = (
        'meter_name',
        'period',
        'evaluation_periods',
        'threshold',
        'statistic',
        'comparison_operator',
    )
    properties: ClassVar[Mapping[str, Property]] = {
        **COMMON,
        'meter_name': field(fields.TEXT, 'The meter.', required=True, sent=OWN),
        'threshold': rule(fields.NUMBER, 'The threshold.', True),
        'comparison_operator': rule(_OPERATOR, 'The comparison with the threshold.'),
        'evaluation_periods': rule(fields.INTEGER, 'The number of periods.'),
        'period': rule(fields.INTEGER, 'The length of a period in seconds.'),
        'statistic': rule(
            fields.one_of('count', 'avg', 'sum', 'min', 'max'), 'The aggregation.'
        ),
        'matching_metadata': field(
            fields.MAP,
            'The metadata that the resource of a sample must have.',
            default={},
            updatable=True,
            sent=OWN,
        ),
        'query': rule(
            _QUERY, 'Further conditions: each a `field`, an `op` and a `value`.'
        ),
    }

    def rule_of(self, connection: Any, desired: Mapping[str, Any]) -> Any:
        made = dict(super().rule_of(connection, desired))
        query = [dict(item) for item in desired.get('query') or ()]
        nova = str(desired['meter_name']).split('.')[0] in _NOVA_METERS
        prefix = 'user_metadata' if nova else 'metering'
        for name, value in (desired.get('matching_metadata') or {}).items():
            short = name.removeprefix('metadata.')
            for known in ('metering.', 'user_metadata.'):
                short = short.removeprefix(known)
            place = f'metadata.{prefix}.{short}'
            query.append({'field': place, 'op': 'eq', 'value': str(value)})
        return {**made, 'query': query} if query else made


_NOVA_METERS = frozenset(
    {'instance', 'memory', 'cpu', 'cpu_util', 'vcpus', 'disk', 'network'}
)


class EventAlarm(AodhAlarm):
    """An alarm for events."""

    description = 'An alarm for events.'
    kind = 'event'
    rules = ('event_type', 'query')
    properties: ClassVar[Mapping[str, Property]] = {
        **COMMON,
        'event_type': field(
            fields.TEXT,
            'The type of the events.',
            default='*',
            updatable=True,
            sent=OWN,
        ),
        'query': rule(_QUERY, 'Conditions: each a `field`, an `op` and a `value`.'),
    }


_THRESHOLD = (
    'comparison_operator',
    'evaluation_periods',
    'granularity',
    'aggregation_method',
    'threshold',
)
_GNOCCHI: Mapping[str, Property] = {
    **COMMON,
    'comparison_operator': rule(fields.TEXT, 'The comparison with the threshold.'),
    'evaluation_periods': rule(fields.INTEGER, 'The number of periods.'),
    'granularity': rule(fields.INTEGER, 'The length of a period in seconds.'),
    'aggregation_method': rule(fields.TEXT, 'The aggregation.'),
    'threshold': rule(fields.NUMBER, 'The threshold.', True),
}
_METRIC = rule(fields.TEXT, 'The name of the metric.', True)
_RESOURCE_TYPE = rule(fields.TEXT, 'The type of the resources.', True)


class GnocchiResourcesAlarm(AodhAlarm):
    """An alarm for a metric of a resource."""

    description = 'An alarm for a metric of a resource.'
    kind = 'gnocchi_resources_threshold'
    rules = ('metric', 'resource_id', 'resource_type', *_THRESHOLD)
    properties: ClassVar[Mapping[str, Property]] = {
        **_GNOCCHI,
        'metric': _METRIC,
        'resource_id': rule(fields.TEXT, 'The id of the resource.', True),
        'resource_type': _RESOURCE_TYPE,
    }


class GnocchiAggregationByMetricsAlarm(AodhAlarm):
    """An alarm for the aggregation of metrics."""

    description = 'An alarm for the aggregation of metrics.'
    kind = 'gnocchi_aggregation_by_metrics_threshold'
    rules = ('metrics', *_THRESHOLD)
    properties: ClassVar[Mapping[str, Property]] = {
        **_GNOCCHI,
        'metrics': rule(fields.TEXTS, 'The ids of the metrics.', True),
    }


class GnocchiAggregationByResourcesAlarm(AodhAlarm):
    """An alarm for a metric of all resources that match a query."""

    description = 'An alarm for a metric of all resources that match a query.'
    kind = 'gnocchi_aggregation_by_resources_threshold'
    rules = ('metric', 'query', 'resource_type', *_THRESHOLD)
    properties: ClassVar[Mapping[str, Property]] = {
        **_GNOCCHI,
        'metric': _METRIC,
        'query': rule(fields.TEXT, 'The query, as JSON.', True),
        'resource_type': _RESOURCE_TYPE,
    }


class CompositeAlarm(AodhAlarm):
    """An alarm for a combination of rules."""

    description = 'An alarm for a combination of rules.'
    kind = 'composite'
    rules = ('composite_rule',)
    properties: ClassVar[Mapping[str, Property]] = {
        **COMMON,
        'composite_rule': rule(
            fields.mapping({'operator': fields.one_of('or', 'and'), 'rules': {}}),
            'The rules, with their `operator`; a rule may be a combination, too.',
            True,
        ),
    }

    def rule_of(self, connection: Any, desired: Mapping[str, Any]) -> Any:
        return _combined(desired['composite_rule'])


def _combined(value: Any) -> Any:
    """Return a combination of rules in the form of the API."""
    if isinstance(value, Mapping) and 'rules' in value:
        return {value['operator']: [_combined(item) for item in value['rules'] or ()]}
    return value


class LoadBalancerMemberHealthAlarm(AodhAlarm):
    """An alarm for unhealthy members of a pool of a load balancer."""

    description = 'An alarm for unhealthy members of a pool of a load balancer.'
    kind = 'loadbalancer_member_health'
    rules = ('autoscaling_group_id',)
    properties: ClassVar[Mapping[str, Property]] = {
        **COMMON,
        'pool': rule(fields.TEXT, 'The name or id of the pool.', True),
        'stack': field(
            fields.TEXT, 'The id of the stack that is updated.', required=True, sent=OWN
        ),
        'autoscaling_group_id': rule(
            fields.TEXT, 'The id of the group of the members.', True
        ),
    }

    def rule_of(self, connection: Any, desired: Mapping[str, Any]) -> Any:
        return {
            **super().rule_of(connection, desired),
            'pool_id': references.POOL.id_of(connection, desired['pool']),
            'stack_id': desired['stack'],
        }


class PrometheusAlarm(AodhAlarm):
    """An alarm for the result of a query to Prometheus."""

    description = 'An alarm for the result of a query to Prometheus.'
    kind = 'prometheus'
    rules = ('comparison_operator', 'query', 'threshold')
    properties: ClassVar[Mapping[str, Property]] = {
        **COMMON,
        'comparison_operator': rule(_OPERATOR, 'The comparison with the threshold.'),
        'query': rule(fields.TEXT, 'The query, in PromQL.', True),
        'threshold': rule(fields.NUMBER, 'The threshold.', True),
    }
