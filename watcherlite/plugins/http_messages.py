"""HTTP requests and responses as values, and the failures of an exchange.

Error texts never contain the query or the credentials of a URL.
"""

import dataclasses
import socket
from collections.abc import Mapping

from watcherlite.destinations import DestinationRefusedError, Destinations
from watcherlite.plugins import outgoing
from watcherlite.plugins.capture import Capture


@dataclasses.dataclass(frozen=True, slots=True)
class HttpRequestMessage:
    """A request."""

    method: str
    url: str
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    body: bytes | None = None
    follow_redirects: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """The settings of requests.

    :param connect_timeout: seconds
    :param destinations: the allowed destinations, also of redirects
    :param verify: certificate verification: by these authorities, by the default ones
        (True), or none
    :param lookup: resolves names, as `socket.getaddrinfo` does
    """

    connect_timeout: float
    max_response_size: int
    destinations: Destinations
    verify: bool | str = True
    proxies_from_environment: bool = False
    lookup: outgoing.Lookup = socket.getaddrinfo


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """A response; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: Capture
    charset: str
    elapsed: float


class ExchangeFailed(Exception):
    """There is no response, or an incomplete one.

    :ivar sent: whether the request may have reached the server
    :ivar lasting: whether a retry would fail in the same way
    """

    def __init__(self, reason: str, sent: bool, lasting: bool = False) -> None:
        super().__init__(reason)
        self.sent = sent
        self.lasting = lasting


class DestinationRefused(ExchangeFailed):
    """The operator does not allow the destination; nothing was sent."""

    def __init__(self, refused: DestinationRefusedError) -> None:
        super().__init__(str(refused), sent=False, lasting=True)
