"""The tables of software configs and deployments."""

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.tables import types
from watcherlite.db.sqlalchemy.tables.schema import column, counter, table

software_configs = table(
    'software_configs',
    counter(),
    column('uuid', types.UUID),
    column('tenant', types.NAME),
    column('name', types.NAME),
    # GROUP is a reserved word.
    column('group_name', types.NAME),
    column('config', types.EncryptedJson()),
    column('inputs', types.EncryptedJson()),
    column('outputs', types.EncryptedJson()),
    column('options', types.EncryptedJson()),
    column('created_at', types.TIME),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_software_configs_tenant_id', 'tenant', 'id'),
    counted=True,
)

software_deployments = table(
    'software_deployments',
    counter(),
    column('uuid', types.UUID),
    column('tenant', types.NAME),
    column('server_id', types.NAME),
    sa.Column(
        'config_id', types.BIG, sa.ForeignKey('software_configs.id'), nullable=False
    ),
    column('action', types.NAME),
    column('status', types.WORD),
    # The reason of a failure has outputs.
    column('status_reason', types.EncryptedText(always=False)),
    column('input_values', types.EncryptedJson()),
    sa.Column('output_values', types.EncryptedJson()),
    column('signal_token', types.EncryptedText()),
    column('created_at', types.TIME),
    sa.Column('updated_at', types.TIME),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_software_deployments_config_id', 'config_id'),
    sa.Index('ix_software_deployments_tenant_id', 'tenant', 'id'),
    sa.Index(
        'ix_software_deployments_tenant_server_id_id', 'tenant', 'server_id', 'id'
    ),
    counted=True,
)
