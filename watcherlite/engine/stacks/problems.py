"""What is wrong with the templates of a stack, each with its place; pure."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.domain.templates import document
from watcherlite.domain.yaml_values import Path

#: More problems than these tell nobody more.
MOST_TOLD = 100


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at a place of a template.

    :param text: with all places that lead there
    :param at: where in it the place in this template begins
    :param path: in this template
    """

    text: str
    at: int
    template: Mapping[str, Any]
    path: Path


class Problems:
    """What was found, the same text once."""

    def __init__(self) -> None:
        self._found: dict[str, Problem] = {}

    def add(self, problem: Problem) -> None:
        """Note a problem."""
        self._found.setdefault(problem.text, problem)

    @property
    def told(self) -> list[str]:
        """Return them as lines for users, or the first of very many."""
        found = list(self._found.values())
        more = len(found) - MOST_TOLD
        told = _placed(found[:MOST_TOLD])
        return told if more <= 0 else [*told, f'and {more} more problems']


def is_text(template: Mapping[str, Any]) -> bool:
    """Say whether a template was read from a text, which has lines."""
    return isinstance(template, document.Document) and template.markup is not None


def _placed(problems: Sequence[Problem]) -> list[str]:
    paths: dict[int, tuple[Mapping[str, Any], list[Path]]] = {}
    for one in problems:
        paths.setdefault(id(one.template), (one.template, []))[1].append(one.path)
    # Each template is read once more, however much there is to say of it.
    lines = {key: document.places(*found) for key, found in paths.items()}
    return [
        one.text[: one.at] + lines[id(one.template)][one.path] + one.text[one.at :]
        for one in problems
    ]
