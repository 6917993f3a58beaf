"""The tables of audits, their templates, goals and strategies."""

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.tables.schema import (
    column,
    counter,
    hidden,
    lower_name,
    orders,
    table,
    unique_name,
)
from watcherlite.db.sqlalchemy.tables.types import (
    BIG,
    JSON,
    MESSAGE,
    NAME,
    TIME,
    UUID,
    WORD,
    CreatorJson,
    EncryptedJson,
)

goals = table(
    'goals',
    counter(),
    column('uuid', UUID),
    column('name', NAME),
    column('display_name', NAME),
    column('efficacy_specification', JSON),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    column('deleted', BIG),
    lower_name(),
    sa.UniqueConstraint('uuid'),
    unique_name('goals'),
    sa.Index('ix_goals_lower_name', 'lower_name'),
    counted=True,
)

strategies = table(
    'strategies',
    counter(),
    column('uuid', UUID),
    column('name', NAME),
    column('display_name', NAME),
    sa.Column('goal_id', BIG, sa.ForeignKey('goals.id')),
    column('parameters_spec', JSON),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    column('deleted', BIG),
    lower_name(),
    sa.UniqueConstraint('uuid'),
    unique_name('strategies'),
    sa.Index('ix_strategies_goal_id', 'goal_id'),
    sa.Index('ix_strategies_lower_name', 'lower_name'),
    counted=True,
)

audit_templates = table(
    'audit_templates',
    counter(),
    column('uuid', UUID),
    column('name', NAME),
    sa.Column('goal_id', BIG, sa.ForeignKey('goals.id'), nullable=False),
    sa.Column('strategy_id', BIG, sa.ForeignKey('strategies.id')),
    sa.Column('description', NAME),
    column('scope', EncryptedJson()),
    column('default_parameters', EncryptedJson()),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    column('deleted', BIG),
    column('lower_name', NAME),
    sa.UniqueConstraint('uuid'),
    unique_name('audit_templates'),
    sa.Index('ix_audit_templates_goal_id', 'goal_id'),
    sa.Index('ix_audit_templates_strategy_id', 'strategy_id'),
    sa.Index('ix_audit_templates_lower_name', 'lower_name'),
    counted=True,
)

audits = table(
    'audits',
    counter(),
    column('uuid', UUID),
    column('name', NAME),
    column('audit_type', WORD),
    column('state', WORD),
    sa.Column('goal_id', BIG, sa.ForeignKey('goals.id'), nullable=False),
    sa.Column('strategy_id', BIG, sa.ForeignKey('strategies.id')),
    column('parameters', EncryptedJson()),
    column('scope', EncryptedJson()),
    # INTERVAL is a reserved word of MySQL.
    sa.Column('run_interval', NAME),
    column('auto_trigger', sa.Boolean()),
    sa.Column('status_message', MESSAGE),
    sa.Column('next_run_time', TIME),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    sa.Column('start_time', TIME),
    sa.Column('end_time', TIME),
    # FORCE is another one.
    sa.Column('forced', sa.Boolean(), nullable=False, server_default=sa.false()),
    # Without a foreign key: actions are purged when they are old.
    sa.Column('action_id', BIG),
    sa.Column('creator', CreatorJson()),
    sa.Column('deleted', BIG, nullable=False, server_default='0'),
    lower_name(),
    hidden(),
    sa.UniqueConstraint('uuid'),
    # An index, as SQLite cannot add a constraint without making the table anew.
    sa.Index('uq_audits_name_deleted', 'name', 'deleted', unique=True),
    sa.Index('ix_audits_lower_name', 'lower_name'),
    # First what it refers to, which the foreign key needs on MySQL.
    sa.Index('ix_audits_goal_id_hidden_id', 'goal_id', 'hidden', 'id'),
    sa.Index('ix_audits_strategy_id_hidden_id', 'strategy_id', 'hidden', 'id'),
    *orders(
        'audits',
        *('name', 'audit_type', 'state', 'run_interval', 'auto_trigger'),
        *('next_run_time', 'start_time', 'end_time', 'forced'),
        *('created_at', 'updated_at', 'deleted_at'),
    ),
    counted=True,
)
