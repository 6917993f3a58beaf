"""Print skipped or failed tests of a run that was recorded as subunit.

``outcomes.py skipped FILE`` prints each skipped test with its reason, and fails if a
service was missing. ``outcomes.py failed FILE`` prints each failed test with the start
and the end of its traceback: the report in the message of an assertion and the logs
captured by a test can be so long that nothing else is read.
"""

import sys

import subunit
import testtools

#: The number of lines printed of the start and of the end of a traceback.
TRACEBACK_LINES = 30
MISSING_SERVICE = (' is not there (', 'needs a usable ')


def read_outcomes(path: str, statuses: frozenset[str]) -> list[dict]:
    outcomes = []

    def add_outcome(test: dict) -> None:
        if test['status'] in statuses:
            outcomes.append(test)

    result = testtools.StreamToDict(add_outcome)
    result.startTestRun()
    with open(path, 'rb') as stream:
        subunit.ByteStreamToStreamResult(stream, non_subunit_name='output').run(result)
    result.stopTestRun()
    return sorted(outcomes, key=lambda test: test['id'])


def print_skipped(path: str) -> int:
    lines = []
    for test in read_outcomes(path, frozenset({'skip'})):
        reason = test['details'].get('reason')
        lines.append(f'{test["id"]}: {reason.as_text().strip() if reason else ""}')
    print('\n'.join(lines) or 'no skipped tests')
    return int(any(text in line for line in lines for text in MISSING_SERVICE))


def shorten(lines: list[str]) -> list[str]:
    """Return lines without those in the middle, if there are too many."""
    left_out = len(lines) - 2 * TRACEBACK_LINES
    if left_out <= 0:
        return lines
    middle = f'[{left_out} lines]'
    return [*lines[:TRACEBACK_LINES], middle, *lines[-TRACEBACK_LINES:]]


def print_failed(path: str) -> int:
    failed = read_outcomes(path, frozenset({'fail', 'uxsuccess', 'inprogress'}))
    for test in failed:
        print(f'\n--- {test["id"]}: {test["status"]}')
        for name, detail in test['details'].items():
            if 'traceback' in name:
                print('\n'.join(shorten(detail.as_text().rstrip().splitlines())))
    return int(bool(failed))


if __name__ == '__main__':
    commands = {'skipped': print_skipped, 'failed': print_failed}
    sys.exit(commands[sys.argv[1]](sys.argv[2]))
