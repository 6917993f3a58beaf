"""Policy rules that depend on the arguments of a request."""

from collections.abc import Callable

from watcherlite.api.operation import Request

ALL_PROJECTS = 'clustering:all_projects'
FORCE = 'actions:force'


def index(rule: str) -> Callable[[Request], list[str]]:
    """Return a function that returns the rules of a list, which may be global."""

    def rules(request: Request) -> list[str]:
        wide = bool(request.query.get('global_project'))
        return [rule, ALL_PROJECTS] if wide else [rule]

    return rules


def signal(request: Request) -> list[str]:
    """Return the rules of a signal, which may be forced."""
    forced = bool(request.query.get('force'))
    return ['actions:update', FORCE] if forced else ['actions:update']
