"""Input files of commands: plans and other documents."""

import contextlib
import difflib
import sys
from collections.abc import Callable, Iterable
from typing import Any

from watcherlite import exceptions
from watcherlite.cmd import exits
from watcherlite.domain.documents import markup, plan_document

#: More than the maximum number of bytes of a document.
LIMIT = markup.MAX_BYTES + 1


def read(
    path: str, validator: Callable[[], plan_document.Validate] | None = None
) -> plan_document.PlanDocument:
    """Return the plan in a file, or in standard input for `-`.

    :param validator: returns the validation of inputs; called only for an invalid plan,
        to report the problems of its inputs as well
    :raises Invalid: it cannot be read
    :raises InvalidDocument: with all problems of the document
    """
    draft = plan_document.draft(*_text(path, 'plan file'))
    try:
        return draft.finished()
    except exceptions.InvalidDocument:
        # Only the document is validated here, not the configuration.
        with contextlib.suppress(exceptions.WatcherliteError):
            if draft.document is not None and validator is not None:
                draft.check_inputs(validator())
    return draft.finished()


def value(path: str) -> Any:
    """Return the YAML or JSON value in a file, or in standard input for `-`.

    :raises Invalid: it cannot be read
    :raises InvalidDocument: with all problems of the document
    """
    found = markup.Markup(*_text(path, 'file'))
    if found.problems:
        raise exceptions.InvalidDocument(
            [
                ': '.join(
                    part
                    for part in (
                        found.source if line is None else f'{found.source}:{line}',
                        markup.path_text(place),
                        text,
                    )
                    if part
                )
                for line, place, text in found.problems
            ]
        )
    return found.value


def _text(path: str, what: str) -> tuple[bytes, str]:
    """Return the content of a file, and its name for messages."""
    if path == '-':
        return sys.stdin.buffer.read(LIMIT), 'standard input'
    return content(path, what), path


def content(path: str, what: str, before: str = '') -> bytes:
    """Return the first LIMIT bytes of a file.

    :param what: the noun for the file in messages
    :param before: the start of messages
    :raises Invalid: it cannot be read
    """
    try:
        with open(path, 'rb') as file:
            return file.read(LIMIT)
    except FileNotFoundError:
        raise exceptions.Invalid(f'{before}the {what} {path} does not exist') from None
    except OSError as error:
        raise exceptions.Invalid(
            f'{before}the {what} {path} cannot be read: {error.strerror}'
        ) from None


def skips(options: Iterable[str], names: Iterable[str]) -> dict[str, str | None]:
    """Return the actions to skip: name -> reason or None.

    :param options: NAME or NAME=REASON; a name may contain =
    :param names: of the actions of the plan
    :raises UsageError: an action does not exist or is named twice
    """
    known = set(names)
    found: dict[str, str | None] = {}
    for option in options:
        name, reason = _split(option, known)
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), n=1)
            hint = f'; did you mean {near[0]}?' if near else ''
            raise exits.UsageError(f'--skip: the plan has no action {name!r}{hint}')
        if name in found:
            raise exits.UsageError(f'--skip: {name} is specified twice')
        found[name] = reason or None
    return found


def _split(option: str, known: set[str]) -> tuple[str, str]:
    """Split at the = after the longest known name."""
    if option in known:
        return option, ''
    end = len(option)
    while (end := option.rfind('=', 0, end)) != -1:
        if option[:end] in known:
            return option[:end], option[end + 1 :]
    name, _, reason = option.partition('=')
    return name, reason
