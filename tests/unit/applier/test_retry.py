"""The retry of a plan: its actions, and their order."""

import datetime
import functools

from tests import base, factories
from watcherlite import exceptions
from watcherlite.applier import retry
from watcherlite.domain.action_plans import REVERTING

LATER = factories.NOW + datetime.timedelta(days=1)
STARTED = ('PENDING', 'ONGOING', 'CANCELLING')


def actions(**states):
    """Return actions by name: (status, *parents)."""
    return [
        factories.make_action(
            id=number,
            uuid=f'uuid-{name}',
            name=name,
            status=status,
            parents=tuple(f'uuid-{parent}' for parent in parents),
        )
        for number, (name, (status, *parents)) in enumerate(states.items(), 1)
    ]


def retried(found, only=None, **plan):
    """Return name -> parents of the actions of the retry."""
    ended = factories.make_plan(**{'state': 'FAILED', **plan})
    document = retry.remaining_document(ended, found, only and f'uuid-{only}')
    return {action.name: action.parents for action in document.actions}


#: A diamond behind a chain; `copy` has failed.
DIAMOND = actions(
    drain=('SUCCEEDED',),
    copy=('FAILED', 'drain'),
    left=('CANCELLED', 'copy'),
    right=('SUCCEEDED', 'copy'),
    check=('SKIPPED', 'right', 'left'),
    undrain=('FAILED', 'check', 'drain'),
    report=('CANCELLED', 'drain'),
)


class TestRemainingDocument(base.TestCase):
    def test_a_retry_has_the_unsuccessful_actions_in_their_order(self):
        cases = {
            None: {
                'copy': (),
                'left': ('copy',),
                # Through actions that succeeded or were skipped.
                'undrain': ('copy', 'left'),
                'report': (),
            },
            'copy': {'copy': (), 'left': ('copy',), 'undrain': ('copy', 'left')},
            'left': {'left': (), 'undrain': ('left',)},
            'undrain': {'undrain': ()},
        }
        for only, expected in cases.items():
            for state in ('FAILED', 'CANCELLED'):
                self.assertEqual(expected, retried(DIAMOND, only, state=state), only)

    def test_the_document_is_that_of_the_actions(self):
        plan = factories.make_plan(
            state='FAILED', name='nightly', on_failure='stop', max_parallel=3
        )
        action = factories.make_action(
            name=None,
            status='FAILED',
            action_type='sleep',
            inputs={'duration': 1},
            timeout=60,
            target='host',
            not_before=LATER,
        )
        document = retry.remaining_document(plan, [action])

        self.assertEqual(
            ('nightly', 'stop', 3),
            (document.name, document.on_failure, document.max_parallel),
        )
        (found,) = document.actions
        self.assertEqual(
            (action.uuid, 'sleep', {'duration': 1}, 60, 'host', LATER),
            (
                *(found.name, found.action_type, found.input_parameters),
                *(found.timeout, found.target, found.not_before),
            ),
        )

    def test_derived_actions_are_left_to_theirs(self):
        (parent,) = actions(parent=('FAILED',))
        child = factories.make_action(
            id=9, name='child', status='FAILED', derived_from=parent.id
        )
        self.assertEqual({'parent': ()}, retried([parent, child]))

    def test_an_impossible_retry_is_refused_with_the_reason(self):
        state = "Couldn't retry when the state of the {} is '{}'{}"
        plan = functools.partial(state.format, 'action plan')
        action = functools.partial(state.format, 'action')
        wait = '. Wait until it has ended, or cancel it.'
        final = '; it has to be FAILED or CANCELLED.'
        succeeded = actions(a=('SUCCEEDED',))
        cases = [
            (DIAMOND, None, {'state': 'RECOMMENDED'}, plan('RECOMMENDED', final)),
            (DIAMOND, None, {'state': 'SUCCEEDED'}, plan('SUCCEEDED', final)),
            (DIAMOND, None, {'state': 'DELETED'}, plan('DELETED', final)),
            *((DIAMOND, None, {'state': s}, plan(s, wait)) for s in STARTED),
            (DIAMOND, None, {'stage': REVERTING}, 'was rolled back'),
            (DIAMOND, 'drain', {}, action('SUCCEEDED', final)),
            (DIAMOND, 'check', {}, action('SKIPPED', final)),
            (succeeded, None, {}, 'All actions of the action plan have succeeded.'),
        ]
        for found, only, changed, reason in cases:
            error = self.assertRaises(
                exceptions.Conflict, retried, found, only, **changed
            )
            self.assertIn(reason, str(error))

    def test_a_retry_with_too_many_dependencies_is_refused(self):
        side = 500
        firsts = [f'a{n}' for n in range(side)]
        found = actions(
            **dict.fromkeys(firsts, ('FAILED',)),
            middle=('SUCCEEDED', *firsts),
            **{f'b{n}': ('FAILED', 'middle') for n in range(side)},
        )
        error = self.assertRaises(exceptions.Conflict, retried, found)
        self.assertIn('more than 200000 dependencies', str(error))
