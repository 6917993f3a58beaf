"""`watcherlite goal`, `strategy`, `scoringengine`, `service` and `datamodel`."""

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from watcherlite.cli import formatting
from watcherlite.cli.command import flag, option
from watcherlite.cli.commands import base
from watcherlite.cli.formatting import Column, Row, fields

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client


class _Goals(base.Remote):
    collection = 'goals'
    listed = fields('uuid name', Column('Display name', 'display_name'))
    columns = (
        *listed,
        Column(
            'Efficacy specification', 'efficacy_specification', formatting.specification
        ),
    )


class GoalList(_Goals, base.List):
    """List goals."""


class GoalShow(_Goals, base.ShowFound):
    """Show a goal."""


class _Strategies(base.Remote):
    collection = 'strategies'
    listed = fields(
        'uuid name', Column('Display name', 'display_name'), Column('Goal', 'goal_name')
    )
    columns = (
        *listed,
        Column('Parameters spec', 'parameters_spec', formatting.properties),
    )


class StrategyList(_Strategies, base.List):
    """List strategies."""

    filters = (base.BY_GOAL,)


class StrategyShow(_Strategies, base.ShowFound):
    """Show a strategy."""


class StrategyState(base.Rows):
    """Show the requirements of a strategy, and which of them are met."""

    columns = fields(
        'type',
        Column('State', 'state', formatting.format_requirements),
        'mandatory comment',
    )
    arguments = (base.identifier_argument,)

    def rows(self, client: 'Client', parsed: argparse.Namespace) -> Sequence[Row]:
        return client.get_rows('strategies', parsed.identifier, 'state')


class _ScoringEngines(base.Remote):
    collection = 'scoring_engines'
    listed = fields('uuid name description')
    columns = fields(*listed, 'metainfo')


class ScoringEngineList(_ScoringEngines, base.List):
    """List scoring engines."""


class ScoringEngineShow(_ScoringEngines, base.ShowFound):
    """Show a scoring engine."""


class _Services(base.Remote):
    collection = 'services'
    identifier = 'ID or name of the object'
    _common = fields('id name host status')
    #: Columns that the API of Watcher does not have.
    _lease = fields('lane lease_until')
    listed = (*_common, *_lease)
    columns = (*_common, Column('Last seen up', 'last_seen_up'), *_lease)


class ServiceList(_Services, base.List):
    """List the daemons."""

    needs_details = True
    # Its marker is a number that the list does not show.
    has_marker = False


class ServiceShow(_Services, base.ShowFound):
    """Show a daemon."""


class DataModelList(base.Rows):
    """List the objects of a data model."""

    #: Data model -> the columns of a list, and those of a detailed one in addition.
    _columns: Mapping[str, tuple[Sequence[Column], Sequence[Column]]] = {
        'compute': (
            fields(
                'server_uuid server_name server_state node_uuid',
                Column('Node Host Name', 'node_hostname'),
            ),
            fields(
                'server_vcpus server_memory server_disk node_vcpus node_vcpu_ratio '
                'node_memory node_memory_ratio node_disk node_disk_ratio node_state'
            ),
        ),
        'storage': (
            fields('volume_uuid volume_name volume_status pool_name'),
            fields(
                'volume_size',
                Column('Volume Type', 'volume_volume_type'),
                'volume_bootable volume_attached_to pool_total_capacity_gb '
                'pool_free_capacity_gb pool_allocated_capacity_gb',
            ),
        ),
        'baremetal': (
            fields('node_uuid node_name node_power_state node_maintenance'),
            fields('node_compute_node node_watcher_exclude'),
        ),
    }
    arguments = (
        option('--type', 'TYPE', 'compute, storage, baremetal, ...; default: compute'),
        option('--audit', 'UUID', 'limit the model to the scope of an audit'),
        flag('--detail', 'show all columns'),
    )

    def rows(self, client: 'Client', parsed: argparse.Namespace) -> Sequence[Row]:
        query = {'data_model_type': parsed.type, 'audit_uuid': parsed.audit}
        found = client.get_object('data_model', query=base.drop_none(query))
        rows: Sequence[Row] = found.get('context', [])
        if 'comment' in found:
            self.print_message(found['comment'])
        # Compute nodes without servers, and pools without volumes, lack fields.
        columns = self.columns_of(parsed, rows)
        return [{one.field: row.get(one.field) for one in columns} for row in rows]

    def columns_of(
        self, parsed: argparse.Namespace, rows: Sequence[Row]
    ) -> Sequence[Column]:
        kind = parsed.type or 'compute'
        if kind in self._columns:
            columns, details = self._columns[kind]
            return (*columns, *details) if parsed.detail else columns
        # The data model of another distribution.
        return fields(*dict.fromkeys(name for row in rows for name in row))
