"""`watcherlite-manage`: maintenance of the database.

Exit codes: see `exits`.
"""

import argparse
import datetime
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import bootstrap, conf, settings
from watcherlite.clock import UTC
from watcherlite.cmd import arguments, exits
from watcherlite.db.sqlalchemy import migration
from watcherlite.db.sqlalchemy.engine import make_engine

COMMAND = 'watcherlite-manage'
SQLITE = 'sqlite'
#: Number of plans that are deleted at a time.
BATCH = 1000
#: Default retention of ended plans in days.
KEPT_DAYS = 90


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""

    def work(args: argparse.Namespace) -> int:
        configuration = conf.new(arguments.for_configuration(args))
        conf.setup_logging(configuration, COMMAND)
        return int(args.action(configuration, args) or exits.SUCCESS)

    return arguments.run(_parser(), argv, work)


def upgrade(configuration: conf.Configuration, args: argparse.Namespace) -> None:
    """Upgrade the schema to the newest revision, or create it."""
    if conf.database_url(configuration).startswith(SQLITE):
        print(
            'SQLite needs no upgrade: watcherlite creates and upgrades the file '
            'whenever it opens it.'
        )
        return
    settings_without_timeout = migration.unlimited(
        settings.database_settings(configuration)
    )
    engine = make_engine(settings_without_timeout)
    try:
        before = migration.version(engine)
        migration.upgrade(engine)
        after = migration.version(engine)
    finally:
        engine.dispose()
    if before == after:
        print(f'The schema is already at revision {after}.')
    else:
        print(f'Upgraded the schema from revision {before or "none"} to {after}.')


def version(configuration: conf.Configuration, args: argparse.Namespace) -> None:
    """Print the revision of the schema."""
    if bootstrap.missing_file(configuration) is not None:
        print('none')
        return
    engine = make_engine(settings.database_settings(configuration))
    try:
        print(migration.version(engine) or 'none')
    finally:
        engine.dispose()


def stamp(configuration: conf.Configuration, args: argparse.Namespace) -> None:
    """Record a revision of the schema without changing the schema."""
    known = [*migration.REVISIONS, 'head']
    if args.revision not in known:
        raise exits.UsageError(
            f'unknown revision {args.revision}; the revisions are {", ".join(known)}'
        )
    engine = make_engine(settings.database_settings(configuration))
    try:
        migration.stamp(engine, args.revision)
        print(f'Stamped the schema with revision {migration.version(engine)}.')
    finally:
        engine.dispose()


def purge(configuration: conf.Configuration, args: argparse.Namespace) -> None:
    """Delete objects that ended long ago, with their published notifications."""
    if bootstrap.missing_file(configuration) is not None:
        print('The database does not exist yet.')
        return
    if not args.older_than and not (args.yes or args.dry_run):
        raise exits.UsageError(
            '--older-than 0 deletes everything that has ended; confirm with --yes, or '
            'use --dry-run first'
        )
    before = datetime.datetime.now(UTC) - datetime.timedelta(days=args.older_than)
    store = bootstrap.open_store(configuration)
    totals: dict[str, int] = {}
    left = args.max_number
    try:
        store.check()
        # Scripts are not asked for confirmation.
        if not (args.yes or args.dry_run) and sys.stdin.isatty():
            desired = _format_counts(store.purge(before, left, True))
            if not exits.confirm(f'Permanently delete {desired}? [y/N] '):
                print('Nothing was deleted.')
                return
        while left:
            limit = left if args.dry_run else min(left, BATCH)
            counts = store.purge(before, limit, args.dry_run)
            for name, count in counts.items():
                totals[name] = totals.get(name, 0) + count
            left -= counts['action_plans']
            if args.dry_run or counts['action_plans'] < limit:
                break
    finally:
        store.close()
    verb = 'Would delete' if args.dry_run else 'Deleted'
    print(f'{verb}: {_format_counts(totals)}.')


def _format_counts(counts: Mapping[str, int]) -> str:
    counted = [f'{count} {name.replace("_", " ")}' for name, count in counts.items()]
    return ', '.join(counted) or 'nothing'


def reencrypt(configuration: conf.Configuration, args: argparse.Namespace) -> None:
    """Encrypt all secrets with the first key, also those stored unencrypted."""
    if bootstrap.missing_file(configuration) is not None:
        print('The database does not exist yet.')
        return
    store = bootstrap.open_store(configuration)
    try:
        store.check()
        counts = store.reencrypt()
    finally:
        store.close()
    counted = ', '.join(
        f'{count} {table.replace("_", " ")}' for table, count in counts.items() if count
    )
    print(f'Encrypted: {counted}.' if counted else 'All secrets are already encrypted.')


def reseal(configuration: conf.Configuration, args: argparse.Namespace) -> None:
    """Run `reencrypt` by its earlier name, which is deprecated."""
    print(f'{COMMAND}: "db reseal" is deprecated; use "db reencrypt"', file=sys.stderr)
    reencrypt(configuration, args)


def _parser() -> argparse.ArgumentParser:
    parser = arguments.command(COMMAND, 'Manage the database of watcherlite.')
    commands = arguments.add_command_group(parser, 'db', 'the database')

    def add(name: str, action: object) -> argparse.ArgumentParser:
        description = (action.__doc__ or '').partition('\n')[0]
        found = commands.add_parser(name, help=description, description=description)
        found.set_defaults(action=action)
        return found

    add('upgrade', upgrade)
    add('version', version)
    add('stamp', stamp).add_argument(
        'revision', metavar='REVISION', help='a revision, or head for the newest'
    )
    add('reencrypt', reencrypt)
    # Without help, so that the list of commands omits it.
    commands.add_parser('reseal').set_defaults(action=reseal)
    purging = add('purge', purge)
    purging.add_argument(
        '--older-than',
        type=_days,
        default=KEPT_DAYS,
        metavar='DAYS',
        help=f'minimum age in days since the end; default: {KEPT_DAYS}',
    )
    purging.add_argument(
        '--max-number',
        type=_number,
        default=2**31 - 1,
        metavar='N',
        help='maximum number of action plans, the oldest first; default: all',
    )
    purging.add_argument(
        '--dry-run', action='store_true', help='only count what would be deleted'
    )
    purging.add_argument(
        '--yes',
        action='store_true',
        help='do not ask for confirmation; without a terminal, only --older-than 0 '
        'needs it',
    )
    return parser


def _days(text: str) -> float:
    return _parse_bounded(text, float, 0, 36525, 'a number of days')


def _number(text: str) -> int:
    return _parse_bounded(text, int, 1, 2**31 - 1, 'a number of plans')


def _parse_bounded(
    text: str, kind: Callable[[str], Any], least: float, most: float, what: str
) -> Any:
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not least <= value <= most:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not {what} from {least} to {most}'
        )
    return value


if __name__ == '__main__':
    sys.exit(main())
