"""Notifications that services of the cloud emit about their objects."""

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True)
class ServiceNotification:
    """One notification of a service, without the envelope of oslo.messaging.

    :param event_type: `instance.create.end`
    :param publisher_id: `nova-compute:host`
    :param payload: as the service wrote it; nothing in it is validated
    :param emitted: aware, in UTC, by the clock of the publisher
    """

    event_type: str
    publisher_id: str
    payload: Mapping[str, Any]
    emitted: datetime.datetime


@dataclasses.dataclass(frozen=True, slots=True)
class ResourceFailure:
    """The failure of a resource that a notification reports.

    :param resource_uuid: that of the context of its handler
    :param physical_id: of the resource that has failed; it may be replaced by now
    :param reason: for users
    """

    resource_uuid: str
    physical_id: str
    reason: str
