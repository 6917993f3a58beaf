"""The hosts of a broker, parsed from a URL."""

import dataclasses
import re
from urllib import parse as urlparse

from watcherlite import exceptions

#: scheme -> whether it uses TLS; `rabbit` is the scheme of oslo.messaging.
SCHEMES = {'amqp': False, 'rabbit': False, 'amqps': True}
_PORTS = {False: 5672, True: 5671}
_GUEST = 'guest'
_ENCODE = (
    'Characters like "/", "@", ":", "," and ";" in a user name, password or virtual '
    'host are written as %2F, %40, %3A, %2C and %3B.'
)


@dataclasses.dataclass(frozen=True, slots=True)
class Address:
    """One host of a broker. Its text has no credentials."""

    host: str
    port: int
    vhost: str
    tls: bool
    user: str = dataclasses.field(default='', repr=False)
    password: str = dataclasses.field(default='', repr=False)

    def __str__(self) -> str:
        return f'{self.host}:{self.port} (virtual host {self.vhost})'


def scheme(url: str) -> str:
    """Return the scheme of a URL in lower case, '' if it has none."""
    name, separator, _ = url.partition('://')
    return name.lower() if separator else ''


def parse(url: str, option: str = '[messaging] url') -> tuple[Address, ...]:
    """Return the hosts of a URL, in its order.

    A URL is `amqp://USER:PASSWORD@HOST:PORT/VHOST`, with `amqps` for TLS and `rabbit`
    for amqp. Several hosts are separated by commas or semicolons, either before the
    virtual host (as in oslo.messaging) or as URLs of their own (as in kombu). A host
    without credentials has those of the first, or guest, the default of RabbitMQ.

    :param option: the option that has the URL, for the message
    :raises exceptions.ConfigurationError: the URL is invalid. The text does not quote
        it, because a password may be anywhere in it.
    """
    try:
        return _parse(url)
    except _Violation as error:
        raise exceptions.ConfigurationError(
            f'The broker URL ({option}) cannot be used: {error} Example: '
            'amqp://USER:PASSWORD@HOST:5672/VHOST or '
            f'rabbit://USER:PASSWORD@HOST1:5672,USER:PASSWORD@HOST2:5672/VHOST. '
            f'{_ENCODE}'
        ) from None


class _Violation(ValueError):
    """The rule that a URL breaks."""


def _parse(url: str) -> tuple[Address, ...]:
    addresses: list[Address] = []
    for piece in re.split(r'[;,](?=\w+://)', url.strip()):
        tls = SCHEMES.get(scheme(piece))
        if tls is None:
            raise _Violation(
                'each URL in it begins with amqp://, amqps:// or rabbit://.'
            )
        authorities, _, vhost = piece.partition('://')[2].partition('/')
        if '@' in vhost or '?' in vhost:
            raise _Violation('the virtual host is all that follows the first "/".')
        for authority in re.split('[;,]', authorities):
            addresses.append(
                _address(authority, urlparse.unquote(vhost) or '/', tls, addresses)
            )
    if len({(address.tls, address.vhost) for address in addresses}) > 1:
        raise _Violation(
            'its hosts are those of one cluster: all have the same scheme and the '
            'same virtual host.'
        )
    return tuple(
        item if item.user else dataclasses.replace(item, user=_GUEST, password=_GUEST)
        for item in addresses
    )


def _address(authority: str, vhost: str, tls: bool, before: list[Address]) -> Address:
    credentials, separator, location = authority.rpartition('@')
    user, _, password = map(urlparse.unquote, credentials.partition(':'))
    if not separator:
        user, password = (before[0].user, before[0].password) if before else ('', '')
    elif before and not before[0].user:
        raise _Violation('either the first host has the credentials, or each host.')
    match = re.fullmatch(r'(\[[0-9a-fA-F:.]+\]|[^:\[\]\s]*)(?::(\d{1,5}))?', location)
    if match is None or not 0 < int(match[2] or 1) < 65536:
        raise _Violation(
            'a host is a name or an address, and a port a number after ":".'
        )
    return Address(
        host=match[1].strip('[]') or '127.0.0.1',
        port=int(match[2] or _PORTS[tls]),
        vhost=vhost,
        tls=tls,
        user=user,
        password=password,
    )
