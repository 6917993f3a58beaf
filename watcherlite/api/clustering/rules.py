"""Rules that are asked for some requests besides that of the operation."""

from collections.abc import Callable

from watcherlite.api.operation import Request

ALL_PROJECTS = 'clustering:all_projects'
FORCE = 'actions:force'


def index(rule: str) -> Callable[[Request], list[str]]:
    """Return what says the rules for a list: another one for those of all projects."""

    def rules(request: Request) -> list[str]:
        wide = bool(request.query.get('global_project'))
        return [rule, ALL_PROJECTS] if wide else [rule]

    return rules


def signal(request: Request) -> list[str]:
    """Return the rules for a signal: another one where it ends what somebody runs."""
    forced = bool(request.query.get('force'))
    return ['actions:update', FORCE] if forced else ['actions:update']
