"""The benchmark of actions that wait: for a service, or for a time.

Each case is one plan, executed by `watcherlite run` on SQLite: one process, one worker.
"""

import contextlib
import dataclasses
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tests.bench import report

_ROOT = pathlib.Path(__file__).parents[2]
_INI = """\
[DEFAULT]
state_path = {path}
[outgoing_http]
allowed_networks = 127.0.0.0/8
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """Actions of one type, all of which wait.

    :param seconds: for which each action waits
    """

    name: str
    size: int
    seconds: float


CASES = (Case('http_request', 2000, 0.2), Case('sleep', 10_000, 20.0))


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """The figures of a round.

    :param seconds: from the start of the process to its end
    :param cpu: seconds of the process
    :param server: counters of the server, if there is one
    """

    case: Case
    seconds: float
    cpu: float
    server: Mapping[str, int]


def run(cases: Sequence[Case], rounds: int, path: pathlib.Path) -> str:
    """Measure, write the document, and return the table."""
    rows = []
    for case in cases:
        for number in range(rounds):
            row = _measure(case)
            rows.append(row)
            report.say(f'{case.name}, round {number + 1}: {row.seconds:.1f} s')
            path.write_text(json.dumps([dataclasses.asdict(r) for r in rows], indent=1))
    return '\n'.join(map(_line, rows))


def _line(row: Row) -> str:
    case = row.case
    text = (
        f'{case.size} x {case.name} of {case.seconds:g} s: {row.seconds:.1f} s, '
        f'{1000 * row.cpu / case.size:.2f} ms of CPU time an action'
    )
    if row.server:
        text += (
            f'; {row.server["connections"]} connections, at most {row.server["most"]} '
            'concurrent requests'
        )
    return text


def _measure(case: Case) -> Row:
    """Execute the plan of a case in a new process."""
    with (
        tempfile.TemporaryDirectory(prefix='wl_bench_') as directory,
        _serve(case) as (url, counts),
    ):
        folder = pathlib.Path(directory)
        (folder / 'bench.conf').write_text(_INI.format(path=folder))
        plan = folder / 'plan.json'
        plan.write_text(json.dumps({'actions': list(_actions(case, url))}))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.monotonic()
        done = subprocess.run(
            [
                *(sys.executable, '-c'),
                'import sys; from watcherlite.cli.main import main; sys.exit(main())',
                *('--config-file', str(folder / 'bench.conf'), 'run', str(plan)),
                *('-o', 'json'),
            ],
            cwd=_ROOT,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise AssertionError('\n'.join(done.stderr.splitlines()[-20:]))
        seconds = time.monotonic() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Row(case, seconds, cpu, counts())


def _actions(case: Case, url: str) -> Iterator[dict[str, Any]]:
    inputs: dict[str, Any] = {'method': 'GET', 'url': url}
    if case.name == 'sleep':
        inputs = {'duration': case.seconds}
    for number in range(case.size):
        yield {
            'name': f'a{number}',
            'action_type': case.name,
            'input_parameters': inputs,
        }


@contextlib.contextmanager
def _serve(case: Case) -> Iterator[tuple[str, Callable[[], Mapping[str, int]]]]:
    """Start the server of a case; yield its URL and a function for its counters."""
    if case.name == 'sleep':
        yield '', dict
        return
    with subprocess.Popen(
        [sys.executable, '-m', 'tests.bench.slow_server', str(case.seconds)],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout
        port = int(stdout.readline())

        def counts() -> Mapping[str, int]:
            stdin.write('\n')
            stdin.flush()
            found: Mapping[str, int] = json.loads(stdout.readline())
            return found

        try:
            yield f'http://127.0.0.1:{port}/', counts
        finally:
            process.kill()
