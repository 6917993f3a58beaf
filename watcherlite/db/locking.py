"""The part of a transaction that locks targets."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from watcherlite.domain.actions import Action


class LockTransaction(Protocol):
    """The part of `db.api.Transaction` that is about locks on targets.

    A target is any name. Its lock is held by one action, or shared by any number.
    """

    def take_locks(self, targets: Mapping[str, int]) -> set[str]:
        """Take locks, target -> action id; return the targets that were free.

        A lock that the same action already holds counts as free. One that others
        share can be shared by no more of them from now on, so that who waits for
        it has it one day.
        """

    def share_locks(self, targets: Mapping[str, Collection[int]]) -> set[int]:
        """Share locks, target -> action ids; return the actions that share it now.

        A lock has one holder, or any number who share it. Who shares it already
        goes on sharing it. An action shares one lock at most.
        """

    def release_locks(
        self,
        action_ids: Sequence[int],
        targets: Iterable[str] = (),
        shared: Iterable[str] = (),
    ) -> list[Action]:
        """Drop the locks of these actions; unblock the first waiter of each.

        First is the one with the lowest id that has not ended; if that is to share
        the lock (it is `within` it), all who are to share it as well and come before
        the first that is not. Returned, by id: the actions whose `blocked_on` was
        cleared; WAITING ones are READY now.

        :param targets: that these actions no longer want: the first waiter of each
            that nobody has locked is unblocked as well
        :param shared: likewise those that they share, or wanted to
        """
