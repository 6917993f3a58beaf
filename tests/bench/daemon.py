"""The launcher: watcherlite in a process that counts its queries or samples itself.

    python -m tests.bench.daemon --config-file FILE --report FILE serve
    python -m tests.bench.daemon --config-file FILE --report FILE \\
        execute --shape chain --size 100 --spawned SECONDS

`serve` runs an applier. At SIGUSR1 and when it stops, it writes what it recorded
since the last report to the next of FILE.1, FILE.2, ... `execute` stores and executes
plans in one process and writes the measurements to FILE.1. `--count` counts
statements, commits and messages; `--sample` samples the stacks of threads. Timed runs
against servers do not use the launcher: they start what `watcherlite-applier` starts.
"""

import argparse
import json
import pathlib
import signal
from typing import Any

from tests.bench import in_process
from tests.bench.cases import CHAIN, PARALLEL
from tests.bench.instrumentation import Instrumentation
from watcherlite import bootstrap, conf
from watcherlite.domain.actions import APPLIER

_SIGNALS = (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT)


def serve(
    configuration: conf.Configuration, report: pathlib.Path, watch: Instrumentation
) -> None:
    """Serve the applier lane until SIGTERM."""
    runtime = bootstrap.Runtime(configuration, lanes=(APPLIER,))
    watch.install(runtime)
    runtime.start()
    number, stopping = 0, False
    while not stopping:
        number += 1
        stopping = signal.sigwait(_SIGNALS) != signal.SIGUSR1
        _write(report, number, watch.take())
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
    watch = Instrumentation(count=options.count, sample=options.sample)
    if options.command == 'serve':
        serve(configuration, options.report, watch)
        return
    found = in_process.execute(
        configuration,
        options.shape,
        options.size,
        options.repetitions,
        options.spawned,
        watch,
    )
    _write(options.report, 1, found)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog='python -m tests.bench.daemon')
    parser.add_argument('--config-file', required=True)
    parser.add_argument('--report', type=pathlib.Path, required=True)
    parser.add_argument('--count', action='store_true')
    parser.add_argument('--sample', action='store_true')
    commands = parser.add_subparsers(dest='command', required=True)
    commands.add_parser('serve')
    executing = commands.add_parser('execute')
    executing.add_argument('--shape', choices=(PARALLEL, CHAIN), required=True)
    executing.add_argument('--size', type=int, required=True)
    executing.add_argument('--repetitions', type=int, default=1)
    executing.add_argument('--spawned', type=float, required=True)
    return parser


if __name__ == '__main__':
    main()
