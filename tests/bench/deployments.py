"""Deployments to measure: an empty database, a broker, a directory, an ini file."""

import contextlib
import dataclasses
import os
import pathlib
import tempfile
from collections.abc import Iterable, Iterator

from tests import services
from tests.bench.cases import POSTGRESQL, SQLITE
from watcherlite.db.sqlalchemy import migration

#: Not among `cases.DEPLOYMENTS`: only lists are measured on it.
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
class Deployment:
    """A deployment that is ready for use.

    :param database: an SQLAlchemy URL
    :param broker: the URL of a broker; memory:// for the one in the process
    :param directory: for the files of the processes
    :param config_file: the two URLs, with defaults for all other options
    """

    name: str
    database: str
    broker: str
    directory: pathlib.Path
    config_file: pathlib.Path


@contextlib.contextmanager
def broker(names: Iterable[str]) -> Iterator[str]:
    """Create a virtual host for servers, yield its URL, and delete it.

    :param names: of deployments; if all are SQLITE, yield ''
    :raises unittest.SkipTest: there is no broker, or rabbitmqctl is not usable
    """
    if set(names) <= {SQLITE}:
        yield ''
        return
    own = services.RabbitVhost()
    own.name = f'wl_bench_{os.getpid()}'
    with own:
        if not own.isolated:
            raise RuntimeError(
                'rabbitmqctl cannot create a virtual host for the benchmark'
            )
        yield own.url


@contextlib.contextmanager
def opened(name: str, broker: str, label: str = '') -> Iterator[Deployment]:
    """Create a deployment with an empty database, yield it, and drop the database.

    :param name: one of `cases.DEPLOYMENTS`, or MYSQL
    :param broker: the URL of a virtual host, for servers
    :param label: suffix of the database name, if several are open
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
        yield Deployment(name, url, broker, directory, config_file)
