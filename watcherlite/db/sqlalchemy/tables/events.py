"""The table of events: the transactional outbox, and the history."""

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.tables.schema import column, counter, partial, table
from watcherlite.db.sqlalchemy.tables.types import (
    BIG,
    FLAG,
    MESSAGE,
    NAME,
    TEXT,
    TIME,
    UUID,
    WORD,
    EncryptedJson,
)

#: The condition of events of stacks and resources.
OF_STACKS = "subject IN ('stack', 'resource')"

# Without foreign keys: events outlive their subjects.
events = table(
    'events',
    counter('sequence'),
    column('uuid', UUID),
    column('subject', WORD),
    column('kind', WORD),
    sa.Column('plan_id', BIG),
    sa.Column('action_id', BIG),
    sa.Column('old_status', WORD),
    sa.Column('new_status', WORD),
    sa.Column('message', MESSAGE),
    sa.Column('plan_state', WORD),
    sa.Column('plan_message', MESSAGE),
    sa.Column('detail', EncryptedJson(always=False)),
    column('occurred_at', TIME),
    sa.Column('pending', FLAG),
    sa.Column('published_at', TIME),
    sa.Column('subject_id', BIG),
    # In events of stacks, name and type of the resource, '' for the stack itself. In
    # events of clusters and nodes, their name and the type of the action.
    sa.Column('name', NAME),
    sa.Column('type', TEXT),
    # In events of clusters and nodes; `within` is the uuid of the cluster.
    sa.Column('tenant', NAME),
    sa.Column('within', UUID),
    sa.Column('level', WORD),
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
