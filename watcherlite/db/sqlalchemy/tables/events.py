"""The table of events: the transactional outbox, and the history."""

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.tables import types
from watcherlite.db.sqlalchemy.tables.schema import column, counter, partial, table

#: The condition of events of stacks and resources.
OF_STACKS = "subject IN ('stack', 'resource')"

# Without foreign keys: events outlive their subjects.
events = table(
    'events',
    counter('sequence'),
    column('uuid', types.UUID),
    column('subject', types.WORD),
    column('kind', types.WORD),
    sa.Column('plan_id', types.BIG),
    sa.Column('action_id', types.BIG),
    sa.Column('old_status', types.WORD),
    sa.Column('new_status', types.WORD),
    sa.Column('message', types.MESSAGE),
    sa.Column('plan_state', types.WORD),
    sa.Column('plan_message', types.MESSAGE),
    sa.Column('detail', types.EncryptedJson(always=False)),
    column('occurred_at', types.TIME),
    sa.Column('pending', types.FLAG),
    sa.Column('published_at', types.TIME),
    sa.Column('subject_id', types.BIG),
    # In events of stacks, name and type of the resource, '' for the stack itself. In
    # events of clusters and nodes, their name and the type of the action.
    sa.Column('name', types.NAME),
    sa.Column('type', types.TEXT),
    # In events of clusters and nodes; `within` is the uuid of the cluster.
    sa.Column('tenant', types.NAME),
    sa.Column('within', types.UUID),
    sa.Column('level', types.WORD),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_events_pending', 'pending', 'sequence', **partial('pending = 1')),
    sa.Index('ix_events_plan_id', 'plan_id', 'sequence'),
    sa.Index(
        'ix_events_subject',
        'subject_id',
        'subject',
        'sequence',
        **partial('subject_id IS NOT NULL'),
    ),
    # The history of a stack, with that of its resources.
    sa.Index('ix_events_of_stack', 'subject_id', 'sequence', **partial(OF_STACKS)),
    *(
        sa.Index(
            f'ix_events_{lead}', lead, 'sequence', **partial(f'{lead} IS NOT NULL')
        )
        for lead in ('tenant', 'within', 'level')
    ),
    counted=True,
)
