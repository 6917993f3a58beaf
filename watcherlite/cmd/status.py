"""`watcherlite-status upgrade check`: checks whether the daemons can start.

Exit codes: 0 success, 1 warning, 2 failure.
"""

import argparse
import logging
import sys
import textwrap
from collections.abc import Iterator, Sequence

from watcherlite import conf
from watcherlite.cmd import arguments, exits, upgrade_checks
from watcherlite.conf import masking

COMMAND = 'watcherlite-status'
WIDTH = 72


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    return arguments.run(
        _parser(), argv, _check, failure=upgrade_checks.Outcome.FAILURE
    )


def _check(args: argparse.Namespace) -> int:
    if not args.debug:
        # What would be logged is in the table
        logging.getLogger().addHandler(logging.NullHandler())
    configuration = conf.new(arguments.for_configuration(args))
    results = list(upgrade_checks.run(configuration))
    for line in table(results):
        print(line)
    return int(max(result.outcome for result in results))


def table(results: Sequence[upgrade_checks.Result]) -> Iterator[str]:
    """Return the lines of the table, as `upgrade check` of other projects has it."""
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
    actions = arguments.add_part(parser, 'upgrade', 'before and after an upgrade')
    said = 'Check configuration, plugins, database, schema, notifications and broker.'
    actions.add_parser(
        'check',
        help=said,
        description=said,
        epilog='Exit codes: 0 success, 1 warning, 2 failure.',
    )
    return parser


if __name__ == '__main__':
    sys.exit(main())
