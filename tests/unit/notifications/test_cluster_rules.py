"""The notifications of the phases of actions on clusters and nodes."""

from tests import base
from tests.unit.notifications import expectations as stories
from watcherlite.domain import events
from watcherlite.engine.clusters import action_types
from watcherlite.notifications.rules import clusters as cluster_rules
from watcherlite.notifications.rules import subjects

ROWS = {events.CLUSTER: stories.CLUSTER, events.NODE: stories.NODE}


def told(name, old, new, row=stories.CLUSTER, **values):
    return stories.told(stories.phase_event(1, name, old, new, row=row, **values).event)


class TestPhases(base.TestCase):
    def test_each_action_has_a_start_an_end_and_an_error(self):
        self.assertEqual(
            [
                'INIT -> CREATING: create.start',
                'CREATING -> ACTIVE: create.end',
                'CREATING -> ERROR: create.error',
            ],
            [
                told('create.start', 'INIT', 'CREATING'),
                told('create.end', 'CREATING', 'ACTIVE'),
                told('create.error', 'CREATING', 'ERROR'),
            ],
        )

    def test_phase_without_state_change_is_notified(self):
        self.assertEqual(
            ['ACTIVE -> ACTIVE: check.end', 'WARNING -> WARNING: attach_policy.start'],
            [
                told('check.end', 'ACTIVE', 'ACTIVE', stories.NODE),
                told('attach_policy.start', 'WARNING', 'WARNING'),
            ],
        )

    def test_unknown_phase_is_rejected_by_name(self):
        for name, new, text in (
            ('join.start', 'ACTIVE', 'no cluster has a notification join.start'),
            ('create.middle', 'ACTIVE', 'no cluster has a notification create.middle'),
            ('create.end', 'SUCCEEDED', 'no cluster can be SUCCEEDED'),
        ):
            error = self.assertRaises(ValueError, told, name, 'ACTIVE', new)
            self.assertIn(text, str(error))

    def test_no_cluster_is_stored_or_deleted_by_itself(self):
        for kind in (events.CREATED, events.DELETED, events.SIGNALLED):
            error = self.assertRaises(
                ValueError, told, 'create.end', 'ACTIVE', 'ACTIVE', kind=kind
            )
            self.assertIn('no cluster ', str(error))


class TestTables(base.TestCase):
    def test_every_type_of_action_has_its_notifications(self):
        for subject, verbs, of_cluster in (
            (events.CLUSTER, cluster_rules.CLUSTER_ACTIONS, True),
            (events.NODE, cluster_rules.NODE_ACTIONS, False),
        ):
            kinds = [
                k
                for k in action_types.DEFINITIONS.values()
                if k.on_cluster == of_cluster
            ]
            self.assertEqual({kind.verb for kind in kinds}, set(verbs))
            for kind in kinds:
                event = stories.phase_event(
                    1, f'{kind.verb}.end', 'ACTIVE', 'ACTIVE', row=ROWS[subject]
                ).event
                self.assertEqual(kind.name, event.detail['action']['type'])

    def test_only_failures_have_priority_error(self):
        for key in ROWS:
            for name, row in subjects.SUBJECTS[key].notifications.items():
                expected = 'ERROR' if name.endswith('.error') else 'INFO'
                self.assertEqual(expected, row.priority, name)
