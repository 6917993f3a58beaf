"""Paths in options and in the requests of users."""

import os
from typing import Any

from oslo_config import types


def problem(path: str) -> str | None:
    """Return the problem of a path, or None."""
    if not path.startswith('/'):
        return f'{path!r} is not an absolute path'
    if os.path.normpath(path) != path:
        return f'{path!r} is not in its shortest form, {os.path.normpath(path)!r}'
    return None


def is_below(path: str, directory: str) -> bool:
    """Return whether a path is a directory, or below it."""
    return path == directory or path.startswith(f'{directory.rstrip("/")}/')


class Directory(types.String):
    """The type of an option's value that is a directory."""

    def __call__(self, value: Any) -> str:
        path = str(super().__call__(value))
        wrong = problem(path)
        if wrong:
            raise ValueError(wrong)
        return path

    def __repr__(self) -> str:
        return 'Directory'
