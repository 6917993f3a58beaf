"""Encryption of secrets in columns.

The store encrypts a JSON document when it writes a row, and decrypts it when it reads
the row. Documents in plain text are read as they are, so that rows of earlier versions
remain readable. Some columns are always encrypted, others only if `conf.masking` would
mask a part of the document, which is cheap to determine.
"""

import base64
import hashlib
import hmac
import json
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.conf import masking
from watcherlite.conf.secrets import Keys
from watcherlite.db.sqlalchemy.text import dumps

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

#: Prefix of an encrypted text. No JSON document starts with it.
MARK = 'sealed:'
#: Marks the inputs of a stack in an action plan, whose hidden parameters may have any
#: name.
PARAMETER = 'parameter'
_EMPTY = frozenset({'', '{}', '[]', 'null'})

#: Loads the keys; the argument is whether to create a key if there is none.
KeyLoader = Callable[[bool], Keys]


def no_keys(create: bool) -> Keys:
    """Raise ConfigurationError, as the loader of a store without keys."""
    raise exceptions.ConfigurationError(
        'The store has no encryption keys and cannot store secrets'
    )


def _may_be_secret(text: str) -> bool:
    return PARAMETER in text or masking.is_suspicious(text)


class FieldCipher:
    """A cipher that encrypts with the first key and decrypts with any key.

    :param load: loads the keys on their first use. Only an encryption may create a key:
        a new key decrypts nothing
    """

    def __init__(self, load: KeyLoader) -> None:
        self._load = load
        self._keys: Keys | None = None
        self._ring: list[Fernet] = []

    def document(self, value: Any, whole: bool = False) -> str:
        """Return a value as JSON text to store.

        :param whole: encrypt it whatever it contains, unless it is empty
        :raises TypeError, ValueError: the value cannot be serialized
        """
        if not value:
            return '{}' if value == {} else dumps(value)
        text = dumps(value)
        return self.encrypt(text) if whole or _may_be_secret(text) else text

    def loads(self, text: str) -> Any:
        """Return the value of a stored JSON text; raise KeyMissing."""
        # No JSON text starts with the first letter of MARK.
        return json.loads(text if text[0] != 's' else self.decrypt(text))

    def stored(self, text: str | None, whole: bool) -> str | None:
        """Return a text to store; NULL and empty texts are unchanged."""
        if text is None or text in _EMPTY or not (whole or _may_be_secret(text)):
            return text
        return self.encrypt(text)

    def encrypt(self, text: str) -> str:
        """Return a text encrypted with the first key."""
        self._load_keys(create=True)
        return MARK + self._ring[0].encrypt(text.encode()).decode()

    def decrypt(self, text: str) -> str:
        """Return the plain text of a stored text; raise KeyMissing."""
        if not text.startswith(MARK):
            return text
        source = self._load_keys(create=False).source
        for number in range(len(self._ring)):
            plain = self._decrypt_with(number, text)
            if plain is not None:
                return plain
        raise exceptions.KeyMissing(
            f'The database has secrets that {source} cannot decrypt, as they were '
            'encrypted with another key: set [secrets] encryption_keys to the keys of '
            'the host that encrypted them, alike on all hosts'
        )

    def is_current(self, text: str) -> bool:
        """Return whether a text is encrypted with the first key."""
        if not text.startswith(MARK):
            return False
        self._load_keys(create=False)
        return self._decrypt_with(0, text) is not None

    def keyed_digest(self, digest: str) -> str:
        """Return a keyed digest, from which the content cannot be guessed."""
        key = base64.urlsafe_b64decode(self._load_keys(create=True).values[0])
        return hmac.digest(key, b'definition:' + digest.encode(), hashlib.sha256).hex()

    def _load_keys(self, create: bool) -> Keys:
        """Return the keys; load them on the first call."""
        if self._keys is None:
            keys = self._load(create)
            # Imported here: the import takes longer than commands without secrets do.
            from cryptography.fernet import Fernet

            self._ring = [Fernet(value) for value in keys.values]
            self._keys = keys
        return self._keys

    def _decrypt_with(self, number: int, text: str) -> str | None:
        from cryptography.fernet import InvalidToken

        try:
            return self._ring[number].decrypt(text[len(MARK) :]).decode()
        except InvalidToken:
            return None


#: Ciphers by dialect, which is all that the conversion of a column type receives.
_CIPHERS: weakref.WeakKeyDictionary[sa.Dialect, FieldCipher] = (
    weakref.WeakKeyDictionary()
)


def use_cipher(dialect: sa.Dialect, cipher: FieldCipher) -> None:
    """Use a cipher for the encrypted columns in statements of a dialect."""
    _CIPHERS[dialect] = cipher


def cipher_of(dialect: sa.Dialect) -> FieldCipher:
    """Return the cipher of a dialect; by default one that raises errors."""
    return _CIPHERS.get(dialect) or FieldCipher(no_keys)
