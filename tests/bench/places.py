"""Where a plan is executed: a fresh database, a broker, a directory, an ini file."""

import contextlib
import dataclasses
import os
import pathlib
import tempfile
from collections.abc import Iterator

from tests import services
from tests.bench.cases import POSTGRESQL
from watcherlite.db.sqlalchemy import migration

#: Not among `cases.PLACES`: plans are not executed there.
MYSQL = services.MYSQL

_INI = """\
[DEFAULT]
host = bench
state_path = {directory}

[database]
connection = {database}

[messaging]
url = {broker}
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """One of `cases.PLACES`, ready to be used.

    :param database: an SQLAlchemy URL
    :param broker: the URL of a broker; memory:// for the one in the process
    :param directory: for what the processes write
    :param config_file: the two URLs, everything else as it is by default
    """

    name: str
    database: str
    broker: str
    directory: pathlib.Path
    config_file: pathlib.Path


@contextlib.contextmanager
def vhost() -> Iterator[str]:
    """Make a virtual host of the broker, and delete it at the end; its URL.

    :raises unittest.SkipTest: there is no broker, or rabbitmqctl cannot be used
    """
    own = services.RabbitVhost()
    own.name = f'wl_bench_{os.getpid()}'
    with own:
        if not own.isolated:
            raise RuntimeError('rabbitmqctl cannot make a virtual host for the bench')
        yield own.url


@contextlib.contextmanager
def opened(name: str, broker: str, label: str = '') -> Iterator[Place]:
    """Make a place with an empty database, and drop it at the end.

    :param name: one of `cases.PLACES`, or MYSQL
    :param broker: the URL of a virtual host, for servers
    :param label: of the database, where several are open at a time
    :raises unittest.SkipTest: there is no server
    """
    with contextlib.ExitStack() as stack:
        made = stack.enter_context(tempfile.TemporaryDirectory(prefix='wl_bench_'))
        directory = pathlib.Path(made)
        if name in (POSTGRESQL, MYSQL):
            database = services.Database(name)
            database.name = f'wl_bench_{os.getpid()}{label}'
            stack.enter_context(database)
            url = database.url
        else:
            url, broker = f'sqlite:///{directory}/bench.sqlite', 'memory://'
        migration.upgrade(url)
        config_file = directory / 'bench.conf'
        config_file.write_text(
            _INI.format(
                directory=directory,
                database=url.replace('$', '$$'),
                broker=broker.replace('$', '$$'),
            )
        )
        config_file.chmod(0o600)
        yield Place(name, url, broker, directory, config_file)
