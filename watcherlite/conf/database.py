"""[database]: where everything is kept, and how to reach it."""

import pathlib

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'database',
    title='Database',
    help='The database is the truth: plans, actions, owners and the notifications '
    'that are not sent yet. SQLite serves one machine; PostgreSQL, MariaDB and MySQL '
    'serve any number of them.',
)

OPTS = [
    cfg.StrOpt(
        'connection',
        secret=True,
        sample_default='sqlite:///$state_path/watcherlite.sqlite',
        help='The database as an SQLAlchemy URL, for instance '
        'postgresql+psycopg://USER:PASSWORD@HOST/watcherlite or '
        'mysql+pymysql://USER:PASSWORD@HOST/watcherlite. Set it as soon as daemons '
        'on more than one machine share the work, or when plans are large. In this '
        'file a dollar sign of a password is written $$.',
    ),
    cfg.IntOpt(
        'max_pool_size',
        default=5,
        min=1,
        max=1000,
        help='The most connections that one process keeps open. A daemon writes '
        'through one connection and reads through few others, so that the default '
        'serves most. Raise it when the log tells of waiting for a connection; the '
        'server has to allow as many for all processes together.',
    ),
    cfg.IntOpt(
        'pool_timeout',
        default=30,
        min=1,
        help='Seconds to wait for a free connection of the pool before an operation '
        'fails. Lower it when callers rather want an early error than a late answer.',
    ),
    cfg.IntOpt(
        'connect_timeout',
        default=5,
        min=1,
        help='Seconds to wait for the server to accept a connection. Raise it when '
        'the server is far away, or slow to accept connections under load. SQLite '
        'makes no use of it.',
    ),
    cfg.IntOpt(
        'statement_timeout',
        default=60,
        min=1,
        help='Seconds after which the server gives up a statement, so that nothing '
        'waits for ever on a lock that a lost client holds. Raise it when a purge of '
        'a very large database needs longer. SQLite makes no use of it.',
    ),
    cfg.IntOpt(
        'busy_timeout',
        default=10,
        min=1,
        help='Seconds to wait for a lock that another process holds, before a '
        'transaction is given up and tried again: on the file of SQLite, on rows of '
        'a server (lock_timeout of PostgreSQL, innodb_lock_wait_timeout of MariaDB '
        'and MySQL). Raise it when the disk is slow and the log tells of a locked '
        'database, or of a lock that was waited for too long.',
    ),
    cfg.StrOpt(
        'sqlite_synchronous',
        default='FULL',
        ignore_case=True,
        choices=[
            ('FULL', 'what was written survives a power failure'),
            ('NORMAL', 'a power failure may undo the last moments, never mix them'),
        ],
        help='How long SQLite waits for the disk when it commits. NORMAL is faster, '
        'and good enough for a laptop or for tests; an action that was started '
        'within the last moments before a power failure may then run twice.',
    ),
]


def database_url(conf: cfg.ConfigOpts) -> str:
    """Return the URL of the database: as set, or SQLite's under `state_path`.

    The directory of that file is made by `default.state_directory`. A path that
    begins with ~/ is in the home directory of the user.
    """
    home = 'sqlite:///~/'
    if not conf.database.connection:
        directory = pathlib.Path(conf.state_path).expanduser().absolute()
        return f'sqlite:///{directory}/watcherlite.sqlite'
    if conf.database.connection.startswith(home):
        path = conf.database.connection.removeprefix(home)
        return f'sqlite:///{pathlib.Path.home()}/{path}'
    return str(conf.database.connection)
