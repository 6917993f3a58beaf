"""What one kind of notification is."""

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Notification:
    """One kind of notification; each exists once.

    :param name: the event type without its subject: 'execution.start'
    :param priority: a key of `rules.PRIORITIES`
    :param payload: the name of the payload class
    :param when: for readers of the reference
    """

    name: str
    priority: str
    payload: str
    when: str
