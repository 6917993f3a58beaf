"""The functions that the templates of a version may use."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite.domain.templates.formats import HOT
from watcherlite.domain.templates.functions import cfn_functions, hot_functions
from watcherlite.domain.templates.functions.function import Function
from watcherlite.domain.templates.versions import Version


@dataclasses.dataclass(frozen=True, slots=True)
class FunctionTable:
    """The functions of a version by name.

    :param values: for values
    :param conditions: for conditions
    :param unsupported: the alternatives to unsupported functions
    """

    values: Mapping[str, Function]
    conditions: Mapping[str, Function]
    unsupported: Mapping[str, str]


def table_of(
    version: Version, mappings: cfn_functions.Mappings | None = None
) -> FunctionTable:
    """Return the functions of a version.

    :param mappings: of the template
    """
    if version.format is HOT:
        return FunctionTable(
            _since(version, hot_functions.FUNCTIONS),
            _since(version, hot_functions.CONDITION_FUNCTIONS),
            {
                name: hint
                for name, (since, hint) in hot_functions.MISSING.items()
                if since <= version.date
            },
        )
    values = {f.name: f for f in cfn_functions.with_mappings(mappings or {})}
    conditions: dict[str, Function] = {}
    if version.has_conditions:
        values[cfn_functions.IF.name] = cfn_functions.IF
        conditions = {f.name: f for f in cfn_functions.CONDITION_FUNCTIONS}
    return FunctionTable(values, conditions, cfn_functions.MISSING)


def _since(version: Version, known: tuple[Function, ...]) -> dict[str, Function]:
    return {f.name: f for f in known if f.since <= version.date}


def list_functions(version: Version, conditions: bool = False) -> list[dict[str, Any]]:
    """Return the body of `GET /template_versions/VERSION/functions`.

    :param conditions: include functions for conditions
    """
    table = table_of(version)
    known = {**table.values, **(table.conditions if conditions else {})}
    return [
        {'functions': name, 'description': known[name].description}
        for name in sorted(known)
    ]
