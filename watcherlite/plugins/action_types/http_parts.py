"""Declaration, validation and preparation of HTTP calls."""

import json
import os
import re
import urllib.parse
from collections.abc import Mapping
from typing import Any

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.destinations import Destinations
from watcherlite.plugins import http_messages
from watcherlite.plugins.base import RunningAction, RunningResource
from watcherlite.plugins.redaction import redact_url

IDEMPOTENT = frozenset({'GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'})
METHODS = (*sorted(IDEMPOTENT), 'PATCH', 'POST')
DEFAULT_TIMEOUT = 60.0
#: The default header of the idempotency key.
KEY_HEADER = 'Idempotency-Key'
DEFAULT_CONNECT_TIMEOUT = 10.0

#: These headers belong to the message, not to its author: with two lengths, for
#: example, one request could be parsed as two.
_OWN_HEADERS = frozenset({'connection', 'content-length', 'transfer-encoding'})
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r'(?:[!-~][\t -~]*)?')

OPTIONS: tuple[cfg.Opt, ...] = (
    cfg.BoolOpt(
        'verify_tls',
        default=True,
        mutable=True,
        help='Whether to verify the certificates of servers. Without verification an '
        'attacker can read and change the traffic: for a private authority set '
        '`ca_file` instead.',
    ),
    cfg.StrOpt(
        'ca_file',
        mutable=True,
        help='A file with the certificates (PEM) of trusted authorities, in place of '
        'the public ones.',
    ),
    cfg.IntOpt(
        'max_response_size',
        default=65536,
        min=0,
        max=16777216,
        mutable=True,
        help='The number of bytes of a response body that are stored with the '
        'action. The rest is not read; `truncated` is then true. Raise it only '
        'if the stored body is used.',
    ),
    cfg.BoolOpt(
        'proxies_from_environment',
        default=False,
        mutable=True,
        help='Whether to use HTTP_PROXY, HTTPS_PROXY and NO_PROXY from the '
        'environment of the applier. Enable it if servers are reachable through '
        'a proxy only.',
    ),
)

STATUSES = {
    'type': 'array',
    'items': {'type': 'integer', 'minimum': 100, 'maximum': 599},
    'minItems': 1,
}
URL = {
    'type': 'string',
    'pattern': '^[Hh][Tt][Tt][Pp][Ss]?://',
    'description': 'a URL that starts with http:// or https://',
}
HEADERS = {'type': 'object', 'additionalProperties': {'type': 'string'}}
SECONDS = {'type': 'number', 'exclusiveMinimum': 0, 'maximum': 86400}


def settings(
    options: Any,
    group: str,
    destinations: Destinations,
    connect_timeout: float = DEFAULT_CONNECT_TIMEOUT,
) -> http_messages.Settings:
    """Return the settings for requests from the values of `OPTIONS`.

    :param group: of the options, for messages
    :param destinations: the allowed destinations
    :raises ConfigurationError: the file of authorities cannot be read
    """
    ca_file = options.ca_file
    if ca_file and not os.access(ca_file, os.R_OK):
        raise exceptions.ConfigurationError(
            f'[{group}] ca_file = {ca_file} cannot be read'
        )
    return http_messages.Settings(
        connect_timeout,
        options.max_response_size,
        destinations,
        (ca_file or True) if options.verify_tls else False,
        options.proxies_from_environment,
    )


def headers(
    context: RunningAction | RunningResource,
    call: Mapping[str, Any],
    *given: Mapping[str, str],
    key_header: str = KEY_HEADER,
) -> dict[str, str]:
    """Return the headers of a call; later ones take precedence.

    :param given: after those of every call
    :param key_header: the name of the header of the idempotency key
    """
    own = {key_header: context.uuid, 'X-Fencing-Token': str(context.attempt)}
    kind = {'Content-Type': 'application/json'} if 'json' in call else {}
    found: dict[str, str] = {}
    for more in (own, kind, *given):
        names = {name.lower() for name in more}
        found = {n: v for n, v in found.items() if n.lower() not in names}
        found |= more
    return found


def body(call: Mapping[str, Any]) -> bytes | None:
    """Return the body of a call; raises ValueError if it cannot be encoded."""
    if 'json' in call:
        return json.dumps(call['json'], allow_nan=False).encode()
    text = call.get('body')
    return None if text is None else str(text).encode()


def url_problems(key: str, url: str) -> list[str]:
    """Return the problem of a URL, at most one line."""
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port
    except ValueError:
        return [f'{key}: is not a URL']
    if not parts.hostname or port == 0:
        return [f'{key}: {redact_url(url)} has no host, or an invalid port']
    if any(ord(char) <= 32 or ord(char) == 127 for char in url):
        return [f'{key}: has spaces or control characters; write them as %20 and so on']
    return []


def header_problems(key: str, headers: Mapping[str, str], sender: str) -> list[str]:
    """Return the problems of headers, a line each.

    :param sender: the component that sets the reserved headers
    """
    problems = []
    for name, value in headers.items():
        if name.lower() in _OWN_HEADERS:
            problems.append(f'{key}.{name}: is set by {sender} itself')
        elif not _HEADER_NAME.fullmatch(name):
            problems.append(f'{key}.{name!r}: is not a valid header name')
        elif not value.isascii():
            # Clients send them as ISO-8859-1, as UTF-8, or not at all.
            problems.append(
                f'{key}.{name}: has characters outside ASCII, which servers decode '
                'differently; encode them, for example as in RFC 8187'
            )
        elif not _HEADER_VALUE.fullmatch(value):
            problems.append(
                f'{key}.{name}: has characters that are not allowed in a header'
            )
    return problems


def ranges(statuses: frozenset[int]) -> str:
    """Return a compact text of statuses: 200-299, 404."""
    runs: list[list[int]] = []
    for status in sorted(statuses):
        if runs and runs[-1][-1] == status - 1:
            runs[-1][1:] = [status]
        else:
            runs.append([status])
    return ', '.join('-'.join(str(end) for end in run) for run in runs)
