"""The notifications of the phases of actions on clusters and nodes."""

from tests import base
from tests.unit.notifications import expectations
from watcherlite.domain import events
from watcherlite.engine.clusters import action_types
from watcherlite.notifications.rules import clusters as cluster_rules

ROWS = {events.CLUSTER: expectations.CLUSTER, events.NODE: expectations.NODE}


def match(name, old, new, row=expectations.CLUSTER, **values):
    return expectations.match(
        expectations.phase_event(1, name, old, new, row=row, **values).event
    )


class TestPhases(base.TestCase):
    def test_each_phase_is_notified_with_or_without_a_change_of_state(self):
        for name, old, new, *row in (
            ('create.start', 'INIT', 'CREATING'),
            ('create.end', 'CREATING', 'ACTIVE'),
            ('create.error', 'CREATING', 'ERROR'),
            ('check.end', 'ACTIVE', 'ACTIVE', expectations.NODE),
            ('attach_policy.start', 'WARNING', 'WARNING'),
        ):
            self.assertEqual(f'{old} -> {new}: {name}', match(name, old, new, *row))

    def test_unknown_phase_is_rejected_by_name(self):
        for name, new, text in (
            ('join.start', 'ACTIVE', 'no cluster has a notification join.start'),
            ('create.middle', 'ACTIVE', 'no cluster has a notification create.middle'),
            ('create.end', 'SUCCEEDED', 'no cluster can be SUCCEEDED'),
        ):
            error = self.assertRaises(ValueError, match, name, 'ACTIVE', new)
            self.assertIn(text, str(error))

    def test_clusters_are_stored_and_deleted_by_actions_only(self):
        for kind in (events.CREATED, events.DELETED, events.SIGNALLED):
            error = self.assertRaises(
                ValueError, match, 'create.end', 'ACTIVE', 'ACTIVE', kind=kind
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
                event = expectations.phase_event(
                    1, f'{kind.verb}.end', 'ACTIVE', 'ACTIVE', row=ROWS[subject]
                ).event
                self.assertEqual(kind.name, event.detail['action']['type'])
