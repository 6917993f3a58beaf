"""The benchmark of the core, the API, stacks and clusters.

    python -m tests.bench core [--quick | --full] [--only NAME ...] [--json FILE]
    python -m tests.bench api [--quick] [--database NAME ...] [--json FILE]
    python -m tests.bench stacks [--quick] [--json FILE]
    python -m tests.bench clusters [--quick] [--json FILE]
    python -m tests.bench waiting [--quick] [--json FILE]
    python -m tests.bench servers [--quick] --cloud NAME --endpoint NAME=URL ...

`core` compares the daemon with a minimal program that writes the same rows and
messages, prints tables and writes all figures as JSON. `api` compares lists of large
and small tables, request rates with those of a minimal WSGI application, and the start
of the command with that of Python. `stacks` creates, updates and deletes stacks of
no-op resources, `clusters` creates, checks and deletes clusters of no-op nodes.
`waiting` executes plans whose actions wait for a service or for a time. `servers`
creates and deletes stacks of servers in a cloud through running services.
"""

import argparse
import functools
import pathlib
import sys
import unittest
from collections.abc import Callable

from tests.bench import (
    api,
    api_report,
    cases,
    clusters,
    core,
    engine_operations,
    servers,
    stacks,
    waiting,
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
    return core.run(chosen, options.rounds, options.json)


def _api(options: argparse.Namespace) -> str:
    extent = api.QUICK if options.quick else api.Extent()
    found = api.run(extent, options.database or api.DEPLOYMENTS, options.json)
    text = api_report.text(found)
    if failures := api_report.failures(found):
        print(text)
        reason = 'bench: lists whose cost depends on the size of the table:'
        raise SystemExit('\n'.join((reason, *failures)))
    return text


def _operations(subject: engine_operations.Subject, options: argparse.Namespace) -> str:
    chosen = engine_operations.cases(subject.shapes, quick=options.quick)
    return engine_operations.run(subject, chosen, options.rounds, options.json)


def _waiting(options: argparse.Namespace) -> str:
    chosen = waiting.CASES[:1] if options.quick else waiting.CASES
    return waiting.run(chosen, options.rounds, options.json)


def _servers(options: argparse.Namespace) -> str:
    endpoints = servers.named_endpoints(options.endpoint)
    size = servers.QUICK if options.quick else servers.SIZE
    return servers.run(size, options.rounds, options.cloud, endpoints, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog='python -m tests.bench')
    commands = parser.add_subparsers(required=True)
    repeated = argparse.ArgumentParser(add_help=False)
    repeated.add_argument('--rounds', type=int, default=3, help='rounds of each case')

    def measuring(
        name: str, what: str, quick: str, run: Callable[[argparse.Namespace], str]
    ) -> tuple[argparse.ArgumentParser, argparse._MutuallyExclusiveGroup]:
        """Add a command; return its parser and the options of its extent."""
        parents = [] if name == 'api' else [repeated]
        command = commands.add_parser(name, help=f'measure {what}', parents=parents)
        extent = command.add_mutually_exclusive_group()
        extent.add_argument('--quick', action='store_true', help=quick)
        command.add_argument(
            '--json',
            type=pathlib.Path,
            default=pathlib.Path(f'bench-{name}.json'),
            metavar='FILE',
            help='write all figures to this file',
        )
        command.set_defaults(run=run)
        return command, extent

    skipped = 'skip plans of more than 1000 actions'
    measured, extent = measuring('core', 'the execution of plans', skipped, _core)
    extent.add_argument(
        '--full', action='store_true', help='add chains of 10000 actions'
    )
    measured.add_argument(
        '--only',
        action='append',
        default=[],
        metavar='NAME',
        help='case to measure: postgresql/chain/1000, a prefix of it, or a pattern; '
        'may be repeated',
    )
    smaller = 'use tables of 100000 rows instead of 1000000'
    served, _ = measuring('api', 'the API', smaller, _api)
    served.add_argument(
        '--database',
        action='append',
        default=[],
        choices=api.DEPLOYMENTS,
        help='measure this database only; may be repeated',
    )
    measuring('waiting', 'actions that wait', 'skip the sleeping actions', _waiting)
    smaller = f'create {servers.QUICK} servers instead of {servers.SIZE}'
    real, _ = measuring('servers', 'stacks of servers in a cloud', smaller, _servers)
    real.add_argument(
        '--cloud', required=True, metavar='NAME', help='a cloud of clouds.yaml'
    )
    real.add_argument(
        '--endpoint',
        action='append',
        required=True,
        metavar='NAME=URL',
        help='an orchestration API, as heat=http://127.0.0.1:8004/v1; may be repeated',
    )
    for name, parts, subject in (
        ('stacks', 'resources', stacks.Stacks()),
        ('clusters', 'nodes', clusters.Clusters()),
    ):
        skipped = f'skip {name} of more than 100 {parts}'
        run = functools.partial(_operations, subject)
        measuring(name, f'operations on {name}', skipped, run)
    return parser


if __name__ == '__main__':
    sys.exit(main())
