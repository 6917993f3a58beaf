"""The objects of the store, and the tables that their rows are in."""

from watcherlite.db.request_keys import RequestKey
from watcherlite.db.sqlalchemy.rows import RowMapper
from watcherlite.db.sqlalchemy.tables.actions import action_plans, actions
from watcherlite.db.sqlalchemy.tables.audits import (
    audit_templates,
    audits,
    goals,
    strategies,
)
from watcherlite.db.sqlalchemy.tables.coordination import request_keys
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action
from watcherlite.domain.audits import Audit, AuditTemplate, Goal, Strategy

GOALS = RowMapper(Goal, goals)
STRATEGIES = RowMapper(Strategy, strategies)
AUDIT_TEMPLATES = RowMapper(AuditTemplate, audit_templates)
AUDITS = RowMapper(Audit, audits, {'interval': 'run_interval', 'force': 'forced'})
ACTION_PLANS = RowMapper(ActionPlan, action_plans)
ACTIONS = RowMapper(Action, actions, {'interval': 'run_interval'})
REQUEST_KEYS = RowMapper(RequestKey, request_keys)
