"""The benchmark of the core, the API, stacks and clusters.

    python -m tests.bench core [--quick | --full] [--only NAME ...] [--json FILE]
    python -m tests.bench api [--quick] [--database NAME ...] [--json FILE]
    python -m tests.bench stacks [--quick] [--json FILE]
    python -m tests.bench clusters [--quick] [--json FILE]
    python -m tests.bench profile [--size N] [--chain] [--sqlite]

`core` compares the daemon with a minimal program that writes the same rows and
messages, prints tables and writes all figures as JSON. `api` compares lists of large
and small tables, request rates with those of a minimal WSGI application, and the start
of the command with that of Python. `stacks` creates, updates and deletes stacks of
no-op resources, `clusters` creates, checks and deletes clusters of no-op nodes.
`profile` samples the threads of the daemon while it executes one plan.
"""

import argparse
import pathlib
import sys
import unittest

from tests.bench import (
    api,
    api_report,
    cases,
    clusters,
    core,
    engine_operations,
    lists,
    profile_report,
    stacks,
)


def main() -> int:
    """Run the command line; return 1 if a server is missing, otherwise 0."""
    options = _parser().parse_args()
    try:
        print(options.run(options))
    except unittest.SkipTest as error:
        print(f'bench: {error}', file=sys.stderr)
        return 1
    return 0


def _core(options: argparse.Namespace) -> str:
    matrix = cases.matrix(quick=options.quick, full=options.full)
    chosen = cases.chosen(matrix, options.only)
    if not chosen:
        names = '\n  '.join(case.name for case in matrix)
        raise SystemExit(f'bench: no case matches --only; the cases are:\n  {names}')
    return core.run(chosen, options.rounds, options.json, _say)


def _api(options: argparse.Namespace) -> str:
    found = api.run(
        api.QUICK if options.quick else api.Extent(),
        options.database or api.DEPLOYMENTS,
        lists.pages(),
        options.json,
        _say,
    )
    text = api_report.text(found)
    if failures := api_report.failures(found):
        print(text)
        raise SystemExit(
            '\n'.join(
                ('bench: lists whose cost depends on the size of the table:', *failures)
            )
        )
    return text


def _stacks(options: argparse.Namespace) -> str:
    return _operated(stacks.Stacks(), stacks.cases(quick=options.quick), options)


def _clusters(options: argparse.Namespace) -> str:
    return _operated(clusters.Clusters(), clusters.cases(quick=options.quick), options)


def _operated(
    subject: engine_operations.Subject,
    chosen: list[engine_operations.Case],
    options: argparse.Namespace,
) -> str:
    return engine_operations.run(subject, chosen, options.rounds, options.json, _say)


def _profile(options: argparse.Namespace) -> str:
    case = cases.Case(
        cases.SQLITE if options.sqlite else cases.POSTGRESQL,
        cases.CHAIN if options.chain else cases.PARALLEL,
        options.size or (1000 if options.chain else 10_000),
    )
    return profile_report.report(core.profile(case), case.size)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog='python -m tests.bench')
    commands = parser.add_subparsers(required=True)

    measured = commands.add_parser('core', help='measure the execution of plans')
    measured.add_argument(
        '--only',
        action='append',
        default=[],
        metavar='NAME',
        help='case to measure: postgresql/chain/1000, a prefix of it, or a pattern; '
        'may be repeated',
    )
    extent = measured.add_mutually_exclusive_group()
    extent.add_argument(
        '--quick', action='store_true', help='skip plans of more than 1000 actions'
    )
    extent.add_argument(
        '--full', action='store_true', help='add chains of 10000 actions'
    )
    measured.add_argument('--rounds', type=int, default=3, help='rounds of each case')
    measured.add_argument(
        '--json',
        type=pathlib.Path,
        default=pathlib.Path('bench-core.json'),
        metavar='FILE',
        help='write all figures to this file',
    )
    measured.set_defaults(run=_core)

    served = commands.add_parser('api', help='measure the API')
    served.add_argument(
        '--database',
        action='append',
        default=[],
        choices=api.DEPLOYMENTS,
        help='measure this database only; may be repeated',
    )
    served.add_argument(
        '--quick',
        action='store_true',
        help='use tables of 100000 rows instead of 1000000',
    )
    served.add_argument(
        '--json',
        type=pathlib.Path,
        default=pathlib.Path('bench-api.json'),
        metavar='FILE',
        help='write all figures to this file',
    )
    served.set_defaults(run=_api)

    for name, parts, function in (
        ('stacks', 'resources', _stacks),
        ('clusters', 'nodes', _clusters),
    ):
        made = commands.add_parser(name, help=f'measure operations on {name}')
        made.add_argument(
            '--quick', action='store_true', help=f'skip {name} of more than 100 {parts}'
        )
        made.add_argument('--rounds', type=int, default=3, help='rounds of each case')
        made.add_argument(
            '--json',
            type=pathlib.Path,
            default=pathlib.Path(f'bench-{name}.json'),
            metavar='FILE',
            help='write all figures to this file',
        )
        made.set_defaults(run=function)

    profiled = commands.add_parser('profile', help='profile the execution of one plan')
    profiled.add_argument('--size', type=int, help='number of actions of the plan')
    profiled.add_argument('--chain', action='store_true')
    profiled.add_argument('--sqlite', action='store_true')
    profiled.set_defaults(run=_profile)
    return parser


if __name__ == '__main__':
    sys.exit(main())
