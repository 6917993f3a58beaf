"""The password file of HTTP basic authentication."""

import hashlib
import hmac
import logging
import os
import re
import secrets
import threading
from collections.abc import Mapping

import bcrypt

from watcherlite import exceptions

LOG = logging.getLogger(__name__)

#: Maximum number of cached correct passwords, stored as keyed digests: a bcrypt check
#: takes 0.25 seconds, and clients authenticate with every request.
REMEMBERED = 1000
#: Bytes of a password that bcrypt uses.
LONGEST = 72

_LINE = re.compile(
    r'(?P<user>[^:\s][^:]*):(?P<hash>\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53})'
)
#: Maximum number of concurrent bcrypt checks, and of requests waiting for one: wrong
#: passwords must not exhaust processors and threads.
HASHING, WAITING = 2, 4
#: Seconds after which a rejected client may retry.
RETRY_AFTER = 1
#: The bcrypt cost for a file without users.
_COST = b'12'
_ALPHABET = b'./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'


class TooManyPasswords(exceptions.WatcherliteError):
    """Too many passwords are being checked; try again later."""

    retry_after = RETRY_AFTER


class PasswordFile:
    """The users and hashes of an `htpasswd -B` file, reloaded when it changes.

    Thread-safe.

    :raises ConfigurationError: the file cannot be read, or has an invalid line
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._key = secrets.token_bytes(32)
        self._turns = threading.BoundedSemaphore(HASHING)
        self._room = threading.BoundedSemaphore(HASHING + WAITING)
        self._lock = threading.Lock()
        self._remembered: set[bytes] = set()
        self._seen = self._signature()
        self._hashes = self._read()
        self._sorted_costs = _sorted_costs(self._hashes)

    def verify(self, user: str, password: str) -> bool:
        """Return whether a password is that of the user.

        :raises TooManyPasswords: too many checks are waiting
        """
        self._reload_if_changed()
        expected = self._hashes.get(user)
        given = password.encode()
        proof = hmac.digest(
            self._key,
            b'\0'.join((user.encode(), expected or b'', given)),
            hashlib.sha256,
        )
        if proof in self._remembered:
            return True
        right = self._check(given[:LONGEST], expected or self._dummy_hash(user))
        if expected is None or not right:
            return False
        with self._lock:
            if len(self._remembered) >= REMEMBERED:
                self._remembered.clear()
            self._remembered.add(proof)
        return True

    def fingerprint(self, user: str) -> str | None:
        """Return a digest of the hash of a user, which changes with the password.

        None: there is no such user.
        """
        self._reload_if_changed()
        stored = self._hashes.get(user)
        return None if stored is None else hashlib.sha256(stored).hexdigest()

    def _check(self, given: bytes, expected: bytes) -> bool:
        if not self._room.acquire(blocking=False):
            raise TooManyPasswords
        try:
            with self._turns:
                return bcrypt.checkpw(given, expected)
        finally:
            self._room.release()

    def _dummy_hash(self, user: str) -> bytes:
        """Return a hash for an unknown user, which no password matches.

        Its cost is that of a known user, so that the response time does not reveal
        which users exist.
        """
        digest = hmac.digest(self._key, user.encode(), hashlib.sha512)
        cost = self._sorted_costs[int.from_bytes(digest[:8]) % len(self._sorted_costs)]
        letters = bytes(_ALPHABET[byte % 64] for byte in digest[8:61])
        # The last of the 22 letters of a salt encodes two bits.
        return b'$2b$%s$%s.%s' % (cost, letters[:21], letters[22:])

    def _reload_if_changed(self) -> None:
        """Reload the file if it has changed; an invalid one changes nothing."""
        try:
            signature = self._signature()
            if signature == self._seen:
                return
            with self._lock:
                self._hashes, self._seen = self._read(), signature
                self._sorted_costs = _sorted_costs(self._hashes)
                self._remembered.clear()
            LOG.info('Reloaded the password file %s', self._path)
        except exceptions.ConfigurationError as error:
            if self._seen is not None:
                LOG.error('The password file was not reloaded: %s', error)
            self._seen = None

    def _signature(self) -> tuple[int, int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError as error:
            raise self._unreadable(error) from None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _read(self) -> dict[str, bytes]:
        try:
            with open(self._path, encoding='utf-8') as file:
                lines = file.read().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise self._unreadable(error) from None
        found = {}
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith('#'):
                continue
            match = _LINE.fullmatch(line.strip())
            if match is None:
                raise exceptions.ConfigurationError(
                    f'Line {number} of {self._path} is not USER:HASH with a hash of '
                    'bcrypt; `htpasswd -B` writes such lines'
                )
            found[match['user']] = match['hash'].encode()
        return found

    def _unreadable(self, error: Exception) -> exceptions.ConfigurationError:
        reason = getattr(error, 'strerror', None) or 'it is not UTF-8 text'
        return exceptions.ConfigurationError(
            f'The password file {self._path} of [api] http_basic_auth_user_file '
            f'cannot be read: {reason}'
        )


def _sorted_costs(hashes: Mapping[str, bytes]) -> list[bytes]:
    """Return the cost of each hash, sorted."""
    return sorted(known[4:6] for known in hashes.values()) or [_COST]
