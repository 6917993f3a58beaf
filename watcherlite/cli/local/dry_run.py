"""`watcherlite run --dry-run`: the execution order of the actions."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from watcherlite.cli.formatting import action_count
from watcherlite.cli.output import Output
from watcherlite.domain import graph
from watcherlite.domain.documents.plan_document import ActionDocument, PlanDocument


def levels(
    document: PlanDocument, skipped: Mapping[str, str | None]
) -> list[list[ActionDocument]]:
    """Return the steps; the actions of a step may run in parallel.

    Skipped actions end before the start, so that their dependents can be in the first
    step.
    """
    actions = [a for a in document.actions if a.name not in skipped]
    index = {action.name: i for i, action in enumerate(actions)}
    parents = [
        [index[name] for name in action.parents if name in index] for action in actions
    ]
    return [[actions[i] for i in level] for level in graph.levels(parents)]


def print_text(
    document: PlanDocument, skipped: Mapping[str, str | None], out: Output
) -> None:
    """Print the steps for people."""
    for line in _lines(document, skipped):
        out.line(line)


def _lines(document: PlanDocument, skipped: Mapping[str, str | None]) -> Iterator[str]:
    limit = document.max_parallel
    yield (
        f'Action plan {document.name or "without a name"}: '
        f'{action_count(len(document.actions))}, '
        f'on_failure {document.on_failure}, '
        + (f'at most {limit} at a time' if limit else 'no parallelism limit')
    )
    width = max(len(action.name) for action in document.actions)
    steps = levels(document, skipped)
    for number, step in enumerate(steps, 1):
        yield f'{number}. {"in parallel" if len(step) > 1 else "alone"}:'
        for action in step:
            yield f'   {action.name:<{width}}  {action.action_type}{_details(action)}'
    if skipped:
        yield 'Skipped:'
    for name, reason in skipped.items():
        yield f'   {name:<{width}}  {reason or ""}'.rstrip()
    yield 'Dry run: nothing was stored or executed.'


def _details(action: ActionDocument) -> str:
    details = []
    if action.parents:
        details.append(f'after {", ".join(action.parents)}')
    if action.target:
        details.append(f'on {action.target}')
    if action.not_before:
        details.append(f'not before {action.not_before.isoformat()}')
    return f'  ({"; ".join(details)})' if details else ''


def print_json(
    document: PlanDocument, skipped: Mapping[str, str | None], out: Output
) -> None:
    """Print the steps as a JSON document."""
    found: dict[str, Any] = {
        'name': document.name,
        'on_failure': document.on_failure,
        'max_parallel': document.max_parallel,
        'steps': [
            [
                {
                    'name': action.name,
                    'action_type': action.action_type,
                    'parents': list(action.parents),
                    'target': action.target,
                    'not_before': action.not_before and action.not_before.isoformat(),
                }
                for action in step
            ]
            for step in levels(document, skipped)
        ],
        'skipped': [
            {'name': name, 'reason': reason} for name, reason in skipped.items()
        ],
    }
    out.line(json.dumps(found, indent=2))
