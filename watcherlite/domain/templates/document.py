"""Documents: parsed templates and environments, with line numbers."""

from collections.abc import Iterable
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.documents import bounded_list, json_values
from watcherlite.domain.documents.bounded_list import BoundedList
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.markup import Markup, problem_line
from watcherlite.domain.documents.yaml_values import Path

#: The default maximum size of a template, in bytes.
MAX_BYTES = 524288


class Document(dict[str, Any]):
    """A mapping parsed from a text, with its line numbers.

    :ivar markup: the parsed text; None: not parsed from a text
    """

    markup: Markup | None = None


def parse(text: str, name: str = 'template', limit: int = MAX_BYTES) -> dict[str, Any]:
    """Return the mapping in a YAML or JSON text; dates stay text.

    :param name: of its file, for messages
    :param limit: the maximum size of the text with its aliases expanded, in bytes
    :raises TemplateInvalid: with all problems, each `NAME:LINE: path: text`
    """
    if not isinstance(text, str):
        raise exceptions.TemplateInvalid(f'{name}: this is {kind(text)}, not text')
    size = len(text) if len(text) > limit else len(text.encode(errors='replace'))
    if size > limit:
        raise exceptions.TemplateInvalid(
            f'{name}: Template size ({size} bytes) exceeds maximum allowed size '
            f'({limit} bytes).'
        )
    try:
        markup = Markup(text, name, noun='template')
    except exceptions.InvalidDocument as error:
        raise exceptions.TemplateInvalid(error.problems) from None
    if not isinstance(markup.value, dict):
        raise exceptions.TemplateInvalid(
            f'{name}: this is {kind(markup.value)}; it must be a mapping, like '
            '{heat_template_version: 2021-04-16, resources: {}}'
        )
    document = Document(markup.value)
    document.markup = markup
    if _is_larger(document, limit):
        raise exceptions.TemplateInvalid(
            f'{name}: with its aliases written out this is larger than {limit} bytes; '
            'repeat less'
        )
    found: BoundedList[tuple[Path, str]] = BoundedList()
    for problem in json_values.problems(markup.value):
        found.append(problem)
    if found or markup.problems:
        raise exceptions.TemplateInvalid(located_lines(document, found))
    return document


def located_lines(document: object, problems: Iterable[tuple[Path, str]]) -> list[str]:
    """Return the problems of a document as lines, in the order of the document.

    Problems of a parsed text have the prefix `NAME:LINE: `.
    """
    dropped = problems.dropped if isinstance(problems, BoundedList) else 0
    markup = document.markup if isinstance(document, Document) else None
    if markup is None:
        lines = [problem_line('', path, text) for path, text in problems]
    else:
        dropped += markup.problems.dropped
        found = markup.located_lines((path, path, text) for path, text in problems)
        lines = list(dict.fromkeys(found))
    return bounded_list.truncate_lines(lines, dropped)


def locations(document: object, paths: Iterable[Path]) -> dict[Path, str]:
    """Return the prefix for the problems at each path: `NAME:LINE: `.

    The prefix is empty if the document was not parsed from a text.
    """
    markup = document.markup if isinstance(document, Document) else None
    if markup is None:
        return dict.fromkeys(paths, '')
    return {path: f'{place}: ' for path, (_, place) in markup.locations(paths).items()}


def _is_larger(value: object, limit: int) -> bool:
    """Return whether the size of a value exceeds a limit.

    Aliases allow a short text whose JSON exceeds any memory.
    """
    left = limit
    todo = [value]
    while todo:
        here = todo.pop()
        left -= 1
        if isinstance(here, str):
            left -= len(here)
        elif isinstance(here, dict):
            left -= sum(len(key) for key in here if isinstance(key, str))
            todo.extend(here.values())
        elif isinstance(here, list):
            todo.extend(here)
        if left < 0 or len(todo) > limit:
            return True
    return False
