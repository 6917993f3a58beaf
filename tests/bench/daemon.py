"""The launcher: watcherlite in a process that counts its queries.

    python -m tests.bench.daemon --config-file FILE --report FILE serve
    python -m tests.bench.daemon --config-file FILE --report FILE \\
        execute --shape chain --size 100 --spawned SECONDS

`serve` runs an applier and counts its statements, commits and messages. At SIGUSR1 and
when it stops, it writes the counts since the last report to the next of FILE.1,
FILE.2, ... `execute` stores and executes plans in one process and writes the
measurements to FILE.1; with `--count` it counts, too. Timed runs against servers do not
use the launcher: they start what `watcherlite-applier` starts.
"""

import argparse
import json
import pathlib
import signal
from typing import Any

from tests.bench import in_process
from tests.bench.cases import CHAIN, PARALLEL
from tests.bench.query_counters import Counters
from watcherlite import bootstrap, conf
from watcherlite.domain.actions import APPLIER

_SIGNALS = (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT)


def serve(configuration: conf.Configuration, report: pathlib.Path) -> None:
    """Serve the applier lane until SIGTERM."""
    runtime = bootstrap.Runtime(configuration, lanes=(APPLIER,))
    counters = Counters()
    counters.install(runtime)
    runtime.start()
    number, stopping = 0, False
    while not stopping:
        number += 1
        stopping = signal.sigwait(_SIGNALS) != signal.SIGUSR1
        _write(report, number, counters.take())
    runtime.stop()


def _write(report: pathlib.Path, number: int, seen: dict[str, Any]) -> None:
    """Write a report atomically."""
    draft = report.with_name(f'{report.name}.draft')
    draft.write_text(json.dumps(seen))
    draft.rename(f'{report}.{number}')


def main() -> None:
    """Run the command line."""
    options = _parser().parse_args()
    if options.command == 'serve':
        # Threads inherit the mask; only the main thread waits for these signals.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    configuration = conf.new([f'--config-file={options.config_file}'])
    conf.setup_logging(configuration, 'bench')
    if options.command == 'serve':
        serve(configuration, options.report)
        return
    found = in_process.execute(
        configuration,
        options.shape,
        options.size,
        options.repetitions,
        options.spawned,
        count=options.count,
    )
    _write(options.report, 1, found)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog='python -m tests.bench.daemon')
    parser.add_argument('--config-file', required=True)
    parser.add_argument('--report', type=pathlib.Path, required=True)
    commands = parser.add_subparsers(dest='command', required=True)
    commands.add_parser('serve')
    executing = commands.add_parser('execute')
    executing.add_argument('--shape', choices=(PARALLEL, CHAIN), required=True)
    executing.add_argument('--size', type=int, required=True)
    executing.add_argument('--repetitions', type=int, default=1)
    executing.add_argument('--count', action='store_true')
    executing.add_argument('--spawned', type=float, required=True)
    return parser


if __name__ == '__main__':
    main()
