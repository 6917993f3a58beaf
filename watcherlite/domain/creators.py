"""Creators of audits and plans, and the projects that they may act on."""

import dataclasses
from collections.abc import Mapping
from typing import Any

#: The key of the creator in the context of the actions of a plan.
CREATOR = 'creator'


@dataclasses.dataclass(frozen=True, slots=True)
class Creator:
    """The creator of an audit or a plan, whose authority its actions have.

    Without a project, and without authority everywhere, they may act on no stack,
    cluster or node: this applies to rows stored before creators were recorded.

    :param everywhere: may act on the stacks, clusters and nodes of every project
    """

    user_id: str | None = None
    project_id: str | None = None
    everywhere: bool = False

    @property
    def tenant(self) -> str | None:
        """Return the project to look up objects in; None: all, '': none."""
        return None if self.everywhere else self.project_id or ''

    def lookup_project(self, project: str | None) -> str | None:
        """Return the project to look up objects in for a requested project.

        :param project: None: not restricted
        """
        if self.everywhere:
            return project
        return self.tenant if project in (None, self.tenant) else ''

    def may_act_on(self, project: str) -> bool:
        """Return whether the objects of a project may be acted on."""
        return self.everywhere or (bool(project) and self.project_id == project)

    def limited_to(self, other: 'Creator') -> 'Creator':
        """Return this creator with the authority that both have."""
        if other.everywhere:
            return self
        if self.everywhere or self.project_id == other.project_id:
            return dataclasses.replace(
                self, project_id=other.project_id, everywhere=False
            )
        return dataclasses.replace(self, project_id=None)

    def as_mapping(self) -> dict[str, Any]:
        """Return the creator as JSON, without what is empty."""
        values = dataclasses.asdict(self)
        return {name: value for name, value in values.items() if value}


#: Without any authority.
NO_AUTHORITY = Creator()
#: The creator of plans run on the machine of the database and the worker.
LOCAL = Creator(everywhere=True)


def from_mapping(values: Mapping[str, Any] | None) -> Creator:
    """Return the stored creator; None: one without any authority."""
    values = values or {}
    return Creator(
        values.get('user_id'),
        values.get('project_id'),
        values.get('everywhere') is True,
    )


def of_context(context: Mapping[str, Any]) -> Creator:
    """Return the creator of the plan of an action with this context."""
    return from_mapping(context.get(CREATOR))
