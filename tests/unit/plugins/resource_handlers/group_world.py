"""A simulated stack of a group, for tests of its handler."""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.domain.resource_results import Batch, Expansion, Member
from watcherlite.plugins import properties
from watcherlite.plugins.base import NestedHandler

BEGIN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


@dataclasses.dataclass
class Context:
    """Implements `plugins.base.NestedContext`."""

    properties: Mapping[str, Any]
    update_policy: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    data: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    uuid: str = 'action-1'
    time: datetime.datetime = BEGIN
    left: float | None = None
    tenant: str = 'a project'
    stack_name: str = 'around'
    stack_uuid: str = 'stack-uuid'
    resource_name: str = 'group'
    resource_uuid: str = 'resource-uuid'
    physical_name: str = 'around-group-1'
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    credential: str | None = 'ann'
    cloud_secret: str | None = None

    def now(self) -> datetime.datetime:
        return self.time

    def remaining(self) -> float | None:
        return self.left


class Group:
    """A group whose members follow each expansion immediately.

    :ivar steps: of the last operation: each is {name of a member: its definition}
    """

    def __init__(
        self, handler: type[NestedHandler], policy: Mapping[str, Any] | None = None
    ) -> None:
        self.handler = handler
        self.policy = policy or {}
        self.members: list[Member] = []
        self.data: Mapping[str, Any] = {}
        self.properties: Mapping[str, Any] = {}
        self.time = BEGIN
        self.left: float | None = None
        self.files: Mapping[str, str] = {}
        self.actions = 0
        self.batches: Sequence[Batch] = ()

    @property
    def steps(self) -> list[dict[str, Any]]:
        return [dict(batch.template['resources']) for batch in self.batches]

    @property
    def names(self) -> list[str]:
        return [member.name for member in self.members]

    def context(self) -> Context:
        return Context(
            self.properties,
            self.policy,
            self.data,
            uuid=f'action-{self.actions}',
            time=self.time,
            left=self.left,
            files=self.files,
        )

    def update(self, **desired: Any) -> list[dict[str, Any]]:
        """Update the properties of the group; return the batches."""
        handler = self.handler()
        self.properties = properties.fit(handler, desired)
        handler.validate(self.properties)
        self.actions += 1
        expansion = handler.expand(self.context(), self.members)
        self.follow(expansion)
        return self.steps

    def signal(self, **details: Any) -> str:
        """Signal the group; return the reason if it did nothing."""
        self.actions += 1
        expansion = Expansion.of(
            self.handler().adjust(self.context(), self.members, details)
        )
        self.follow(expansion)
        return expansion.reason

    def follow(self, expansion: Expansion | Sequence[Batch]) -> None:
        """Apply the batches to the members."""
        expansion = Expansion.of(expansion)
        self.batches = expansion.batches
        if expansion.data is not None:
            self.data = expansion.data
        for batch in expansion.batches:
            self._step(batch)
        if expansion.batches:
            remembered = self.handler().remember(self.context())
            self.data = self.data if remembered is None else remembered

    def _step(self, batch: Batch) -> None:
        self.time += datetime.timedelta(seconds=1)
        before = {member.name: member for member in self.members}
        self.members = [
            self._create(name, definition)
            if name not in before or not before[name].serving
            else dataclasses.replace(before[name], definition=definition)
            for name, definition in batch.template['resources'].items()
        ]

    def _create(self, name: str, definition: Mapping[str, Any]) -> Member:
        return Member(
            name,
            definition['type'],
            'COMPLETE',
            f'id-{name}-{self.time.second}',
            f'ref-{name}',
            {'value': f'value of {name}', 'more': [name]},
            self.time,
            definition,
        )

    def mark(self, name: str) -> None:
        """Mark a member as unhealthy."""
        self.members = [
            dataclasses.replace(member, status='FAILED')
            if member.name == name
            else member
            for member in self.members
        ]

    def attributes(self) -> Mapping[str, Any]:
        return self.handler().gather(self.context(), self.members, {})
