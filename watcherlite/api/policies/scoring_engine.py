"""The rules for scoring engines."""

from oslo_policy import policy

from watcherlite.api.policies import base


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'scoring_engine:get',
            base.READER,
            'Show a scoring engine.',
            ('GET', '/v1/scoring_engines/{scoring_engine}'),
        ),
        base.rule(
            'scoring_engine:get_all',
            base.READER,
            'List scoring engines.',
            ('GET', '/v1/scoring_engines'),
        ),
        base.rule(
            'scoring_engine:detail',
            base.READER,
            'List scoring engines with all details.',
            ('GET', '/v1/scoring_engines/detail'),
        ),
    ]
