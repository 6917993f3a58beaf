"""Values of stacks and resources as people read them in a cell."""

import json
from typing import Any


def outputs(found: Any) -> str:
    """Return outputs, one a line: `url: http://127.0.0.1:8000/`."""
    return '\n'.join(
        f'{one.get("output_key")}: {_value(one)}'
        for one in found
        if isinstance(one, dict)
    )


def _value(output: dict[str, Any]) -> str:
    if output.get('output_error'):
        return f'({output["output_error"]})'
    return plain(output.get('output_value'))


def plain(value: Any) -> str:
    """Return a value: a text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, indent=2)


def parameters(found: Any) -> str:
    """Return parameters, one a line."""
    return '\n'.join(f'{name}: {plain(value)}' for name, value in found.items())


def resources(found: Any) -> str:
    """Return resources, one a line: `web (Local::Process)`."""
    return '\n'.join(
        f'{one.get("resource_name")} ({one.get("resource_type")})'
        for one in found
        if isinstance(one, dict)
    )
