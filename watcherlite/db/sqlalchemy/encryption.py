"""Secrets are sealed when a row is written, and opened when it is read.

Whoever asks the store for an object gets it in clear, and does not know. What is
sealed is whole JSON documents: nobody searches in them. What is not sealed is read as
it is, so that rows from before are read too.

Of some columns every document is sealed, of others each that `conf.masking` would not
show as it is: that is cheap to find out, and most have nothing of the kind.
"""

import base64
import hashlib
import hmac
import json
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.conf import masking
from watcherlite.conf.secrets import Keys
from watcherlite.db.sqlalchemy.text import dumps

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

#: What a sealed text begins with. No JSON document begins so.
MARK = 'sealed:'
#: Also what is given to a stack within a plan: hidden parameters have any name.
PARAMETER = 'parameter'
_EMPTY = frozenset({'', '{}', '[]', 'null'})

#: table -> column -> whether each of its documents is sealed. Those of actions in
#: the lane of the engine are all: they have what resources are made of.
SEALED: Mapping[str, Mapping[str, bool]] = {
    'actions': dict.fromkeys(('inputs', 'context', 'token', 'outputs', 'data'), False),
    'events': {'detail': False},
    'audits': {'parameters': True, 'scope': True},
    'audit_templates': {'default_parameters': True, 'scope': True},
    'definitions': dict.fromkeys(
        ('template', 'environment', 'files', 'parameters'), True
    ),
    'stacks': {'context': False},
    'resources': dict.fromkeys(
        ('properties', 'attributes', 'metadata', 'data', 'reference'), True
    ),
    'profiles': {'spec': True, 'metadata': False},
    'policies': {'spec': True, 'data': True},
    'clusters': {'data': True, 'config': False, 'metadata': False},
    'nodes': {
        **dict.fromkeys(('properties', 'attributes', 'kept', 'data'), True),
        'metadata': False,
    },
    'bindings': {'data': True},
    'receivers': {'actor': True, 'params': True, 'channel': False},
}


#: Called with whether to make a key if there is none; see `conf.secrets`.
Loading = Callable[[bool], Keys]


def no_keys(make: bool) -> Keys:
    """Refuse: of a store that was given no keys."""
    raise exceptions.ConfigurationError(
        'This store was given no keys, and cannot keep secrets'
    )


def _may_be_secret(text: str) -> bool:
    return PARAMETER in text or masking.is_suspicious(text)


class FieldCipher:
    """Seals with the first key, and opens with each.

    :param load: called when there is something to seal or to open, and not before;
        with a key that is made then nothing could be opened
    """

    def __init__(self, load: Loading) -> None:
        self._load = load
        self._keys: Keys | None = None
        self._ring: list[Fernet] = []

    # documents

    def document(self, value: Any, whole: bool = False) -> str:
        """Return JSON to be stored; TypeError or ValueError if it cannot be.

        :param whole: seal it whatever it holds, unless it is empty
        """
        if not value:
            return '{}' if value == {} else dumps(value)
        text = dumps(value)
        return self.sealed(text) if whole or _may_be_secret(text) else text

    def or_null(self, value: Any, whole: bool = False) -> str | None:
        """Return JSON to be stored, NULL for None."""
        return None if value is None else self.document(value, whole)

    def loads(self, text: str) -> Any:
        """Return the value of JSON that was stored; raises KeyMissing."""
        # Of what begins with this letter nothing is JSON.
        return json.loads(text if text[0] != 's' else self.opened(text))

    # texts

    def stored(self, text: str | None, whole: bool) -> str | None:
        """Return a text to be stored; NULL and what is empty stay as they are."""
        if text is None or text in _EMPTY or not (whole or _may_be_secret(text)):
            return text
        return self.sealed(text)

    def sealed(self, text: str) -> str:
        """Return a text that nobody reads without a key."""
        self._begin(make=True)
        return MARK + self._ring[0].encrypt(text.encode()).decode()

    def opened(self, text: str) -> str:
        """Return what a stored text says; raises KeyMissing."""
        if not text.startswith(MARK):
            return text
        source = self._begin(make=False).source
        for number in range(len(self._ring)):
            clear = self._try(number, text)
            if clear is not None:
                return clear
        raise exceptions.KeyMissing(
            f'The database holds secrets that {source} cannot open, as they were '
            'sealed with another key: set [secrets] encryption_keys to the keys of the '
            'host that sealed them, alike on all hosts'
        )

    def is_current(self, text: str) -> bool:
        """Say whether a text is sealed, and with the first key."""
        if not text.startswith(MARK):
            return False
        self._begin(make=False)
        return self._try(0, text) is not None

    def keyed(self, digest: str) -> str:
        """Return a digest by which nobody finds out, by guessing, what it is of."""
        key = base64.urlsafe_b64decode(self._begin(make=True).values[0])
        return hmac.digest(key, b'definition:' + digest.encode(), hashlib.sha256).hex()

    def _begin(self, make: bool) -> Keys:
        """Return the keys, of which `_ring` is made."""
        if self._keys is None:
            keys = self._load(make)
            # Loading it takes longer than many a command, which has nothing secret.
            from cryptography.fernet import Fernet

            self._ring = [Fernet(value) for value in keys.values]
            self._keys = keys
        return self._keys

    def _try(self, number: int, text: str) -> str | None:
        from cryptography.fernet import InvalidToken

        try:
            return self._ring[number].decrypt(text[len(MARK) :]).decode()
        except InvalidToken:
            return None


#: The ciphers of the engines of this process, by their dialects: a type of a column
#: is handed the dialect, and nothing else, when it has to convert.
_CIPHERS: weakref.WeakKeyDictionary[sa.Dialect, FieldCipher] = (
    weakref.WeakKeyDictionary()
)


def use_cipher(dialect: sa.Dialect, cipher: FieldCipher) -> None:
    """Encrypt and decrypt with a cipher what statements of an engine store and read."""
    _CIPHERS[dialect] = cipher


def cipher_of(dialect: sa.Dialect) -> FieldCipher:
    """Return the cipher of an engine; without one it refuses to keep secrets."""
    return _CIPHERS.get(dialect) or FieldCipher(no_keys)
