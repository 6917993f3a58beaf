"""The tables.

Every constraint and index has a name, by which migrations refer to it. Times are naive
and in UTC. JSON is stored as text, because the JSON types of databases differ.
"""

from watcherlite.db.sqlalchemy.tables import (
    actions,
    audits,
    clusters,
    coordination,
    events,
    software,
    stacks,
)
from watcherlite.db.sqlalchemy.tables.schema import metadata

__all__ = [
    'actions',
    'audits',
    'clusters',
    'coordination',
    'events',
    'metadata',
    'software',
    'stacks',
]
