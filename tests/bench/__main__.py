"""How fast is it?

    python -m tests.bench core [--quick | --full] [--only NAME ...] [--json FILE]
    python -m tests.bench api [--quick] [--place NAME ...] [--json FILE]
    python -m tests.bench stacks [--quick] [--json FILE]
    python -m tests.bench clusters [--quick] [--json FILE]
    python -m tests.bench profile [--size N] [--chain] [--sqlite]

`core` measures the daemon beside the bare work of the same actions, prints tables
and writes all figures as JSON. `api` measures lists of large tables beside those of
small ones, requests beside a bare application, and the start of the command. `stacks`
creates, updates and deletes stacks of resources that do nothing, `clusters` creates,
checks and deletes clusters of such nodes. `profile` says where the time of one plan
goes.
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
    lists,
    operated,
    profiling,
    stacks,
)


def main() -> int:
    """Run the command line; 0 unless something could not be measured."""
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
        raise SystemExit(f'bench: no case has such a name; there are:\n  {names}')
    return core.run(chosen, options.rounds, options.json, _say)


def _api(options: argparse.Namespace) -> str:
    found = api.run(
        api.QUICK if options.quick else api.Extent(),
        options.place or api.PLACES,
        lists.pages(),
        options.json,
        _say,
    )
    text = api_report.text(found)
    if failures := api_report.failures(found):
        print(text)
        raise SystemExit(
            '\n'.join(('bench: lists that depend on the rows:', *failures))
        )
    return text


def _stacks(options: argparse.Namespace) -> str:
    return _operated(stacks.Stacks(), stacks.cases(quick=options.quick), options)


def _clusters(options: argparse.Namespace) -> str:
    return _operated(clusters.Clusters(), clusters.cases(quick=options.quick), options)


def _operated(
    subject: operated.Subject,
    chosen: list[operated.Case],
    options: argparse.Namespace,
) -> str:
    return operated.run(subject, chosen, options.rounds, options.json, _say)


def _profile(options: argparse.Namespace) -> str:
    case = cases.Case(
        cases.SQLITE if options.sqlite else cases.POSTGRESQL,
        cases.CHAIN if options.chain else cases.PARALLEL,
        options.size or (1000 if options.chain else 10_000),
    )
    return profiling.report(core.profile(case), case.size)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog='python -m tests.bench')
    commands = parser.add_subparsers(required=True)

    measured = commands.add_parser('core', help='how fast plans are executed')
    measured.add_argument(
        '--only',
        action='append',
        default=[],
        metavar='NAME',
        help='postgresql/chain/1000, or a part from the left, or a pattern; may be '
        'repeated',
    )
    extent = measured.add_mutually_exclusive_group()
    extent.add_argument(
        '--quick', action='store_true', help='nothing larger than 1000 actions'
    )
    extent.add_argument(
        '--full', action='store_true', help='the chains of 10000 actions too'
    )
    measured.add_argument('--rounds', type=int, default=3, help='of each case')
    measured.add_argument(
        '--json',
        type=pathlib.Path,
        default=pathlib.Path('bench-core.json'),
        metavar='FILE',
        help='where all figures go',
    )
    measured.set_defaults(run=_core)

    served = commands.add_parser('api', help='how fast the API answers')
    served.add_argument(
        '--place',
        action='append',
        default=[],
        choices=api.PLACES,
        help='only this database; may be repeated',
    )
    served.add_argument(
        '--quick', action='store_true', help='tables of 100000 rows, not 1000000'
    )
    served.add_argument(
        '--json',
        type=pathlib.Path,
        default=pathlib.Path('bench-api.json'),
        metavar='FILE',
        help='where all figures go',
    )
    served.set_defaults(run=_api)

    for name, parts, function in (
        ('stacks', 'resources', _stacks),
        ('clusters', 'nodes', _clusters),
    ):
        made = commands.add_parser(name, help=f'how fast {name} are made')
        made.add_argument(
            '--quick', action='store_true', help=f'nothing larger than 100 {parts}'
        )
        made.add_argument('--rounds', type=int, default=3, help='of each case')
        made.add_argument(
            '--json',
            type=pathlib.Path,
            default=pathlib.Path(f'bench-{name}.json'),
            metavar='FILE',
            help='where all figures go',
        )
        made.set_defaults(run=function)

    profiled = commands.add_parser('profile', help='where the time of one plan goes')
    profiled.add_argument('--size', type=int, help='actions of the plan')
    profiled.add_argument('--chain', action='store_true')
    profiled.add_argument('--sqlite', action='store_true')
    profiled.set_defaults(run=_profile)
    return parser


if __name__ == '__main__':
    sys.exit(main())
