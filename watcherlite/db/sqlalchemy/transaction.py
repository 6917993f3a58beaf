"""The transaction of the store: its parts together."""

from watcherlite.db.sqlalchemy.actions import ActionWriting
from watcherlite.db.sqlalchemy.audits import AuditWriting
from watcherlite.db.sqlalchemy.claims import Claims
from watcherlite.db.sqlalchemy.clusters import ClusterWriting
from watcherlite.db.sqlalchemy.dependents import Dependents
from watcherlite.db.sqlalchemy.events import EventWriting
from watcherlite.db.sqlalchemy.plans import Plans
from watcherlite.db.sqlalchemy.projects import Projects
from watcherlite.db.sqlalchemy.request_keys import RequestKeyWriting
from watcherlite.db.sqlalchemy.stacks import StackWriting
from watcherlite.db.sqlalchemy.target_locks import Targets


class SqlTransaction(
    Plans,
    ActionWriting,
    Dependents,
    Claims,
    Targets,
    EventWriting,
    AuditWriting,
    StackWriting,
    ClusterWriting,
    Projects,
    RequestKeyWriting,
):
    """`db.api.Transaction` on PostgreSQL; what others do differently is overridden."""
