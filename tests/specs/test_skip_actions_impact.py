"""Spec 000: skip actions. One class per paragraph about its impact.

`test_skip_actions_api` covers the impact on the REST API.
"""

from typing import Any

from tests.functional.cli.test_real_api import RealApiCase
from tests.specs.published import published
from tests.specs.skip_case import SkipCase
from tests.unit.notifications import expectations
from tests.worlds import action
from watcherlite.db.sqlalchemy import tables

BY_USER = 'Action skipped by user. Reason: not tonight'
BY_ITSELF = 'Action was skipped automatically: the instance does not exist'


class TestDataModelImpact(SkipCase):
    """A column status_message of type String(255), of actions and of action plans."""

    def test_both_tables_have_the_column(self) -> None:
        found = tables.metadata.tables
        self.assertEqual(
            {'actions': 'VARCHAR(255)', 'action_plans': 'VARCHAR(255)'},
            {
                name: str(found[name].c.status_message.type)
                for name in ('actions', 'action_plans')
            },
        )


class TestNotificationsImpact(SkipCase):
    """Notifications of actions and of action plans have the new field."""

    def notifications(self) -> dict[str, list[tuple[str, str, Any]]]:
        """Return uuid -> (event type, state, status message) of the notifications."""
        found: dict[str, list[tuple[str, str, Any]]] = {}
        for message in published(self.world.store):
            notification = expectations.inner(message)
            data = notification['payload']['watcher_object.data']
            found.setdefault(data['uuid'], []).append(
                (notification['event_type'], data['state'], data['status_message'])
            )
        return found

    def test_notifications_name_skipped_actions_and_reasons(self) -> None:
        plan = self.world.create('a', action('b', 'gone'))
        self.skip('a', 'not tonight')
        self.world.worker()
        self.world.plans.start(plan.uuid)
        ended = self.world.wait_until_ended(plan)
        found = self.notifications()
        a, b = (self.world.action(name).uuid for name in 'ab')
        for uuid, message in ((a, BY_USER), (b, BY_ITSELF)):
            self.assertEqual(
                [
                    ('action.create', 'PENDING', None),
                    ('action.update', 'SKIPPED', message),
                ],
                found[uuid],
            )
        first = f'One or more actions were skipped. Action {a} was skipped by user.'
        both = f'{first} Action {b} was skipped automatically.'
        self.assertEqual((both, 2), (ended.status_message, ended.skipped))
        self.assertEqual(
            [
                ('actionplan.create', 'RECOMMENDED', None),
                ('actionplan.update', 'RECOMMENDED', first),
                ('actionplan.update', 'PENDING', first),
                ('actionplan.update', 'ONGOING', first),
                ('actionplan.execution.start', 'ONGOING', first),
                ('actionplan.update', 'SUCCEEDED', both),
                ('actionplan.execution.end', 'SUCCEEDED', both),
            ],
            found[plan.uuid],
        )


class TestOtherEndUserImpact(RealApiCase):
    """`action update --state skipped --message`, and the displayed status messages."""

    def test_an_action_is_skipped_and_its_message_shown(self) -> None:
        path = self.home / 'plan.json'
        path.write_text(
            '{"actions": [{"name": "a", "action_type": "nop", '
            '"input_parameters": {"message": "a"}}]}'
        )
        plan = self.rows('actionplan', 'create', str(path))['UUID']
        (listed,) = self.rows('action', 'list', '--action-plan', plan)
        uuid = listed['UUID']

        updated = self.rows(
            *('action', 'update', '--state', 'skipped'),
            *('--message', 'not tonight', uuid),
        )
        shown = self.rows('action', 'show', uuid)
        plan_shown = self.rows('actionplan', 'show', plan)

        self.assertEqual(
            ('SKIPPED', BY_USER), (shown['State'], shown['Status Message'])
        )
        self.assertEqual(shown, updated)
        self.assertEqual(
            f'One or more actions were skipped. Action {uuid} was skipped by user.',
            plan_shown['Status Message'],
        )
