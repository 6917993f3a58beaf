"""[secrets]: the encryption keys of secrets in the database."""

import base64
import binascii
import contextlib
import dataclasses
import errno
import logging
import os
import pathlib
import tempfile
from collections.abc import Sequence

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.conf import default

GROUP = cfg.OptGroup(
    'secrets',
    title='Secrets',
    help='Secrets are encrypted before they are stored: hidden parameters, '
    'properties of resources, values whose names suggest a password or a token. '
    'Readers of the database, or of a backup, need a key to decrypt them.',
)

OPTS = [
    cfg.ListOpt(
        'encryption_keys',
        default=[],
        secret=True,
        sample_default='<in the file secrets.key under state_path, created when '
        'needed>',
        help='The encryption keys, each of them 32 random bytes in base64, as '
        'printed by "openssl rand -base64 32". The first one encrypts; all of '
        'them decrypt. Without this option a key is generated on this machine. '
        'Set it, identically everywhere, if several machines share one '
        'database; start with the key that the first machine has generated, '
        'otherwise its data cannot be decrypted. To rotate the key, append a '
        'new one on every machine, then move it to the front, run '
        '"watcherlite-manage db reencrypt", and remove the old ones.',
    )
]

LOG = logging.getLogger(__name__)

#: The name of the option in messages.
OPTION = '[secrets] encryption_keys'
#: The name of the key file in the state directory.
KEY_FILE = 'secrets.key'
BYTES = 32


#: Creating the file may succeed later.
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclasses.dataclass(frozen=True, slots=True)
class Keys:
    """The encryption keys.

    :param values: in base64; the first one encrypts, all of them decrypt
    :param source: their origin, for messages
    """

    values: tuple[str, ...] = dataclasses.field(repr=False)
    source: str


def sealing_keys(conf: cfg.ConfigOpts, make: bool = True) -> Keys:
    """Return the keys: those of the option, else of the key file.

    :param make: create the file if it does not exist
    :raises ConfigurationError: a key is invalid, or the file cannot be created or read
    :raises StoreUnavailable: there is no space for the file
    :raises KeyMissing: the file does not exist and must not be created
    """
    if conf.secrets.encryption_keys:
        return Keys(_checked(conf.secrets.encryption_keys, OPTION), OPTION)
    path = key_file(conf)
    try:
        if not path.exists():
            if not make:
                raise exceptions.KeyMissing(
                    'The database contains encrypted secrets, and this host has no '
                    f'key: restore the key file {path}, or set {OPTION} to the keys '
                    'of the host that encrypted them'
                )
            default.state_directory(conf)
            _make(path)
        lines = path.read_text('ascii').split()
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno in _NO_SPACE:
            raise exceptions.StoreUnavailable(
                f'The key file {path} cannot be created: {error.strerror}. Free space '
                'on its disk'
            ) from error
        reason = error.strerror if isinstance(error, OSError) else 'it is not text'
        raise exceptions.ConfigurationError(
            f'The key file {path} cannot be used: {reason}. Make it readable for this '
            f'user, or set {OPTION}'
        ) from error
    return Keys(_checked(lines, f'the key file {path}'), f'the key file {path}')


def key_file(conf: cfg.ConfigOpts) -> pathlib.Path:
    """Return the path of the default key file; it may not exist."""
    return pathlib.Path(conf.state_path).expanduser().absolute() / KEY_FILE


def _checked(values: Sequence[str], source: str) -> tuple[str, ...]:
    """Return valid keys; messages never contain them."""
    if not values:
        raise exceptions.ConfigurationError(f'There is no key in {source}')
    for number, value in enumerate(values, 1):
        try:
            found = len(base64.urlsafe_b64decode(value))
        except (binascii.Error, ValueError):
            found = 0
        if found != BYTES:
            raise exceptions.ConfigurationError(
                f'Key {number} in {source} is not {BYTES} bytes in base64; generate '
                f'one with "openssl rand -base64 {BYTES}"'
            )
    return tuple(values)


def _make(path: pathlib.Path) -> None:
    """Create the file atomically, unless another process has just done so."""
    handle, name = tempfile.mkstemp(prefix=f'.{path.name}.', dir=path.parent)
    try:
        with os.fdopen(handle, 'wb') as file:
            file.write(base64.urlsafe_b64encode(os.urandom(BYTES)) + b'\n')
            file.flush()
            os.fsync(file.fileno())
        # Unlike a rename, it does not replace an existing file.
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
    finally:
        os.unlink(name)
    LOG.info(
        'Created the key file %s: keep a copy, without which backups of the database '
        'cannot be used',
        path,
    )
    # Data encrypted from now on is lost if the directory entry is.
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
