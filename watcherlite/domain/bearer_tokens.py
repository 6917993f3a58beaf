"""Bearer tokens: credentials that stand in an address and carry authority alone.

An id is predictable and shown to readers. A token is neither: it comes from the
operating system's source of randomness, is shown once, and only its digest is stored.
With 256 bits of entropy it needs no salt and no slow hash.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Any

#: The argument of an address that carries the token. `conf.masking` knows the name.
ARGUMENT = 'token'
_BYTES = 32
#: In the data that a resource handler keeps: the digest of the token by which the
#: resource is signalled.
SIGNAL_DIGEST = 'signal_token_digest'
_IN_ADDRESS = re.compile(rf'(?<=[?&]{ARGUMENT}=)[A-Za-z0-9_-]{{43}}(?![A-Za-z0-9_-])')


def new_token() -> str:
    """Return a token that nobody can guess, of characters that need no quoting."""
    return secrets.token_urlsafe(_BYTES)


def digest_of(token: str) -> str:
    """Return the digest of a token, which is what is stored."""
    return hashlib.sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()


def is_valid(token: str | None, digest: str | None) -> bool:
    """Return whether a token is the one that a digest was made of.

    The time that the comparison takes does not depend on how much of it matches.

    :param digest: None: no token is valid
    """
    given = digest_of(token or '')
    return hmac.compare_digest(given, digest or '') and bool(token)


def masked(data: Any, mask: str) -> Any:
    """Return data with the tokens of all addresses in it replaced.

    :param data: texts, mappings and lists of them; what else there is in it stays
    """
    if isinstance(data, str):
        return _IN_ADDRESS.sub(mask, data)
    if isinstance(data, Mapping):
        return {key: masked(value, mask) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [masked(value, mask) for value in data]
    return data
