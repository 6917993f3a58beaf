"""The policy rules: one module per API, one table per noun."""

from collections.abc import Sequence

from oslo_policy import policy

from watcherlite.api.policies import (
    base,
    clustering,
    infra_optim,
    orchestration,
    service,
)

#: In the order of the sample file.
_TABLES: Sequence[Sequence[policy.RuleDefault]] = (
    base.ROLES,
    infra_optim.ACTION_RULES,
    infra_optim.ACTION_PLAN_RULES,
    infra_optim.AUDIT_RULES,
    infra_optim.AUDIT_TEMPLATE_RULES,
    clustering.CLUSTER_RULES,
    clustering.CLUSTER_ACTION_RULES,
    clustering.CLUSTER_NODE_RULES,
    clustering.CLUSTER_POLICY_RULES,
    clustering.CLUSTER_PROFILE_RULES,
    clustering.CLUSTER_RECEIVER_RULES,
    infra_optim.DATA_MODEL_RULES,
    infra_optim.EVENT_RULES,
    infra_optim.GOAL_RULES,
    service.HEALTHCHECK_RULES,
    service.OPENAPI_RULES,
    orchestration.RESOURCE_RULES,
    infra_optim.SCORING_ENGINE_RULES,
    infra_optim.SERVICE_RULES,
    orchestration.STACK_RULES,
    orchestration.STACK_ACTION_RULES,
    orchestration.STACK_EVENT_RULES,
    orchestration.STACK_TYPE_RULES,
    infra_optim.STRATEGY_RULES,
    infra_optim.WEBHOOK_RULES,
)


def list_rules() -> list[policy.RuleDefault]:
    """Return all rules; oslopolicy-sample-generator asks for them."""
    return [rule for table in _TABLES for rule in table]
