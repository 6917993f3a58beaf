"""How audit templates are shown."""

from typing import Any

from watcherlite.api.infra_optim import links
from watcherlite.api.infra_optim.representations import timestamps
from watcherlite.api.operation import Request, Version
from watcherlite.conf import masking
from watcherlite.db.listing import ListedTemplate

#: The microversion from which on a template has parameters.
DEFAULT_PARAMETERS: Version = (1, 7)


def represent(request: Request, listed: ListedTemplate, detail: bool) -> dict[str, Any]:
    """Return a template; `detail` adds description, parameters (1.7) and times.

    Credentials among the parameters are masked.
    """
    template = listed.template
    shown: dict[str, Any] = {
        'uuid': template.uuid,
        'name': template.name,
        'goal_uuid': listed.goal_uuid,
        'goal_name': listed.goal_name,
        'strategy_uuid': listed.strategy_uuid,
        'strategy_name': listed.strategy_name,
        'scope': list(template.scope),
        'links': links.of(request, 'audit_templates', template.uuid),
    }
    if detail:
        shown['description'] = template.description
        if request.version >= DEFAULT_PARAMETERS:
            shown['default_parameters'] = masking.mask_data(
                dict(template.default_parameters)
            )
        shown.update(timestamps.of(template))
    return shown
