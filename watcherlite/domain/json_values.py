"""JSON values that every database, broker and client can represent."""

import math
from collections.abc import Iterator
from typing import Any

#: Deeper than anybody writes, and far from where libraries give up.
MAX_DEPTH = 100
#: Of whole numbers: what every JSON library reads, and a floating-point number holds.
MAX_BITS = 1023


def kind(value: object) -> str:
    """Return what a value is, in words for users."""
    if value is None:
        return 'nothing'
    if isinstance(value, bool):
        return 'true or false'
    if isinstance(value, (int, float)):
        return 'a number'
    if isinstance(value, str):
        return 'text'
    if isinstance(value, (list, tuple)):
        return 'a list'
    if isinstance(value, dict):
        return 'a mapping'
    return f'a {type(value).__name__}'


def problems(value: object) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Find what of a value is not JSON: (path within it, what is wrong).

    No value is repeated in what is said about it: inputs may hold secrets.
    """
    todo: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while todo:
        path, here = todo.pop()
        if here is None or isinstance(here, (bool, int)):
            if here is not None and here.bit_length() > MAX_BITS:
                yield path, 'this number has too many digits; put it in quotes'
        elif isinstance(here, str):
            problem = text_problem(here)
            if problem:
                yield path, problem
        elif isinstance(here, float):
            if not math.isfinite(here):
                yield path, f'{here} is not a number in JSON'
        elif not isinstance(here, (dict, list, tuple)):
            yield path, f'this is {kind(here)}, which JSON does not have'
        elif len(path) >= MAX_DEPTH:
            yield path, f'this is nested deeper than {MAX_DEPTH} levels'
        elif isinstance(here, dict):
            for key, inner in reversed(here.items()):
                if not isinstance(key, str):
                    what = f'a key must be text and this is {kind(key)}'
                    yield (*path, str(key)), f'{what}; put it in quotes'
                elif text_problem(key):
                    yield (*path, key), f'as a key, {text_problem(key)}'
                else:
                    todo.append(((*path, key), inner))
        else:
            todo.extend(((*path, i), here[i]) for i in range(len(here) - 1, -1, -1))


def text_problem(text: str) -> str | None:
    """Return why a text cannot be stored, or None."""
    if '\0' in text:
        return 'this text has a NUL character, which databases cannot store'
    if not text.isascii() and any('\ud800' <= c <= '\udfff' for c in text):
        return 'this text has half of a surrogate pair, which is not a character'
    return None
