"""The base case of the policies."""

import datetime
from collections.abc import Mapping
from typing import Any

from tests import base
from watcherlite.domain.clusters import Node, Owner, Profile
from watcherlite.plugins.base import Policy
from watcherlite.testing import policies
from watcherlite.testing.clock import ManualClock

START = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)


def at(seconds: float) -> datetime.datetime:
    """Return the time this number of seconds after START."""
    return START + datetime.timedelta(seconds=seconds)


def nodes(count: int, **values: Any) -> list[Node]:
    """Return nodes 1, 2, ..., each created after the previous one."""
    return [policies.make_node(n, at(n), **values) for n in range(1, count + 1)]


def uuids(*indexes: int) -> list[str]:
    """Return the uuids of nodes."""
    return [policies.make_node(index, None).uuid for index in indexes]


def placed(index: int, **placement: str) -> Node:
    """Return a node with a placement."""
    return policies.make_node(index, at(index), data={'placement': placement})


def profile(key: int, **properties: Any) -> Profile:
    """Return a profile that was created before those with higher ids."""
    spec = {'type': 'sample', 'version': '1.0', 'properties': properties}
    return Profile(
        *(policies.make_node(key, None).uuid, f'p{key}', 'sample-1.0', 'Sample', spec),
        Owner(policies.TENANT),
        id=key,
        created_at=at(key),
    )


class PolicyCase(base.TestCase):
    """The base case of the tests of policies."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock(START)

    def context(
        self,
        policy: Policy,
        action_type: str,
        properties: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> policies.FakePolicyContext:
        """Return the context of a policy with these properties."""
        fitted = policies.fitted(policy, **(properties or {}))
        given = {'clock': self.clock, 'profiles': [profile(1)], **values}
        return policies.FakePolicyContext(action_type, fitted, **given)
