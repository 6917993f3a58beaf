"""Marks of users on unhealthy nodes."""

from typing import Any

from watcherlite import exceptions
from watcherlite.domain.clusters import Node
from watcherlite.domain.documents import json_values
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.node_record import BEFORE_MARK
from watcherlite.states import cluster as states

DEFAULT_REASON = 'state changed by node_mark_unhealthy api'
LONGEST_REASON = 255
#: The type of the action that records a mark; it has ended when it is stored.
ACTION = action_types.NODE_UPDATE
NAME = 'node_mark_unhealthy_{}'


def add_mark(row: Node, reason: str) -> Node:
    """Return a node as unhealthy."""
    kept = dict(row.kept)
    if action_types.unhealthy_mark(row) is None:
        kept[BEFORE_MARK] = [row.status, row.status_reason]
    return row.evolve(
        status=states.ERROR,
        status_reason=reason,
        data={**row.data, action_types.UNHEALTHY_MARK: reason},
        kept=kept,
    )


def remove_mark(row: Node, reason: str) -> Node:
    """Return a node as it was before its mark; one without a mark as it is.

    A node that was in ERROR before stays so.
    """
    if action_types.unhealthy_mark(row) is None:
        return row
    kept = dict(row.kept)
    status, why = kept.pop(BEFORE_MARK, (states.ACTIVE, ''))
    if row.status != states.ERROR:
        status, why = row.status, row.status_reason
    elif status == states.ACTIVE:
        why = reason
    data = {
        key: value
        for key, value in row.data.items()
        if key != action_types.UNHEALTHY_MARK
    }
    return row.evolve(status=status, status_reason=why, data=data, kept=kept)


def parse_reason(value: Any) -> str:
    """Return the reason of a mark; BadRequest."""
    if value is None:
        return DEFAULT_REASON
    wrong = not isinstance(value, str) or not 1 <= len(value) <= LONGEST_REASON
    if wrong or json_values.text_problem(value):
        raise exceptions.BadRequest(
            'The value for status_reason must be text of 1 to '
            f'{LONGEST_REASON} characters.'
        )
    return str(value)
