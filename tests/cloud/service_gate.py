"""An HTTP proxy of a service, for faults that the service does not have on demand."""

import threading

import requests

from tests import bounded
from tests.functional.plugins.http_server import Server

#: Headers of one connection, and of the content that `requests` has decoded.
_OWN_HEADERS = {'connection', 'content-encoding', 'content-length', 'transfer-encoding'}


class ServiceGate(Server):
    """Forwards requests to a service, except for creations that it is to hold.

    :param noun: the collection whose POST requests are creations, for example `servers`
    :ivar target: the URL of the service without a path
    :ivar refused: the number of requests whose token was refused
    """

    def __init__(self, target: str, noun: str) -> None:
        super().__init__(self._forward)
        self.refused = 0
        self.target = target
        self._path = f'/{noun}'
        self._changed = threading.Condition()
        self._answered: int | None = None
        self._forwarded: int | None = None
        self._creations = 0
        self._created = 0
        self._expired: set[str] = set()

    def hold_creations(self, answered: int, unanswered: int = 0) -> None:
        """Hold creations after the first ones.

        :param answered: the number of the first ones, which are not affected
        :param unanswered: the number of further ones that reach the service, but whose
            response is never sent
        """
        with self._changed:
            self._answered = answered
            self._forwarded = answered + unanswered

    def release_creations(self) -> None:
        """Forward the held creations whose client still waits, and all others."""
        with self._changed:
            self._answered = self._forwarded = None
            self._changed.notify_all()

    def expire_tokens(self) -> None:
        """Refuse the tokens of all requests until now."""
        with self._changed:
            self._expired |= {
                request.headers.get('x-auth-token', '') for request in self.received
            }

    def wait_for_creations(self, count: int) -> None:
        """Wait until the service has answered this number of creations."""
        with self._changed:
            if not self._changed.wait_for(
                lambda: self._created >= count, bounded.TIMEOUT
            ):
                raise AssertionError(f'{self._created} creations, not {count}')

    def _forward(self, exchange, request):
        creates = request.method == 'POST' and request.path.endswith(self._path)
        with self._changed:
            self._creations += creates
            number, answered = self._creations, self._answered
            if creates and self._forwarded is not None and number > self._forwarded:
                self._changed.wait_for(lambda: self._forwarded is None)
                if not exchange.is_connected():
                    return
            if request.headers.get('x-auth-token', '') in self._expired:
                self.refused += 1
                exchange.answer(401)
                return
        response = requests.request(
            request.method,
            self.target + request.path,
            headers=request.headers,
            data=request.body,
            timeout=bounded.TIMEOUT,
        )
        with self._changed:
            self._created += creates
            self._changed.notify_all()
        if creates and answered is not None and number > answered:
            exchange.hang()
            return
        headers = {
            name.replace('-', '_'): value
            for name, value in response.headers.items()
            if name.lower() not in _OWN_HEADERS
        }
        exchange.answer(response.status_code, response.content, **headers)
