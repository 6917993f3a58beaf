"""`watcherlite-status upgrade check`: checks whether the daemons can start.

Exit codes: 0 success, 1 warning, 2 failure.
"""

import argparse
import dataclasses
import datetime
import enum
import logging
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence

from watcherlite import bootstrap, conf, exceptions
from watcherlite.api.monitoring.health import LATE
from watcherlite.clock import UTC
from watcherlite.cmd import arguments, exits
from watcherlite.conf import masking
from watcherlite.db.api import Store
from watcherlite.plugins import loader


class Outcome(enum.IntEnum):
    """The outcome of a check; the worst one is the exit code."""

    SUCCESS = 0
    WARNING = 1
    FAILURE = 2


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """A line of the table."""

    check: str
    outcome: Outcome
    details: str


def run(configuration: conf.Configuration) -> Iterator[Result]:
    """Yield the results, in the order in which to solve the problems."""
    plugins = loader.load(options=configuration)
    yield _configuration(configuration)
    yield _plugins(plugins)
    yield _advisories(configuration)
    yield _secrets(configuration)
    yield from _database(configuration)
    yield _broker(configuration)


def _configuration(configuration: conf.Configuration) -> Result:
    problems = [*conf.bad_values(configuration), *conf.unknown_options(configuration)]
    if problems:
        return Result('configuration', Outcome.FAILURE, '; '.join(problems))
    return Result('configuration', Outcome.SUCCESS, 'all options are valid')


def _advisories(configuration: conf.Configuration) -> Result:
    # The encryption key has its own check.
    found = conf.advisories(configuration, keys=False)
    if found:
        return Result('files', Outcome.WARNING, '; '.join(found))
    return Result(
        'files',
        Outcome.SUCCESS,
        'all files are readable, and protected from other users',
    )


def _plugins(plugins: loader.Plugins) -> Result:
    entries = plugins.entries()
    broken = [f'{e.name} ({e.target}): {e.error}' for e in entries if e.error]
    if broken:
        return Result('plugins', Outcome.WARNING, '; '.join(broken))
    return Result('plugins', Outcome.SUCCESS, f'{len(entries)} plugins are usable')


def _secrets(configuration: conf.Configuration) -> Result:
    path = conf.key_file(configuration)
    if configuration.secrets.encryption_keys or path.exists():
        try:
            keys = conf.sealing_keys(configuration, make=False)
        except exceptions.WatcherliteError as error:
            return Result('secrets', Outcome.FAILURE, str(error))
        if configuration.secrets.encryption_keys:
            details = (
                f'encrypted with the first of {len(keys.values)} keys; store the '
                'keys separately from the backups of the database'
            )
            return Result('secrets', Outcome.SUCCESS, details)
    if not conf.database_url(configuration).startswith('sqlite'):
        return Result('secrets', Outcome.WARNING, conf.key_advice(configuration))
    if path.exists() and path.stat().st_mode & 0o077:
        return Result(
            'secrets',
            Outcome.WARNING,
            f'the key file {path} is readable by other users; run chmod 600 on it',
        )
    made = 'is in' if path.exists() else 'will be created on first use, in'
    return Result(
        'secrets',
        Outcome.SUCCESS,
        f'the key {made} {path}; backups of the database are unusable without it',
    )


def _database(configuration: conf.Configuration) -> Iterator[Result]:
    missing = bootstrap.missing_file(configuration)
    if missing is not None:
        yield Result(
            'database', Outcome.SUCCESS, f'{missing} will be created on first use'
        )
        return
    try:
        store = bootstrap.open_store(configuration)
    except exceptions.SchemaMismatch as error:
        yield Result('schema', Outcome.FAILURE, str(error))
        return
    except exceptions.WatcherliteError as error:
        yield Result('database', Outcome.FAILURE, str(error))
        return
    try:
        yield from _store(store, lambda: datetime.datetime.now(UTC))
    finally:
        store.close()


def _store(store: Store, now: Callable[[], datetime.datetime]) -> Iterator[Result]:
    try:
        store.check()
    except exceptions.SchemaMismatch as error:
        yield Result('database', Outcome.SUCCESS, 'reachable')
        yield Result('schema', Outcome.FAILURE, str(error))
        return
    except exceptions.WatcherliteError as error:
        yield Result('database', Outcome.FAILURE, str(error))
        return
    yield Result('database', Outcome.SUCCESS, 'reachable')
    yield Result('schema', Outcome.SUCCESS, 'up to date')
    oldest = store.oldest_pending_event()
    age = 0.0 if oldest is None else (now() - oldest).total_seconds()
    if age > LATE:
        yield Result(
            'notifications',
            Outcome.WARNING,
            f'the oldest unsent notification has waited for {age:.0f} s; check that a '
            'daemon runs and that the broker accepts messages',
        )
    else:
        yield Result('notifications', Outcome.SUCCESS, 'no backlog')


def _broker(configuration: conf.Configuration) -> Result:
    try:
        if bootstrap.check_broker(configuration, 'watcherlite-status'):
            return Result('broker', Outcome.SUCCESS, 'reachable')
        return Result(
            'broker', Outcome.SUCCESS, 'not in use: messages stay within each process'
        )
    except exceptions.ConfigurationError as error:
        return Result('broker', Outcome.FAILURE, str(error))
    except exceptions.BrokerUnavailable as error:
        # Plans run without a broker; notifications are delayed.
        return Result('broker', Outcome.WARNING, str(error))


COMMAND = 'watcherlite-status'
WIDTH = 72


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    return arguments.run(_parser(), argv, _check, failure=Outcome.FAILURE)


def _check(args: argparse.Namespace) -> int:
    if not args.debug:
        # The table contains what would be logged.
        logging.getLogger().addHandler(logging.NullHandler())
    configuration = conf.new(arguments.for_configuration(args))
    results = list(run(configuration))
    for line in table(results):
        print(line)
    return int(max(result.outcome for result in results))


def table(results: Sequence[Result]) -> Iterator[str]:
    """Return the lines of the table, in the layout of oslo.upgradecheck."""
    blocks = [['Upgrade Check Results']]
    for result in results:
        details = masking.mask_text(f'Details: {exits.one_line(result.details)}')
        blocks.append(
            [
                f'Check: {result.check}',
                f'Result: {result.outcome.name.capitalize()}',
                *textwrap.wrap(details, WIDTH, break_long_words=False),
            ]
        )
    width = max(len(line) for block in blocks for line in block)
    edge = f'+{"-" * (width + 2)}+'
    for block in blocks:
        yield edge
        for line in block:
            yield f'| {line:<{width}} |'
    yield edge


def _parser() -> argparse.ArgumentParser:
    parser = arguments.command(COMMAND, 'Check an installation of watcherlite.')
    commands = arguments.add_command_group(
        parser, 'upgrade', 'before and after an upgrade'
    )
    description = (
        'Check configuration, plugins, database, schema, notifications and broker.'
    )
    commands.add_parser(
        'check',
        help=description,
        description=description,
        epilog='Exit codes: 0 success, 1 warning, 2 failure.',
    )
    return parser


if __name__ == '__main__':
    sys.exit(main())
