"""Requests to a WSGI application, and their responses."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import webob


@dataclasses.dataclass(frozen=True)
class ReceivedResponse:
    """A response: its status, headers (case-insensitive) and JSON body."""

    status: int
    headers: Mapping[str, str]
    data: bytes

    @property
    def body(self) -> Any:
        """Return the JSON of the body."""
        return json.loads(self.data)

    @property
    def fault(self) -> str:
        """Return the error message, as a client of Watcher reads it."""
        return json.loads(self.body['error_message'])['faultstring']


def ask(
    application: Any,
    method: str,
    url: str,
    body: Any = None,
    environ: Mapping[str, Any] | None = None,
    **headers: str,
) -> ReceivedResponse:
    """Send a request.

    :param body: bytes as they are, anything else as JSON
    :param headers: with underscores for hyphens
    """
    request = webob.Request.blank(url, dict(environ or {}), base_url='http://api:9322')
    request.method = method
    if body is not None:
        request.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        request.content_type = 'application/json'
    for name, value in headers.items():
        request.headers[name.replace('_', '-')] = value
    answer = request.get_response(application)
    return ReceivedResponse(answer.status_int, answer.headers, answer.body)
