"""Formatting of API values in table cells and sentences."""

import dataclasses
import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import clock

#: Output formats with lists and objects.
STRUCTURED = frozenset({'json', 'yaml'})
TABLE = 'table'

Row = Mapping[str, Any]
#: Words of field names with another spelling in headings.
_HEADINGS = {'id': 'ID', 'uuid': 'UUID'}


@dataclasses.dataclass(frozen=True, slots=True)
class Column:
    """One column.

    :param label: its heading
    :param field: the field of the representation
    :param text: formats its value for people; None: the default format
    :param empty: shown for null in all formats
    :param derive: returns the value of the column, in all formats, from that of the
        field
    """

    label: str
    field: str
    text: Callable[[Any], str] | None = None
    empty: str | None = None
    derive: Callable[[Any], Any] | None = None


def fields(*shown: str | Column) -> tuple[Column, ...]:
    """Return columns; a text is a list of fields, whose names become the headings.

    `stack_name id` are the columns Stack Name and ID.
    """
    found: list[Column] = []
    for one in shown:
        if isinstance(one, Column):
            found.append(one)
        else:
            found += [Column(_heading(name), name) for name in one.split()]
    return tuple(found)


def _heading(field: str) -> str:
    words = field.split('_')
    return ' '.join(_HEADINGS.get(word, word.capitalize()) for word in words)


def supported_columns(columns: Sequence[Column], row: Row) -> list[Column]:
    """Return the columns of a representation: early API versions lack some."""
    return [column for column in columns if column.field in row]


def cells(columns: Sequence[Column], row: Row, formatter: str) -> list[Any]:
    """Return the cells of a row for a formatter."""
    return [_cell(column, row.get(column.field), formatter) for column in columns]


def _cell(column: Column, value: Any, formatter: str) -> Any:
    if value is not None and column.derive:
        value = column.derive(value)
    if value is None:
        return column.empty
    if formatter in STRUCTURED:
        return value
    if formatter == TABLE:
        return printable(column.text(value) if column.text else _to_text(value))
    # In every format: a terminal would execute control sequences of foreign texts.
    return json.dumps(value) if isinstance(value, dict | list) else printable(value)


def _to_text(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return '\n'.join(value)
    if isinstance(value, dict | list):
        return json.dumps(value, indent=2) if value else ''
    return value


def printable(value: Any) -> Any:
    """Return a value; a text without control characters except line breaks."""
    if not isinstance(value, str):
        return value
    return ''.join(c if c.isprintable() or c == '\n' else ' ' for c in value)


def properties(schema: Any) -> str:
    """Return the parameters in the schema of a strategy, one per line."""
    found = schema.get('properties') if isinstance(schema, dict) else schema
    return json.dumps(found, indent=2) if found else ''


def indicators(items: Any) -> str:
    """Return efficacy indicators, one per line: `released_nodes: 50.00 %`."""
    return '\n'.join(_indicator(one) for one in items if isinstance(one, dict))


def _indicator(one: Row) -> str:
    value, unit = one.get('value'), one.get('unit')
    if isinstance(value, float) and unit:
        value = f'{value:.2f}'
    return f'{one.get("name")}: {value}{f" {unit}" if unit else ""}'


def specification(items: Any) -> str:
    """Return the indicators of a goal, one per line."""
    lines = []
    for one in items if isinstance(items, list) else []:
        unit = f' ({one["unit"]})' if one.get('unit') else ''
        lines.append(
            f'{one.get("name")}{unit}: {one.get("description") or ""}'.rstrip()
        )
    return '\n'.join(lines)


def format_requirements(items: Any) -> str:
    """Return the requirements of a strategy and their states, one per line."""
    if not isinstance(items, list):
        return str(items)
    pairs = [pair for one in items if isinstance(one, dict) for pair in one.items()]
    return '\n'.join(f'{name}: {state}' for name, state in pairs)


def progress(counts: Any) -> str:
    """Return the progress of a plan: `3 of 5, 1 failed`."""
    if not isinstance(counts, dict):
        return str(counts)
    failed = counts.get('failed')
    text = f'{counts.get("ended")} of {counts.get("total")}'
    return f'{text}, {failed} failed' if failed else text


def age(created_at: Any, now: datetime.datetime) -> int | None:
    """Return the whole seconds since a time of the API; None if it is no time."""
    try:
        moment = datetime.datetime.fromisoformat(created_at)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return max(int((now - moment).total_seconds()), 0)


def duration(seconds: int) -> str:
    """Return a number of whole seconds for people: `5 s`, `2 min 3 s`."""
    return f'{seconds} s' if seconds < 60 else clock.duration_text(seconds)


def outputs(items: Any) -> str:
    """Return outputs, one per line: `url: http://127.0.0.1:8000/`."""
    return '\n'.join(
        f'{one.get("output_key")}: {_value(one)}'
        for one in items
        if isinstance(one, dict)
    )


def _value(output: dict[str, Any]) -> str:
    if output.get('output_error'):
        return f'({output["output_error"]})'
    return format_plain(output.get('output_value'))


def format_plain(value: Any) -> str:
    """Return a text unchanged, and other values as JSON."""
    return value if isinstance(value, str) else json.dumps(value, indent=2)


def parameters(values: Any) -> str:
    """Return parameters, one per line."""
    return '\n'.join(f'{name}: {format_plain(value)}' for name, value in values.items())


def resources(items: Any) -> str:
    """Return resources, one per line: `web (Local::Process)`."""
    return '\n'.join(
        f'{one.get("resource_name")} ({one.get("resource_type")})'
        for one in items
        if isinstance(one, dict)
    )


def plan_label(uuid: str, name: str | None) -> str:
    """Return the name of a plan within a sentence."""
    return f'action plan {name} ({uuid})' if name else f'action plan {uuid}'


def action_count(count: int) -> str:
    """Return a number of actions: `1 action`, `2 actions`."""
    return f'{count} action{"" if count == 1 else "s"}'


def capitalized(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]
