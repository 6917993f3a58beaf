"""Check the installed packages for security advisories with pip-audit.

Known vulnerabilities fail. An index without advisories, or that cannot be reached, does
not fail, but is reported, so that the result is not mistaken for a clean audit.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

NOT_REACHABLE = 'advisories not reachable'
#: Seconds in total, and for one response.
TOTAL_TIMEOUT, TIMEOUT = 300, 10
COMMAND = (
    sys.executable,
    '-m',
    'pip_audit',
    '--local',
    '--skip-editable',
    '--progress-spinner=off',
    '--format=json',
    f'--timeout={TIMEOUT}',
)


def evaluate(report: Mapping[str, Any]) -> tuple[int, list[str]]:
    """Return the exit status and the lines to print for a report of pip-audit."""
    dependencies = report['dependencies']
    audited = [one for one in dependencies if 'vulns' in one]
    if not audited:
        return 0, [f'{NOT_REACHABLE}: the index knows none of the packages']
    found = [
        f'{one["name"]} {one["version"]}: {vulnerability["id"]}, fixed in '
        f'{", ".join(vulnerability["fix_versions"]) or "no release"}'
        for one in audited
        for vulnerability in one['vulns']
    ]
    skipped = len(dependencies) - len(audited)
    count = f'{len(audited)} packages audited, {skipped} without advisories'
    return int(bool(found)), [*found, count]


def main() -> int:
    """Print the report; return the exit status."""
    try:
        ended = subprocess.run(
            COMMAND, capture_output=True, text=True, timeout=TOTAL_TIMEOUT, check=False
        )
        report = json.loads(ended.stdout)
    except subprocess.TimeoutExpired:
        print(f'{NOT_REACHABLE}: pip-audit did not end within {TOTAL_TIMEOUT} s')
        return 0
    except ValueError:
        if 'No module named' in ended.stderr:
            print(ended.stderr.strip())
            return 1
        last = ended.stderr.strip().splitlines()[-1:]
        print(f'{NOT_REACHABLE}: {"".join(last)}')
        return 0
    status, lines = evaluate(report)
    print('\n'.join(lines))
    return status


if __name__ == '__main__':
    sys.exit(main())
