"""The declarations of a policy as lines of tables, without Sphinx."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

# A module of this directory, which conf.py adds to sys.path.
import tables

from watcherlite.plugins.base import Policy

#: Below a list: each of its items.
_ITEM = '[]'


def lines(policy: type[Policy]) -> list[str]:
    """Return the actions that a policy applies to, and the table of its properties."""
    shown = [
        f'Priority {policy.priority}; '
        + ('one' if policy.singleton else 'any number')
        + ' of this type for a cluster.',
        '',
    ]
    for when, types in (('before', policy.before), ('after', policy.after)):
        if types:
            named = ', '.join(f'``{name}``' for name in sorted(types))
            shown += [f'Evaluated {when} {named}.', '']
    rows = list(_rows('', policy.schema))
    return shown + tables.list_table(
        ('Property', 'Type', 'Meaning'), (34, 14, 52), rows
    )


def _rows(above: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    required = schema.get('required') or ()
    for name, declared in (schema.get('properties') or {}).items():
        place = f'{above}{name}'
        label = f'``{place}``' + (' (required)' if name in required else '')
        yield label, declared.get('type', 'string'), _meaning(declared)
        yield from _rows(f'{place}.', declared)
        yield from _rows(f'{place}{_ITEM}.', declared.get('items') or {})


def _meaning(declared: Mapping[str, Any]) -> str:
    meaning = str(declared.get('description', ''))
    if declared.get('default') not in (None, '', {}, []):
        meaning += f' Default: ``{json.dumps(declared["default"])}``.'
    values = declared.get('enum') or (declared.get('items') or {}).get('enum')
    if values:
        meaning += f' One of {", ".join(f"``{value}``" for value in values)}.'
    return meaning
