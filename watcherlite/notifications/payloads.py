"""What all that fills payloads shares.

An event is a small row. What else a payload says is read by a Filler, for a whole
batch at once: there is one for each kind of thing with what belongs to it, in a
module of its own.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from watcherlite.conf import masking
from watcherlite.domain.action_plans import PlanSurroundings
from watcherlite.domain.audits import AuditSurroundings, Strategy
from watcherlite.domain.clusters import Cluster, Node, Profile
from watcherlite.domain.events import StoredEvent
from watcherlite.domain.stacks import StackSurroundings
from watcherlite.notifications import serializer
from watcherlite.notifications.rules import DELETED, Told
from watcherlite.notifications.serializer import Encoded

Noun = TypeVar('Noun', Cluster, Node, Profile)


class Source(Protocol):
    """What fillers read: a part of `db.api.Store`, one method for each of them."""

    def surroundings_of_plans(
        self, plan_ids: Sequence[int]
    ) -> Mapping[int, PlanSurroundings]:
        """Return plans with what they belong to, by id; see `db.api`."""

    def surroundings_of_audits(
        self, audit_ids: Sequence[int]
    ) -> Mapping[int, AuditSurroundings]:
        """Return audits with what they belong to, by id; see `db.auditing`."""

    def surroundings_of_stacks(
        self, stack_ids: Sequence[int]
    ) -> Mapping[int, StackSurroundings]:
        """Return stacks with those around them, by id; see `db.stacking`."""

    def nouns_by_id(self, kind: type[Noun], ids: Sequence[int]) -> Mapping[int, Noun]:
        """Return clusters, nodes or profiles by id; see `db.clustering`."""


class Filler(Protocol):
    """Fills the payloads of some subjects.

    :cvar subjects: of events, keys of `rules.SUBJECTS`
    """

    @property
    def subjects(self) -> Collection[str]:
        """Return whose events it knows."""

    def begin(self, batch: Sequence[StoredEvent]) -> None:
        """Read what the payloads of a batch need, in one statement a kind of row.

        Errors of the source pass through.

        :param batch: events of `subjects` that are told of
        """

    def fields(self, stored: StoredEvent, told: Told) -> dict[str, Any] | None:
        """Return the fields of all payloads of an event of the batch.

        None: what it is about is not there any more.
        """

    def state_update(self, stored: StoredEvent, told: Told) -> dict[str, Any]:
        """Return the fields of the state update of an event of the batch."""


def strategy_fields(strategy: Strategy) -> dict[str, Any]:
    """Return the fields of a StrategyPayload."""
    return {
        'uuid': strategy.uuid,
        'name': strategy.name,
        'display_name': strategy.display_name,
        'parameters_spec': strategy.parameters_spec,
        'created_at': strategy.created_at,
        'updated_at': strategy.updated_at,
        'deleted_at': strategy.deleted_at,
    }


class OfInfraOptim:
    """What the fillers of the infra-optim vocabulary have in common."""

    def state_update(self, stored: StoredEvent, told: Told) -> dict[str, Any]:
        """Return the fields of a state update."""
        return {
            'old_state': told.old_state,
            'state': told.state,
            'status_message': stored.event.message,
        }


def fault(stored: StoredEvent) -> dict[str, Any] | None:
    """Return the fields of an ExceptionPayload, None when the event has no fault."""
    found: Mapping[str, Any] | None = (stored.event.detail or {}).get('fault')
    if not found:
        return None
    return {
        'module_name': found.get('module', ''),
        'function_name': found.get('function', ''),
        'exception': found.get('exception', ''),
        'exception_message': found.get('message', ''),
    }


def of_change(stored: StoredEvent, told: Told) -> dict[str, Any]:
    """Return the fields that the event itself knows, of any subject."""
    event = stored.event
    at = serializer.encoded_time(event.occurred_at)
    return {
        'state': told.state,
        'status_message': event.message,
        'updated_at': None if told.old_state is None else at,
        'deleted_at': at if told.state == DELETED else None,
    }


def without_credentials(text: str | None) -> Encoded | None:
    """Return a JSON document, ready to be put in, with its credentials masked.

    :param text: the document, as it is stored; None: null
    """
    if text is None:
        return None
    # Reading it costs more than all the rest, and few have anything to mask.
    if masking.is_suspicious(text):
        return serializer.encoded_document(masking.mask_data(json.loads(text)))
    return Encoded(text)
