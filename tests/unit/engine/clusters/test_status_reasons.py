"""The status reasons of actions, with the texts of Senlin."""

from typing import Any

from tests.base import TestCase
from tests.factories import at, make_action
from watcherlite.domain.actions import COMPLETE
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.status_reasons import status_reason
from watcherlite.states import action as states


class TestStatusReason(TestCase):
    def test_every_type_has_the_success_text_of_senlin(self) -> None:
        shown = {
            kind: status_reason(of(kind, 'SUCCEEDED', inputs={'operation': 'patch'}))
            for kind in (*action_types.DEFINITIONS, 'command')
        }

        self.assertEqual(
            {
                'CLUSTER_CREATE': 'Cluster creation succeeded.',
                'CLUSTER_DELETE': 'Cluster deletion succeeded.',
                'CLUSTER_UPDATE': 'Cluster update completed.',
                'CLUSTER_ADD_NODES': 'Completed adding nodes.',
                'CLUSTER_DEL_NODES': 'Completed deleting nodes.',
                'CLUSTER_REPLACE_NODES': 'Completed replacing nodes.',
                'CLUSTER_RESIZE': 'Cluster resize succeeded.',
                'CLUSTER_SCALE_IN': 'Cluster scaling succeeded.',
                'CLUSTER_SCALE_OUT': 'Cluster scaling succeeded.',
                'CLUSTER_ATTACH_POLICY': 'Policy attached.',
                'CLUSTER_DETACH_POLICY': 'Policy detached.',
                'CLUSTER_UPDATE_POLICY': 'Policy updated.',
                'CLUSTER_CHECK': 'Cluster checking completed.',
                'CLUSTER_RECOVER': 'Cluster recovery succeeded.',
                'CLUSTER_OPERATION': "Cluster operation 'patch' completed.",
                'NODE_CREATE': 'Node created successfully.',
                'NODE_DELETE': 'Node deleted successfully.',
                'NODE_UPDATE': 'Node updated successfully.',
                'NODE_JOIN': 'Node successfully joined cluster.',
                'NODE_LEAVE': 'Node successfully left cluster.',
                'NODE_CHECK': 'Node check succeeded.',
                'NODE_RECOVER': 'Node recovered successfully.',
                'NODE_OPERATION': "Node operation 'patch' succeeded.",
                'command': 'Action completed successfully.',
            },
            shown,
        )

    def test_a_policy_that_was_already_attached_has_its_own_reason(self) -> None:
        outputs = {'reason': 'Policy already attached.'}

        shown = status_reason(of('CLUSTER_ATTACH_POLICY', 'SUCCEEDED', outputs=outputs))

        self.assertEqual('Policy already attached.', shown)

    def test_every_status_has_a_reason(self) -> None:
        for status in states.STATES:
            self.assertNotEqual('', status_reason(of('CLUSTER_CHECK', status)), status)

    def test_unsuccessful_actions_have_their_reasons(self) -> None:
        for status, message, text in (
            ('FAILED', 'Action failed in execute: no room', 'no room'),
            ('CANCELLED', 'Action was cancelled while it ran.', None),
            ('CANCELLED', None, 'Action execution cancelled'),
            ('SKIPPED', 'The cluster is locked', None),
        ):
            action = of('CLUSTER_CHECK', status, status_message=message)
            self.assertEqual(text or message, status_reason(action))

    def test_a_queued_action_names_the_holders_of_the_lock(self) -> None:
        under_way = of('CLUSTER_CHECK', 'WAITING', start_time=at(0), pending=2)
        queued = of('CLUSTER_CHECK', 'WAITING', blocked_on='c')
        many = [('NODE_CHECK', f'u{number}') for number in range(7)]

        self.assertEqual('Waiting for depended actions.', status_reason(under_way))
        self.assertEqual(
            'The action is queued: it waits for CLUSTER_UPDATE u.',
            status_reason(queued, [('CLUSTER_UPDATE', 'u')]),
        )
        self.assertEqual(
            'The action is queued: it waits for NODE_CHECK u0, NODE_CHECK u1, '
            'NODE_CHECK u2, NODE_CHECK u3, NODE_CHECK u4, 2 more.',
            status_reason(queued, many),
        )
        self.assertEqual(
            'The action is queued: it waits for its turn.', status_reason(queued)
        )

    def test_a_scheduled_action_has_its_time(self) -> None:
        due = '2026-03-29T01:31:15Z'
        for text, values in (
            (
                f'The action is scheduled; it does not start before {due}.',
                {'not_before': at(60)},
            ),
            (
                'Cluster checking completed. The next run does not start before '
                f'{due}.',
                {'not_before': at(60), 'end_time': at(0), 'interval': 60},
            ),
            ('All depended actions completed.', {'phase': COMPLETE}),
            ('The action is ready to be processed.', {}),
        ):
            self.assertEqual(
                text, status_reason(of('CLUSTER_CHECK', 'READY', **values))
            )


def of(action_type: str, status: str, **values: Any) -> Any:
    """Return an action of a type in a status."""
    return make_action(action_type=action_type, status=status, **values)
