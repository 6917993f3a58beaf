"""The interface of locks on targets."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from watcherlite.domain.actions import Action


class LockTransaction(Protocol):
    """The methods of `db.api.Transaction` for locks on targets.

    A target is any name. One action holds its lock exclusively, or any number share it.
    """

    def acquire_locks(self, targets: Mapping[str, int]) -> set[str]:
        """Take exclusive locks, target -> action id; return the locked targets.

        A lock that the same action already holds counts as taken. No further action can
        share a lock that an action waits for, so that shared locks do not starve it.
        """

    def share_locks(self, targets: Mapping[str, Collection[int]]) -> set[int]:
        """Take shared locks, target -> action ids; return the actions that have one.

        An action that already shares a lock keeps it. An action shares at most one
        lock.
        """

    def release_locks(
        self,
        action_ids: Sequence[int],
        targets: Iterable[str] = (),
        shared: Iterable[str] = (),
    ) -> list[Action]:
        """Release the locks of actions; unblock the first waiter of each.

        The first waiter is the unfinished action with the lowest id. If it is to share
        the lock (the target is its `within`), all waiters before the first exclusive
        one are unblocked. Return the unblocked actions, by id; WAITING ones have become
        READY.

        :param targets: targets that these actions no longer wait for: the first waiter
            of each free one is unblocked, too
        :param shared: targets that they share, or no longer wait to share
        """
