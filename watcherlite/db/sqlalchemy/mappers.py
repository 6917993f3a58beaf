"""Row mappers: the classes of objects with the tables that store them."""

from collections.abc import Callable
from typing import Any

from watcherlite.db.action_logs import LogEntry
from watcherlite.db.api import Worker
from watcherlite.db.credentials import Credential
from watcherlite.db.request_keys import RequestKey
from watcherlite.db.requests import RecordedRequest
from watcherlite.db.sessions import UserSession
from watcherlite.db.software import ListedConfig
from watcherlite.db.sqlalchemy.rows import RowMapper
from watcherlite.db.sqlalchemy.tables.actions import (
    action_log_entries,
    action_plans,
    actions,
)
from watcherlite.db.sqlalchemy.tables.audits import (
    audit_templates,
    audits,
    goals,
    scoring_engines,
    strategies,
)
from watcherlite.db.sqlalchemy.tables.clusters import (
    bindings,
    clusters,
    nodes,
    policies,
    profiles,
    receivers,
)
from watcherlite.db.sqlalchemy.tables.coordination import (
    credentials,
    request_keys,
    requests,
    sessions,
    workers,
)
from watcherlite.db.sqlalchemy.tables.events import events
from watcherlite.db.sqlalchemy.tables.software import (
    software_configs,
    software_deployments,
)
from watcherlite.db.sqlalchemy.tables.stacks import definitions, resources, stacks
from watcherlite.db.sqlalchemy.tables.types import EncryptedJson, Secret
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import ENGINE, Action, NewAction
from watcherlite.domain.audits import (
    Audit,
    AuditTemplate,
    Goal,
    ScoringEngine,
    Strategy,
)
from watcherlite.domain.clusters import (
    Binding,
    Cluster,
    Node,
    Owner,
    PolicyObject,
    Profile,
    Receiver,
)
from watcherlite.domain.events import Event
from watcherlite.domain.software import SoftwareConfig, SoftwareDeployment
from watcherlite.domain.stacks import Resource, Stack, StoredDefinition


class _ActionMapper(RowMapper[Action]):
    """The mapper of actions, which encrypts all documents of engine actions.

    These contain the properties of resources.
    """

    def __init__(self) -> None:
        super().__init__(Action, actions, {'interval': 'run_interval'})

    def values_of(self, *names: str) -> Callable[[Any], tuple[Any, ...]]:
        values = super().values_of(*names)
        secret = [
            place
            for place, name in enumerate(names)
            if isinstance(self.table.c[name].type, EncryptedJson)
        ]

        def with_encryption(item: NewAction) -> tuple[Any, ...]:
            found = values(item)
            if item.lane != ENGINE:
                return found
            hidden = list(found)
            for place in secret:
                if hidden[place] is not None:
                    hidden[place] = Secret(hidden[place])
            return tuple(hidden)

        return with_encryption if secret else values


GOALS = RowMapper(Goal, goals)
STRATEGIES = RowMapper(Strategy, strategies)
SCORING_ENGINES = RowMapper(ScoringEngine, scoring_engines)
AUDIT_TEMPLATES = RowMapper(AuditTemplate, audit_templates)
AUDITS = RowMapper(Audit, audits, {'interval': 'run_interval', 'force': 'forced'})
ACTION_PLANS = RowMapper(ActionPlan, action_plans)
ACTIONS = _ActionMapper()
WORKERS = RowMapper(Worker, workers)
REQUEST_KEYS = RowMapper(RequestKey, request_keys)
REQUESTS = RowMapper(RecordedRequest, requests)
SESSIONS = RowMapper(UserSession, sessions)
CREDENTIALS = RowMapper(Credential, credentials)
LOG_ENTRIES = RowMapper(LogEntry, action_log_entries)

# USER, INDEX and GROUP are reserved words of databases.
_USER = {'user': 'user_name'}
DEFINITIONS = RowMapper(StoredDefinition, definitions)
STACKS = RowMapper(Stack, stacks, _USER)
RESOURCES = RowMapper(Resource, resources)
_GROUP = {'group': 'group_name'}
SOFTWARE_CONFIGS = RowMapper(SoftwareConfig, software_configs, _GROUP)
LISTED_SOFTWARE_CONFIGS = RowMapper(ListedConfig, software_configs, _GROUP)
SOFTWARE_DEPLOYMENTS = RowMapper(SoftwareDeployment, software_deployments)
_OWNED = {'owner': Owner}
PROFILES = RowMapper(Profile, profiles, _USER, _OWNED)
POLICIES = RowMapper(PolicyObject, policies, _USER, _OWNED)
CLUSTERS = RowMapper(Cluster, clusters, _USER, _OWNED)
NODES = RowMapper(
    Node, nodes, {**_USER, 'index': 'node_index', 'last': 'last_action'}, _OWNED
)
BINDINGS = RowMapper(Binding, bindings)
RECEIVERS = RowMapper(Receiver, receivers, _USER, _OWNED)
EVENTS = RowMapper(Event, events)
