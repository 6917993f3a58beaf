"""The notifications of one action, built at minimal cost.

The ceiling publishes the same documents as the daemon, of the same length. Their text
is that of the notifications of one `nop`; for each action only the ids and the times
are replaced.
"""

import datetime
import json
import uuid
from collections.abc import Callable, Sequence

from watcherlite.domain import audits, events
from watcherlite.domain.action_plans import ActionPlan, PlanRelations
from watcherlite.notifications.messages import MessageBuilder
from watcherlite.notifications.settings import NotificationSettings
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

#: Ways to build a document: dictionaries serialised twice, the second time into the
#: envelope, or a prepared template that is already escaped.
DICTIONARIES = 'dictionaries'
TEMPLATE = 'template'

#: (routing key, body)
Message = tuple[str, bytes]
#: uuids of actions -> the messages of one change of each
Make = Callable[[Sequence[str]], list[Message]]

_INPUTS = '{"message":"bench"}'
_THEN = datetime.datetime(2001, 2, 3, 4, 5, 6, 789012, tzinfo=datetime.UTC)
_CREATED = datetime.datetime(2001, 1, 1, tzinfo=datetime.UTC)


def started(kind: str) -> Make:
    """Return the builder of the messages of actions that became RUNNING."""
    return _maker(kind, states.READY, states.RUNNING)


def ended(kind: str) -> Make:
    """Return the builder of the messages of actions that SUCCEEDED."""
    return _maker(kind, states.RUNNING, states.SUCCEEDED)


def _maker(kind: str, old: str, new: str) -> Make:
    makers = {DICTIONARIES: _from_dictionaries, TEMPLATE: _from_template}
    stored = _stored(old, new)
    builder = MessageBuilder(NotificationSettings(host='bench'), _FakeSource())
    batch = builder.build([stored])
    return makers[kind](stored, batch.messages)


def _from_template(stored: events.StoredEvent, samples: list[Message]) -> Make:
    texts = [
        (key, _with_gaps(stored, index, body.decode()))
        for index, (key, body) in enumerate(samples)
    ]

    def make(actions: Sequence[str]) -> list[Message]:
        at = datetime.datetime.now(datetime.UTC).isoformat(' ', 'microseconds')[:26]
        second = f'{at[:10]}T{at[11:19]}Z'
        return [
            (key, (text % (message, action, second, second, at, unique)).encode())
            for action in actions
            for key, text in texts
            for message, unique in (_ids(),)
        ]

    return make


def _with_gaps(stored: events.StoredEvent, index: int, text: str) -> str:
    """Return a body as a format string, with fields in the order of the envelope."""
    message = events.message_id(stored.event.uuid, index)
    values = (
        message,
        str(stored.action_uuid),
        f'{_THEN.isoformat()[:19]}Z',
        _THEN.isoformat(' ')[:26],
        message.replace('-', ''),
    )
    text = text.replace('%', '%%')
    for value in values:
        text = text.replace(value, '%s')
    return text


def _from_dictionaries(stored: events.StoredEvent, samples: list[Message]) -> Make:
    loaded = [
        (key, json.loads(json.loads(body)['oslo.message'])) for key, body in samples
    ]

    def make(actions: Sequence[str]) -> list[Message]:
        at = datetime.datetime.now(datetime.UTC).isoformat(' ', 'microseconds')[:26]
        second = f'{at[:10]}T{at[11:19]}Z'
        messages = []
        for action in actions:
            for key, document in loaded:
                # One dictionary is reused: a new one would cost more.
                document['message_id'], document['_unique_id'] = _ids()
                document['timestamp'] = at
                data = document['payload']['watcher_object.data']
                data['uuid'] = action
                data['updated_at'] = second
                data['action_plan']['watcher_object.data']['updated_at'] = second
                body = {'oslo.version': '2.0', 'oslo.message': _json(document)}
                messages.append((key, _json(body).encode()))
        return messages

    return make


_json = json.JSONEncoder(separators=(',', ':')).encode


def _ids() -> tuple[str, str]:
    message = str(uuid.uuid4())
    return message, message.replace('-', '')


def _stored(old: str, new: str) -> events.StoredEvent:
    event = events.Event(
        events.ACTION,
        events.STATE_CHANGED,
        1,
        1,
        old,
        new,
        None,
        plan_states.ONGOING,
        None,
        _THEN,
    )
    action = str(uuid.uuid4())
    return events.StoredEvent(
        1, event, action, 'action-1', 'nop', _INPUTS, '[]', _CREATED
    )


class _FakeSource:
    """The plan fields that all messages repeat."""

    def relations_of_plans(self, plan_ids: Sequence[int]) -> dict[int, PlanRelations]:
        ids = [str(uuid.uuid4()) for _ in range(4)]
        return {
            plan_id: PlanRelations(
                ActionPlan(ids[0], id=plan_id, created_at=_CREATED),
                audits.Audit(ids[1], 'bench', audits.ONESHOT, 'SUCCEEDED', 1, 1, id=1),
                audits.Goal(ids[2], 'unclassified', 'Unclassified', id=1),
                audits.Strategy(ids[3], 'actuator', 'Actuator', id=1),
            )
            for plan_id in plan_ids
        }

    def relations_of_audits(
        self, audit_ids: Sequence[int]
    ) -> dict[int, audits.AuditRelations]:
        return {}
