"""Who may do what: one module per noun, each rule with what it decides."""

from oslo_policy import policy

from watcherlite.api.policies import (
    action,
    action_plan,
    audit,
    audit_template,
    base,
    cluster,
    cluster_action,
    cluster_node,
    cluster_policy,
    cluster_profile,
    cluster_receiver,
    data_model,
    event,
    goal,
    healthcheck,
    openapi,
    resource,
    scoring_engine,
    service,
    stack,
    stack_action,
    stack_event,
    stack_type,
    strategy,
    webhook,
)

_MODULES = (
    base,
    action,
    action_plan,
    audit,
    audit_template,
    cluster,
    cluster_action,
    cluster_node,
    cluster_policy,
    cluster_profile,
    cluster_receiver,
    data_model,
    event,
    goal,
    healthcheck,
    openapi,
    resource,
    scoring_engine,
    service,
    stack,
    stack_action,
    stack_event,
    stack_type,
    strategy,
    webhook,
)


def list_rules() -> list[policy.RuleDefault]:
    """Return all rules; oslopolicy-sample-generator asks for them."""
    return [rule for module in _MODULES for rule in module.list_rules()]
