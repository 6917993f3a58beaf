"""Requests as operations receive them, with their services."""

from typing import Any

from watcherlite.api.operation import Caller, Request, Version
from watcherlite.api.services import Services
from watcherlite.clock import SystemClock

HOST = 'http://127.0.0.1:9322'


def services(**parts: Any) -> Services:
    """Return services; those that are not given are None."""
    nothing: dict[str, Any] = dict.fromkeys(
        (
            *('store', 'plans', 'audits', 'templates', 'stacks', 'reading'),
            'software',
            *('clusters', 'plugins', 'notifications', 'data_models', 'datasources'),
        )
    )
    return Services(**{**nothing, 'clock': SystemClock(), **parts})


def request(
    parts: Services | None = None,
    *,
    version: Version = (1, 5),
    path: dict[str, str] | None = None,
    query: dict[str, Any] | None = None,
    body: Any = None,
    **more: Any,
) -> Request:
    """Return a request of the user 'ada'."""
    values = {
        'caller': Caller(user_name='ada'),
        'root_url': HOST,
        'mount_url': HOST,
        'request_id': 'req-1',
        **more,
    }
    return Request(
        services=parts or services(),
        version=version,
        path=path or {},
        query=query or {},
        body=body,
        **values,
    )
