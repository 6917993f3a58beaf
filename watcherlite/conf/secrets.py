"""[secrets]: the keys that seal what must not be in the database in clear."""

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
    help='What may be secret is sealed before it is stored: hidden parameters, the '
    'properties of resources, whatever is called like a password or a token. Who '
    'reads the database, or a backup of it, needs a key to read that.',
)

OPTS = [
    cfg.ListOpt(
        'encryption_keys',
        default=[],
        secret=True,
        sample_default='<in the file secrets.key under state_path, made when needed>',
        help='The keys, each of them 32 random bytes in base64, as '
        '"openssl rand -base64 32" prints them. The first one seals; all of them open '
        'what was sealed before. Without this option a key is made on this machine. '
        'Set it, alike everywhere, as soon as several machines share one database; '
        'begin with the key that the first machine has made, else what it has stored '
        'cannot be read any more. To change the key, put a new one behind the others '
        'on every machine, then in front of them, run "watcherlite-manage db reseal", '
        'and take the old ones out.',
    ),
]

LOG = logging.getLogger(__name__)

#: What messages call the option.
OPTION = '[secrets] encryption_keys'
#: Under the state directory.
KEY_FILE = 'secrets.key'
BYTES = 32


#: It may be possible to make the file later.
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclasses.dataclass(frozen=True, slots=True)
class Keys:
    """What seals and opens.

    :param values: in base64; the first one seals, all of them open
    :param source: where they come from, for messages
    """

    values: tuple[str, ...] = dataclasses.field(repr=False)
    source: str


def sealing_keys(conf: cfg.ConfigOpts, make: bool = True) -> Keys:
    """Return the keys: as set, else those of the key file.

    :param make: make the file if there is none
    :raises ConfigurationError: a key is none, or the file cannot be made or read
    :raises StoreUnavailable: there is no room for the file
    :raises KeyMissing: there is no file, and it is not to be made
    """
    if conf.secrets.encryption_keys:
        return Keys(_checked(conf.secrets.encryption_keys, OPTION), OPTION)
    path = key_file(conf)
    try:
        if not path.exists():
            if not make:
                raise exceptions.KeyMissing(
                    'The database holds secrets, and there is no key on this host: '
                    f'put the key file {path} back, or set {OPTION} to the keys of '
                    'the host that sealed them'
                )
            default.state_directory(conf)
            _make(path)
        lines = path.read_text('ascii').split()
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno in _NO_SPACE:
            raise exceptions.StoreUnavailable(
                f'The key file {path} cannot be made: {error.strerror}. Make room on '
                'its disk'
            ) from error
        reason = error.strerror if isinstance(error, OSError) else 'it is no text'
        raise exceptions.ConfigurationError(
            f'The key file {path} cannot be used: {reason}. Let this user read it, or '
            f'set {OPTION}'
        ) from error
    return Keys(_checked(lines, f'the key file {path}'), f'the key file {path}')


def key_file(conf: cfg.ConfigOpts) -> pathlib.Path:
    """Return where the key is that is used when none is set; it may not exist."""
    return pathlib.Path(conf.state_path).expanduser().absolute() / KEY_FILE


def _checked(values: Sequence[str], source: str) -> tuple[str, ...]:
    """Return keys that can be used; what they are is never told."""
    if not values:
        raise exceptions.ConfigurationError(f'There is no key in {source}')
    for number, value in enumerate(values, 1):
        try:
            found = len(base64.urlsafe_b64decode(value))
        except (binascii.Error, ValueError):
            found = 0
        if found != BYTES:
            raise exceptions.ConfigurationError(
                f'Key {number} in {source} is not {BYTES} bytes in base64; '
                f'"openssl rand -base64 {BYTES}" prints one that is'
            )
    return tuple(values)


def _make(path: pathlib.Path) -> None:
    """Make the file, whole, unless another process has just done so."""
    handle, name = tempfile.mkstemp(prefix=f'.{path.name}.', dir=path.parent)
    try:
        with os.fdopen(handle, 'wb') as file:
            file.write(base64.urlsafe_b64encode(os.urandom(BYTES)) + b'\n')
            file.flush()
            os.fsync(file.fileno())
        # Unlike a rename, it leaves alone what is there already.
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
    finally:
        os.unlink(name)
    LOG.info(
        'The key file %s is made: keep a copy, without which no backup of the database '
        'can be used',
        path,
    )
    # What is sealed from now on is lost if the name of the file is.
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
