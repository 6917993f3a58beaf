"""The tables.

Every constraint and index has a name, so that a migration can speak of it on
each database. Times are naive and in UTC. JSON is kept as text: nobody searches
in it, and databases differ in what they do to it.
"""

from watcherlite.db.sqlalchemy.tables import (
    actions,
    audits,
    clusters,
    coordination,
    events,
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
    'stacks',
]
