"""How events are shown: what happened to a plan and its actions, in order."""

import json
from typing import Any

from watcherlite.api.infra_optim.representations import common
from watcherlite.conf import masking
from watcherlite.domain import events
from watcherlite.domain.events import StoredEvent
from watcherlite.states import action as states

#: Known to the core only: what it means is in the states already.
_INNER = frozenset({'started'})


def represent(stored: StoredEvent) -> dict[str, Any]:
    """Return an event; the states are those of its subject, before and after.

    An action that was suspended is ONGOING before and after; `suspended` tells.
    """
    event = stored.event
    old, new = _states(event)
    detail = {
        name: value
        for name, value in (event.detail or {}).items()
        if name not in _INNER
    }
    return {
        'sequence': stored.sequence,
        'uuid': event.uuid,
        'occurred_at': common.time(event.occurred_at),
        'subject': event.subject,
        'kind': event.kind,
        'action_uuid': stored.action_uuid,
        'action_name': stored.action_name,
        'action_type': stored.action_type,
        'old_state': old,
        'new_state': new,
        'suspended': event.new_status == states.SUSPENDED,
        'message': event.message,
        'detail': masking.mask_data(detail) or None,
    }


def chunk(stored: StoredEvent) -> bytes:
    """Return an event as a stream of server-sent events has it."""
    data = json.dumps(represent(stored), ensure_ascii=False)
    return f'id: {stored.sequence}\ndata: {data}\n\n'.encode()


def _states(event: events.Event) -> tuple[str | None, str | None]:
    if event.subject != events.ACTION:
        return event.old_status, event.new_status
    started = bool((event.detail or {}).get('started'))
    return _word(event.old_status, started), _word(event.new_status, started)


def _word(status: str | None, started: bool) -> str | None:
    return None if status is None else states.infra_optim_state(status, started)
