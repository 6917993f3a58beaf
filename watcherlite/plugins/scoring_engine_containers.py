"""The scoring engines that containers return."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite.plugins import base

LOG = logging.getLogger(__name__)

#: The maximum length of a name, as stored.
LONGEST_NAME = 255


def text_problem(engine: Any) -> str | None:
    """Return why the texts of a scoring engine, or of its class, cannot be stored."""
    for name in ('description', 'metainfo'):
        if not isinstance(getattr(engine, name), str):
            return f'its {name} is not a str'
    return None


def contained(
    containers: Mapping[str, Callable[[], base.ScoringEngineContainer]],
) -> dict[str, base.ScoringEngine]:
    """Return the scoring engines of containers, by name.

    What cannot be used is logged, and does not affect others.

    :param containers: the factory of each, by name. The first one in alphabetical order
        has a name that several have
    """
    found: dict[str, base.ScoringEngine] = {}
    for container in sorted(containers):
        try:
            engines = dict(containers[container]().scoring_engines())
        except Exception:
            LOG.exception('The scoring engine container %s cannot be used', container)
            continue
        for name, engine in engines.items():
            problem = _problem(name, engine, found)
            if problem is None:
                found[name] = engine
                continue
            LOG.warning(
                'The scoring engine %r of the container %s cannot be used: %s',
                name,
                container,
                problem,
            )
    return found


def _problem(name: Any, engine: Any, taken: Mapping[str, Any]) -> str | None:
    """Return why a scoring engine cannot be used by its name, or None."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        return f'its name is not a str of 1 to {LONGEST_NAME} characters'
    if not isinstance(engine, base.ScoringEngine):
        return 'it is no instance of watcherlite.plugins.base.ScoringEngine'
    if name in taken:
        return 'the name is taken'
    return text_problem(engine)
