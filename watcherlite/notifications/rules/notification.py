"""Kinds of notification, their priorities, and the levels of the option."""

import dataclasses

#: priority on the wire -> rank
PRIORITIES = {'DEBUG': 0, 'INFO': 1, 'WARN': 2, 'ERROR': 3, 'CRITICAL': 4}
#: the words of the option `level` -> rank
LEVELS = {'debug': 0, 'info': 1, 'warning': 2, 'error': 3, 'critical': 4}


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Notification:
    """One kind of notification; each exists once.

    :param name: the event type without its subject: 'execution.start'
    :param priority: a key of PRIORITIES
    :param payload: the name of the payload class
    :param when: the description in the reference
    """

    name: str
    priority: str
    payload: str
    when: str


def named(*rows: tuple[str, str, str]) -> dict[str, Notification]:
    """Return notifications by their names.

    :param rows: name, payload class and description of each
    """
    return {
        name: Notification(
            name, 'ERROR' if name.endswith('.error') else 'INFO', payload, when
        )
        for name, payload, when in rows
    }
