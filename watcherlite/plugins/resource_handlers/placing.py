"""Files below directories that are allowed, and below nothing else.

All that is done goes through a descriptor of the directory, which was checked once:
whoever exchanges a directory for a link afterwards does not lead anybody elsewhere.
"""

import contextlib
import dataclasses
import hashlib
import os
import stat
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from oslo_config import types

from watcherlite.plugins.resource_handlers.faults import ResourceFault

_CHUNK = 1 << 20
_MARKER, _CLAIM = '.watcherlite', '.claim'
#: How the hidden files end that stand next to those of resources.
_ENDINGS = (_MARKER, _CLAIM)


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """A file as it is."""

    sha256: str
    mode: int
    user: int
    group: int


def wrong_path(path: str) -> str | None:
    """Say what is wrong with a path, or None."""
    if not path.startswith('/'):
        return f'{path!r} is not an absolute path'
    if os.path.normpath(path) != path:
        return f'{path!r} is not in its shortest form, {os.path.normpath(path)!r}'
    return None


def taken_name(path: str) -> str | None:
    """Say that a name is one of those that say whose a file is, or None.

    Whoever could write these could make any file theirs.
    """
    name = os.path.basename(path)
    if name.startswith('.') and name.endswith(_ENDINGS):
        return f'{path} is a name that is kept for what says whose a file is'
    return None


def outside(path: str, allowed: Sequence[str]) -> str | None:
    """Say that a path is below none of the directories, or None."""
    told = not_within(os.path.dirname(path), allowed)
    return told and f'{path} is not below {_named(allowed)}'


def not_within(directory: str, allowed: Sequence[str]) -> str | None:
    """Say that a directory is none of these, nor below one; None: it is."""
    if any(_is_below(directory, root) for root in allowed):
        return None
    return f'{directory} is not within {_named(allowed)}'


def _named(allowed: Sequence[str]) -> str:
    return ' or '.join(allowed) or 'any directory: an operator may allow one'


def _is_below(directory: str, root: str) -> bool:
    return directory == root or directory.startswith(root.rstrip('/') + '/')


class Directory(types.String):
    """The type of an option's value that is a directory."""

    def __call__(self, value: Any) -> str:
        path = str(super().__call__(value))
        wrong = wrong_path(path)
        if wrong:
            raise ValueError(wrong)
        return path

    def __repr__(self) -> str:
        return 'Directory'


class Place:
    """One path; used with `with`.

    :raises ResourceFault: it is not where files may be, or its directory is not
        there or cannot be looked at
    """

    def __init__(self, path: str, allowed: Sequence[str]) -> None:
        self._path = path
        self._allowed = allowed
        self._name = os.path.basename(path)
        self._marker = f'.{self._name}{_MARKER}'
        self._directory = -1

    def __enter__(self) -> 'Place':
        wrong = taken_name(self._path) or outside(self._path, self._allowed)
        if wrong:
            raise ResourceFault(wrong)
        parent = os.path.dirname(self._path)
        try:
            self._directory = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise self._fault('its directory', error) from None
        try:
            # Where the descriptor really leads: links are resolved by now.
            real = os.readlink(f'/proc/self/fd/{self._directory}')
        except OSError:
            real = os.path.realpath(parent)
        if not any(_is_below(real, os.path.realpath(root)) for root in self._allowed):
            self.__exit__(None, None, None)
            raise ResourceFault(
                f'{self._path} leads out of {" or ".join(self._allowed)} by a link'
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._directory)
        if isinstance(error, OSError):
            raise self._fault('it', error) from None

    def owner(self) -> str | None:
        """Return the resource that the file belongs to; None: to none."""
        try:
            with open(self._marker, encoding='utf-8', opener=self._open) as marker:
                return marker.read().strip()
        except FileNotFoundError:
            return None

    def claim(self, resource: str) -> None:
        """Say that what is here belongs to a resource.

        :raises ResourceFault: there is something that does not
        """
        owner = self.owner()
        if owner == resource:
            return
        if owner is not None:
            raise ResourceFault(f'{self._path} belongs to another resource, {owner}')
        if self._exists():
            raise ResourceFault(
                f'{self._path} is there already, and no resource made it; remove it, '
                'or choose another path'
            )
        claim = f'.{self._name}.{resource}{_CLAIM}'
        with open(self._open(claim, os.O_WRONLY | os.O_CREAT), 'w') as file:
            file.write(resource)
        try:
            # Whole or not at all, and only for one of two that come together.
            os.link(
                *(claim, self._marker),
                src_dir_fd=self._directory,
                dst_dir_fd=self._directory,
            )
        except FileExistsError:
            raise ResourceFault(
                f'{self._path} is just being made by another resource'
            ) from None
        finally:
            os.unlink(claim, dir_fd=self._directory)

    def take_over(self, resource: str, before: str | None) -> None:
        """Say that what belonged to one resource, or to none, belongs to another.

        :param before: the one that it belonged to, as who hands it over knows
        :raises ResourceFault: it belongs to yet another one
        """
        owner = self.owner()
        if owner is not None and owner not in (before, resource):
            raise ResourceFault(f'{self._path} belongs to another resource, {owner}')
        claim = f'.{self._name}.{resource}{_CLAIM}'
        with open(self._open(claim, os.O_WRONLY | os.O_CREAT), 'w') as file:
            file.write(resource)
        os.replace(
            *(claim, self._marker),
            src_dir_fd=self._directory,
            dst_dir_fd=self._directory,
        )

    def look(self) -> Found | None:
        """Return what is there; None: nothing."""
        try:
            file = self._open(self._name, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        with open(file, 'rb') as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ResourceFault(f'{self._path} is not a file')
            digest = hashlib.sha256()
            while data := opened.read(_CHUNK):
                digest.update(data)
        return Found(
            digest.hexdigest(),
            stat.S_IMODE(status.st_mode),
            status.st_uid,
            status.st_gid,
        )

    def write(
        self, content: bytes, mode: int, owner: tuple[int, int] | None, resource: str
    ) -> None:
        """Have a file with this content there, whole or not at all."""
        temporary = f'.{self._name}.{resource}{_MARKER}'
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        # What a worker left that was lost; nobody else may have it open.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=self._directory)
        try:
            with open(self._open(temporary, flags, 0o600), 'wb') as file:
                file.write(content)
                if owner is not None:
                    os.fchown(file.fileno(), *owner)
                # After the owner: to give a file away takes bits of its mode.
                os.fchmod(file.fileno(), mode)
                file.flush()
                os.fsync(file.fileno())
            os.replace(
                *(temporary, self._name),
                src_dir_fd=self._directory,
                dst_dir_fd=self._directory,
            )
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=self._directory)
            raise

    def set_mode(self, mode: int) -> None:
        """Change who may read and write."""
        if not self._exists():
            raise ResourceFault(f'{self._path} is not there')
        file = self._open(self._name, os.O_RDONLY | os.O_NONBLOCK)
        with open(file, 'rb') as opened:
            os.fchmod(opened.fileno(), mode)

    def remove(self) -> None:
        """Delete the file, and then what says whose it is."""
        for name in (self._name, self._marker):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self._directory)

    def _exists(self) -> bool:
        try:
            os.lstat(self._name, dir_fd=self._directory)
        except FileNotFoundError:
            return False
        return True

    def _open(self, name: str, flags: int, mode: int = 0o600) -> int:
        return os.open(
            name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=self._directory
        )

    def _fault(self, what: str, error: OSError) -> ResourceFault:
        why = error.strerror or type(error).__name__
        return ResourceFault(f'{self._path}: {what} cannot be used: {why}')
