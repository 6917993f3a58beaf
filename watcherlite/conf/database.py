"""[database]: the connection to the database."""

import pathlib

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'database',
    title='Database',
    help='The database stores all state: plans, actions, owners and pending '
    'notifications. SQLite serves one machine; PostgreSQL, MariaDB and MySQL '
    'serve any number of them.',
)

OPTS = [
    cfg.StrOpt(
        'connection',
        secret=True,
        sample_default='sqlite:///$state_path/watcherlite.sqlite',
        help='The database as an SQLAlchemy URL, for instance '
        'postgresql+psycopg://USER:PASSWORD@HOST/watcherlite or '
        'mysql+pymysql://USER:PASSWORD@HOST/watcherlite. Set it if daemons on '
        'several machines share the work, or if plans are large. Write a dollar '
        'sign in a password as $$ in this file.',
    ),
    cfg.IntOpt(
        'max_pool_size',
        default=5,
        min=1,
        max=1000,
        help='The maximum number of connections of one process. A daemon writes '
        'through one connection and reads through a few others, so the default '
        'suits most deployments. Raise it when the log reports waits for a '
        'connection; the server must allow the sum for all processes.',
    ),
    cfg.IntOpt(
        'pool_timeout',
        default=30,
        min=1,
        help='Seconds to wait for a free connection of the pool before an operation '
        'fails. Lower it if callers prefer an early error.',
    ),
    cfg.IntOpt(
        'connect_timeout',
        default=5,
        min=1,
        help='Seconds to wait for the server to accept a connection. Raise it when '
        'the server is remote, or slow under load. Not used with SQLite.',
    ),
    cfg.IntOpt(
        'statement_timeout',
        default=60,
        min=1,
        help='The statement timeout of the server in seconds, so that no statement '
        'waits indefinitely for a lock of a lost client. Raise it if purging a '
        'very large database takes longer. Not used with SQLite.',
    ),
    cfg.IntOpt(
        'busy_timeout',
        default=10,
        min=1,
        help='Seconds to wait for a lock that another process holds, before a '
        'transaction is rolled back and retried: on the file of SQLite, on rows '
        'of a server (lock_timeout of PostgreSQL, innodb_lock_wait_timeout of '
        'MariaDB and MySQL). Raise it when the disk is slow and the log reports '
        'a locked database or lock timeouts.',
    ),
    cfg.StrOpt(
        'sqlite_synchronous',
        default='FULL',
        ignore_case=True,
        choices=[
            ('FULL', 'commits survive a power failure'),
            (
                'NORMAL',
                'a power failure may lose the last commits, but not corrupt '
                'the database',
            ),
        ],
        help='The synchronous setting of SQLite. NORMAL is faster, and suitable for '
        'laptops and tests; an action that was started immediately before a '
        'power failure may then run twice.',
    ),
]


def database_url(conf: cfg.ConfigOpts) -> str:
    """Return the URL of the database: the option, or that of SQLite under `state_path`.

    The directory of that file is created by `default.state_directory`. A path that
    starts with ~/ is in the home directory of the user.
    """
    home = 'sqlite:///~/'
    if not conf.database.connection:
        directory = pathlib.Path(conf.state_path).expanduser().absolute()
        return f'sqlite:///{directory}/watcherlite.sqlite'
    if conf.database.connection.startswith(home):
        path = conf.database.connection.removeprefix(home)
        return f'sqlite:///{pathlib.Path.home()}/{path}'
    return str(conf.database.connection)
