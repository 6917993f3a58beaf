"""Third-party plugins in a real daemon: their errors harm only their own actions."""

from tests.acceptance.command import UUID
from tests.acceptance.daemons import APPLIER, DaemonTestCase
from tests.acceptance.target import APPLIED, APPLY, BEGIN, RECEIVED

ONCE = [(BEGIN, 1, RECEIVED), (APPLY, 1, APPLIED)]
FAULTS = {
    f'{how} in {where}': {'how': how, 'where': where}
    for how in ('raises', 'invalid', 'exits', 'hangs')
    for where in ('pre_condition', 'execute', 'post_condition')
    # The return value of a post_condition is ignored.
    if (how, where) != ('invalid', 'post_condition')
}
INVALID = '{} returned a dict, which is not an outcome'
ATTEMPTS = 2


class ThirdPartyTest(DaemonTestCase):
    database = None
    broker = False

    def setUp(self):
        super().setUp()
        lane = {
            'lease': 30,
            'sweep_interval': 0.2,
            'max_attempts': ATTEMPTS,
            'max_parallel': 4,
        }
        self.path = self.ini(applier=lane)
        self.operators = self.operator(self.path)
        self.applier = self.start_ready(APPLIER, self.path)

    def test_third_party_plugins_are_used_and_their_defects_contained(self):
        operator = self.operators
        (worker,) = self.applier.workers()

        uuid = operator.start(
            ('marks', 'mark', {}),
            ('is missing a library', 'absent', {}),
            ('is no module', 'quits', {}),
        )

        self.assertEqual('FAILED', operator.wait_until_ended(uuid))
        self.assertEqual({'marks': ONCE}, self.target.calls_by_action())
        self.assertEqual(
            {
                'is missing a library': 'Action failed in pre_condition: The action '
                'type absent (zeta_absent:Absent) cannot be used: ModuleNotFoundError: '
                "No module named 'zeta_library_that_is_not_there'",
                'is no module': 'Action failed in pre_condition: The action type quits '
                "(zeta_quits:Quits) cannot be used: its module called sys.exit('usage: "
                "zeta_quits FILE') while it was imported",
            },
            operator.messages(uuid),
        )
        for name in ('absent', 'quits'):
            self.applier.wait_for_text(f'The action type {name} ')
        uuid = operator.start(
            *((name, 'faulty', inputs) for name, inputs in FAULTS.items()),
            ('last', 'mark', {}, *FAULTS),
            timeouts={name: 1 for name in FAULTS if name.startswith('hangs')},
        )
        other = operator.start(('other', 'mark', {}))

        self.assertEqual('SUCCEEDED', operator.wait_until_ended(other))
        self.assertEqual('FAILED', operator.wait_until_ended(uuid))
        self.assertEqual(
            {name: f'Action failed in {reason(**how)}' for name, how in FAULTS.items()},
            operator.messages(uuid),
        )
        self.assertEqual(
            {
                **{name: [(BEGIN, 1, RECEIVED)] for name in FAULTS},
                **dict.fromkeys(('marks', 'last', 'other'), ONCE),
            },
            self.target.calls_by_action(),
        )
        # One process executed everything, and is still running.
        self.assertEqual({worker}, self.target.pids())
        self.assertEqual({worker}, self.applier.workers())

    def test_an_action_that_kills_its_workers_fails(self):
        operator = self.operators

        uuid = operator.start(
            ('dies', 'faulty', {'how': 'dies', 'where': 'execute'}),
            ('after', 'mark', {}, 'dies'),
        )
        self.target.wait_for_calls(1)
        other = operator.start(*((name, 'mark', {}) for name in 'abc'))

        self.assertEqual('FAILED', operator.wait_until_ended(other, uuid))
        self.assertEqual('SUCCEEDED', operator.plan(other).state)
        runs = [(BEGIN, n + 1, RECEIVED) for n in range(ATTEMPTS)]
        calls = self.target.calls_by_action()
        self.assertEqual(runs, calls['dies'])
        self.assertEqual(ONCE, calls['after'])
        self.assertEqual(
            len(runs), len({c.pid for c in self.target.calls() if c.name == 'dies'})
        )
        self.assertRegex(
            operator.messages(uuid)['dies'],
            rf'\AWorker {UUID.pattern} was lost while the action ran; it is not tried '
            rf'again after {len(runs)} lost workers\.\Z',
        )


def reason(how, where):
    """Return the status message of a fault, after `Action failed in`."""
    if how == 'hangs':
        # An action executes until its end is durable.
        where = 'execute' if where == 'post_condition' else where
    text = {
        'raises': 'RuntimeError',
        'invalid': INVALID.format(where),
        'exits': 'SystemExit',
        'hangs': 'it ran longer than its timeout',
    }[how]
    return f'{where}: {text}'
