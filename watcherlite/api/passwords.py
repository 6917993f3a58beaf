"""The password file of HTTP basic authentication."""

import hashlib
import hmac
import logging
import os
import re
import secrets
import threading

import bcrypt

from watcherlite import exceptions

LOG = logging.getLogger(__name__)

#: Passwords that were right are remembered, as a keyed digest: bcrypt takes a
#: quarter of a second on purpose, and a client proves itself with every request.
REMEMBERED = 1000
#: bcrypt looks at no more bytes of a password.
LONGEST = 72

_LINE = re.compile(
    r'(?P<user>[^:\s][^:]*):(?P<hash>\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53})'
)
#: For users that there are not, so that they take as long as others.
_NOBODY = bcrypt.hashpw(secrets.token_bytes(16), bcrypt.gensalt())


class PasswordFile:
    """Users and hashes, as `htpasswd -B` writes them; read again when it changes.

    Any number of threads may use it.

    :raises ConfigurationError: the file cannot be read, or has a line that is none
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._remembered: set[bytes] = set()
        self._seen = self._signature()
        self._hashes = self._read()

    def verify(self, user: str, password: str) -> bool:
        """Say whether this is the user's password."""
        self._look()
        expected = self._hashes.get(user)
        given = password.encode()
        proof = hmac.digest(
            self._key,
            b'\0'.join((user.encode(), expected or b'', given)),
            hashlib.sha256,
        )
        if proof in self._remembered:
            return True
        right = bcrypt.checkpw(given[:LONGEST], expected or _NOBODY)
        if expected is None or not right:
            return False
        with self._lock:
            if len(self._remembered) >= REMEMBERED:
                self._remembered.clear()
            self._remembered.add(proof)
        return True

    def _look(self) -> None:
        """Read the file again if it has changed; a bad one changes nothing."""
        try:
            signature = self._signature()
            if signature == self._seen:
                return
            with self._lock:
                self._hashes, self._seen = self._read(), signature
                self._remembered.clear()
            LOG.info('The password file %s was read again', self._path)
        except exceptions.ConfigurationError as error:
            if self._seen is not None:
                LOG.error('The passwords stay as they were: %s', error)
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
        reason = getattr(error, 'strerror', None) or 'it is not text in UTF-8'
        return exceptions.ConfigurationError(
            f'The password file {self._path} of [api] http_basic_auth_user_file '
            f'cannot be read: {reason}'
        )
