"""Access to files below allowed directories, and their owners.

All access goes through a descriptor of the checked directory: replacing a directory by
a link afterwards has no effect.
"""

import contextlib
import dataclasses
import grp
import hashlib
import os
import pwd
import stat
from collections.abc import Callable, Sequence
from types import TracebackType

from watcherlite.plugins import paths
from watcherlite.plugins.resource_handlers.errors import ResourceFault


def resolve_owner(owner: str) -> tuple[int, int]:
    """Return the numbers of `user` or `user:group`; -1 for an omitted group.

    :raises ResourceFault: one of them does not exist on this machine
    """
    user, _, group = owner.partition(':')
    user_id = _number('user', user, lambda: pwd.getpwnam(user).pw_uid)
    if not group:
        return user_id, -1
    return user_id, _number('group', group, lambda: grp.getgrnam(group).gr_gid)


def has_owner(owner: str, user: int, group: int) -> bool:
    """Return whether a user and a group match an owner."""
    wanted_user, wanted_group = resolve_owner(owner)
    return wanted_user == user and wanted_group in (-1, group)


def _number(noun: str, name: str, find: Callable[[], int]) -> int:
    try:
        return int(name) if name.isdecimal() else find()
    except KeyError:
        raise ResourceFault(f'There is no {noun} {name} on this machine') from None


_CHUNK = 1 << 20
_MARKER, _CLAIM = '.watcherlite', '.claim'
#: Suffixes of the hidden files next to those of resources.
_ENDINGS = (_MARKER, _CLAIM)


@dataclasses.dataclass(frozen=True, slots=True)
class FileAttributes:
    """The attributes of a file."""

    sha256: str
    mode: int
    user: int
    group: int


def reserved_name_problem(path: str) -> str | None:
    """Return the problem of a path whose name is reserved, or None.

    The hidden files record the owners of files; resources must not write them.
    """
    name = os.path.basename(path)
    if name.startswith('.') and name.endswith(_ENDINGS):
        return f'{path} has a name that is reserved for records of ownership'
    return None


def outside_problem(path: str, allowed: Sequence[str]) -> str | None:
    """Return the problem of a path below none of the directories, or None."""
    problem = not_within(os.path.dirname(path), allowed)
    return problem and f'{path} is not below {_join(allowed)}'


def not_within(directory: str, allowed: Sequence[str]) -> str | None:
    """Return the problem of a directory that is not within these, or None."""
    if any(paths.is_below(directory, root) for root in allowed):
        return None
    return f'{directory} is not within {_join(allowed)}'


def _join(allowed: Sequence[str]) -> str:
    return ' or '.join(allowed) or 'any directory: an operator may allow one'


class ManagedPath:
    """A path, used as a context manager.

    :raises ResourceFault: it is not allowed, or its directory is not accessible
    """

    def __init__(self, path: str, allowed: Sequence[str]) -> None:
        self._path = path
        self._allowed = allowed
        self._name = os.path.basename(path)
        self._marker = f'.{self._name}{_MARKER}'
        self._directory = -1

    def __enter__(self) -> 'ManagedPath':
        wrong = reserved_name_problem(self._path) or outside_problem(
            self._path, self._allowed
        )
        if wrong:
            raise ResourceFault(wrong)
        parent = os.path.dirname(self._path)
        try:
            self._directory = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise self._fault('its directory', error) from None
        try:
            # The real path of the descriptor: links are resolved by now.
            real = os.readlink(f'/proc/self/fd/{self._directory}')
        except OSError:
            real = os.path.realpath(parent)
        roots = map(os.path.realpath, self._allowed)
        if not any(paths.is_below(real, root) for root in roots):
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
        """Return the resource that owns the file, or None."""
        try:
            with open(self._marker, encoding='utf-8', opener=self._open) as marker:
                return marker.read().strip()
        except FileNotFoundError:
            return None

    def claim(self, resource: str) -> bool:
        """Record a resource as the owner; return False if it already is.

        :raises ResourceFault: the file exists and has another owner, or none
        """
        owner = self.owner()
        if owner == resource:
            return False
        if owner is not None:
            raise ResourceFault(f'{self._path} belongs to another resource')
        if self._exists():
            raise ResourceFault(
                f'{self._path} exists and was not created by a resource; remove it, '
                'or choose another path'
            )
        claim = self._write_claim(resource)
        try:
            # Atomic, and only one of two concurrent claims succeeds.
            os.link(
                claim,
                self._marker,
                src_dir_fd=self._directory,
                dst_dir_fd=self._directory,
            )
        except FileExistsError:
            raise ResourceFault(
                f'{self._path} is being created by another resource'
            ) from None
        finally:
            os.unlink(claim, dir_fd=self._directory)
        return True

    def take_over(self, resource: str, before: str | None) -> None:
        """Change the owner from one resource, or none, to another.

        :param before: the previous owner according to the caller; None: it had none
        :raises ResourceFault: it has another owner, or no longer any
        """
        owner = self.owner()
        if owner != resource and owner != before:
            why = 'another resource' if owner is not None else 'no resource any more'
            raise ResourceFault(f'{self._path} belongs to {why}')
        self._rename(self._write_claim(resource), self._marker)

    def read_attributes(self) -> FileAttributes | None:
        """Return the attributes of the file; None: it does not exist."""
        try:
            file = self._open(self._name, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        with open(file, 'rb') as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ResourceFault(f'{self._path} is not a regular file')
            digest = hashlib.sha256()
            while data := opened.read(_CHUNK):
                digest.update(data)
        return FileAttributes(
            digest.hexdigest(),
            stat.S_IMODE(status.st_mode),
            status.st_uid,
            status.st_gid,
        )

    def write(
        self, content: bytes, mode: int, owner: tuple[int, int] | None, resource: str
    ) -> None:
        """Write the file atomically."""
        temporary = f'.{self._name}.{resource}{_MARKER}'
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        # A temporary file of a lost worker; no other process can have it open.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=self._directory)
        try:
            with open(self._open(temporary, flags, 0o600), 'wb') as file:
                file.write(content)
                if owner is not None:
                    os.fchown(file.fileno(), *owner)
                # After the owner: changing the owner clears bits of the mode.
                os.fchmod(file.fileno(), mode)
                file.flush()
                os.fsync(file.fileno())
            self._rename(temporary, self._name)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=self._directory)
            raise

    def set_mode(self, mode: int) -> None:
        """Change the permissions."""
        if not self._exists():
            raise ResourceFault(f'{self._path} does not exist')
        file = self._open(self._name, os.O_RDONLY | os.O_NONBLOCK)
        with open(file, 'rb') as opened:
            os.fchmod(opened.fileno(), mode)

    def remove(self, resource: str) -> None:
        """Delete the file of a resource, and then the record of its owner."""
        left = [f'.{self._name}.{resource}{ending}' for ending in _ENDINGS]
        for name in (self._name, *left, self._marker):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self._directory)

    def _write_claim(self, resource: str) -> str:
        """Write the record of an owner to be; return its name."""
        claim = f'.{self._name}.{resource}{_CLAIM}'
        with open(self._open(claim, os.O_WRONLY | os.O_CREAT), 'w') as file:
            file.write(resource)
        return claim

    def _rename(self, name: str, to: str) -> None:
        os.replace(name, to, src_dir_fd=self._directory, dst_dir_fd=self._directory)

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
