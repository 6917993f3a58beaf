"""Users and groups of this machine, by name or number."""

import grp
import pwd

from watcherlite.plugins.resource_handlers.errors import ResourceFault


def numbers(owner: str) -> tuple[int, int]:
    """Return the numbers of `user` or `user:group`; -1 for a group not given.

    :raises ResourceFault: one of them does not exist on this machine
    """
    user, _, group = owner.partition(':')
    return _user(user), _group(group) if group else -1


def fits(owner: str, user: int, group: int) -> bool:
    """Return whether a user and a group match an owner."""
    wanted_user, wanted_group = numbers(owner)
    return wanted_user == user and wanted_group in (-1, group)


def _user(name: str) -> int:
    try:
        return int(name) if name.isdecimal() else pwd.getpwnam(name).pw_uid
    except KeyError:
        raise ResourceFault(f'There is no user {name} on this machine') from None


def _group(name: str) -> int:
    try:
        return int(name) if name.isdecimal() else grp.getgrnam(name).gr_gid
    except KeyError:
        raise ResourceFault(f'There is no group {name} on this machine') from None
