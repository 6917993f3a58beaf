"""The transaction of the store: `SqlTransaction`."""

from watcherlite.db.sqlalchemy.statements.actions import ActionStatements
from watcherlite.db.sqlalchemy.statements.audits import AuditStatements
from watcherlite.db.sqlalchemy.statements.claims import ClaimStatements
from watcherlite.db.sqlalchemy.statements.clusters import ClusterStatements
from watcherlite.db.sqlalchemy.statements.credentials import CredentialStatements
from watcherlite.db.sqlalchemy.statements.dependents import DependentStatements
from watcherlite.db.sqlalchemy.statements.events import EventStatements
from watcherlite.db.sqlalchemy.statements.locks import LockStatements
from watcherlite.db.sqlalchemy.statements.plans import PlanStatements
from watcherlite.db.sqlalchemy.statements.projects import ProjectStatements
from watcherlite.db.sqlalchemy.statements.request_keys import RequestKeyStatements
from watcherlite.db.sqlalchemy.statements.requests import RequestStatements
from watcherlite.db.sqlalchemy.statements.software import SoftwareStatements
from watcherlite.db.sqlalchemy.statements.stacks import StackStatements


class SqlTransaction(
    PlanStatements,
    ActionStatements,
    DependentStatements,
    ClaimStatements,
    LockStatements,
    EventStatements,
    AuditStatements,
    StackStatements,
    SoftwareStatements,
    ClusterStatements,
    ProjectStatements,
    RequestKeyStatements,
    RequestStatements,
    CredentialStatements,
):
    """Implementation of `db.api.Transaction` on PostgreSQL, and base of the others."""
