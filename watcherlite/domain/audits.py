"""How a plan came to be proposed: goal, strategy, audit."""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

ONESHOT = 'ONESHOT'


@dataclasses.dataclass(frozen=True, slots=True)
class Goal:
    """What an audit is to reach."""

    uuid: str
    name: str
    display_name: str
    efficacy_specification: Sequence[Any] = ()
    id: int | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Strategy:
    """How it is to be reached; `parameters_spec` is a JSON schema."""

    uuid: str
    name: str
    display_name: str
    goal_id: int | None = None
    parameters_spec: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    id: int | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Audit:
    """One request to propose plans."""

    uuid: str
    name: str
    audit_type: str
    state: str
    goal_id: int
    strategy_id: int | None = None
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    scope: Sequence[Any] = ()
    interval: str | None = None
    auto_trigger: bool = False
    status_message: str | None = None
    next_run_time: datetime.datetime | None = None
    id: int | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None
