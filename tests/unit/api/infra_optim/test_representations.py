"""The representations of objects, compatible with Watcher."""

from typing import Any

import jsonschema

from tests import base, factories
from tests.factories import NOW, at
from tests.unit.api.infra_optim import fakes
from tests.worlds import kind
from watcherlite import exceptions
from watcherlite.api import operation
from watcherlite.api.infra_optim import handlers
from watcherlite.api.infra_optim.histories import History
from watcherlite.api.infra_optim.schemas import audit_templates as template_schemas
from watcherlite.api.infra_optim.schemas import strategies as strategy_schemas
from watcherlite.api.operation import Request
from watcherlite.db import query
from watcherlite.domain.audits import AuditTemplate
from watcherlite.domain.events import STATE_CHANGED, Event, StoredEvent
from watcherlite.plugins.loader import Plugins
from watcherlite.plugins.openstack.strategies.basic import Basic
from watcherlite.plugins.strategies.dummy import Dummy
from watcherlite.states import action as states

UUID = '11111111-1111-4111-8111-111111111111'
SECRETS = {'password': 'sesame', 'para1': 3.2}
MASKED = {'password': '***', 'para1': 3.2}


def request(**parts: Any) -> Request:
    """Return a request of the last version."""
    return fakes.request(fakes.services(**parts), version=(1, 7))


class TestPlans(base.TestCase):
    def test_plan_in_list_has_names_of_relations_and_links(self) -> None:
        saved = {'name': 'saved', 'description': 'd', 'unit': '%', 'value': 50.0}
        nodes = {'name': 'nodes', 'description': 'd', 'unit': None, 'value': 2.0}
        plan = factories.make_plan(
            uuid=UUID,
            state='RECOMMENDED',
            global_efficacy=[saved],
            efficacy_indicators=[nodes],
        )
        listed = query.ListedPlan(plan, 'an audit', 'a strategy', 'dummy')
        self.assertEqual(
            {
                'uuid': UUID,
                'state': 'RECOMMENDED',
                'audit_uuid': 'an audit',
                'strategy_uuid': 'a strategy',
                'strategy_name': 'dummy',
                'efficacy_indicators': [nodes],
                'global_efficacy': [saved],
                'updated_at': None,
                'links': [
                    {'href': f'{fakes.HOST}/v1/action_plans/{UUID}', 'rel': 'self'},
                    {'href': f'{fakes.HOST}/action_plans/{UUID}', 'rel': 'bookmark'},
                ],
            },
            handlers.action_plans.represent(request(), listed, False),
        )


class TestActions(base.TestCase):
    def shown(self, **values: Any) -> dict[str, Any]:
        types = Plugins.of(action_types={'nop': kind(description='It does nothing.')})
        listed = query.ListedAction(factories.make_action(uuid=UUID, **values), 'p')
        return handlers.actions.represent(request(plugins=types), listed, True)

    def test_deleted_action_has_state_deleted_and_masked_inputs(self) -> None:
        shown = self.shown(
            status=states.SUCCEEDED,
            deleted_at=NOW,
            inputs={'url': 'http://u:s3@h/', 'auth': {'token': 's3'}},
        )
        self.assertEqual(
            ('DELETED', {'url': 'http://u:***@h/', 'auth': {'token': '***'}}),
            (shown['state'], shown['input_parameters']),
        )


class TestAudits(base.TestCase):
    def test_row_times_have_offset_and_schedule_times_have_none(self) -> None:
        audit = factories.make_audit(
            1,
            uuid=UUID,
            parameters=SECRETS,
            start_time=NOW,
            end_time=at(60),
            next_run_time=at(3600),
            updated_at=at(1),
        )
        listed = query.ListedAudit(audit, UUID, 'dummy', UUID, 'actuator')
        shown = handlers.audits.represent(request(), listed, True)
        self.assertEqual(
            {
                'next_run_time': '2026-03-29T02:30:15.123456',
                'start_time': '2026-03-29T01:30:15.123456',
                'end_time': '2026-03-29T01:31:15.123456',
                'created_at': '2026-03-29T01:30:15.123456+00:00',
                'updated_at': '2026-03-29T01:30:16.123456+00:00',
                'deleted_at': None,
            },
            {name: shown[name] for name in shown if name.endswith(('_at', '_time'))},
        )
        self.assertEqual(MASKED, shown['parameters'])


class TestAuditTemplates(base.TestCase):
    def test_credentials_in_parameters_are_masked(self) -> None:
        template = AuditTemplate(
            UUID, 'nightly', 1, id=1, default_parameters=SECRETS, created_at=NOW
        )
        listed = query.ListedTemplate(template, UUID, 'dummy', None, None)

        shown = handlers.audit_templates.represent(request(), listed, True)

        self.assertEqual(MASKED, shown['default_parameters'])
        jsonschema.validate(shown, operation.at(template_schemas.TEMPLATE, (1, 7)))


class TestServices(base.TestCase):
    """A service is one lane of one worker."""

    def test_last_seen_time_is_end_of_lease_or_now(self) -> None:
        workers = [
            query.ListedWorker(1, UUID, 'host', ('applier',), NOW, at(130), True),
            query.ListedWorker(2, UUID, 'host', ('applier',), NOW, at(90), False),
        ]
        alive, lost = handlers.services.of_workers(workers, at(100))

        self.assertEqual((at(100), at(90)), (alive.last_seen_up, lost.last_seen_up))


class InstalledPlugins:
    """Plugins, three of which are usable, without a cloud and a datasource.

    It is its own dependency of operations.
    """

    is_configured = False

    def __init__(self, datasource: str | None = None) -> None:
        self.plugins = self.datasources = self.clouds = self
        self._datasource = datasource

    def plugin(self, namespace: str, name: str) -> type:
        found = {'dummy': Dummy, 'basic': Basic}.get(name)
        if namespace != 'watcherlite.strategies' or found is None:
            raise exceptions.PluginNotFound(f'There is no strategy {name}.')
        return found

    def find_named(self, metrics: Any) -> tuple[str, None]:
        if self._datasource is None:
            raise exceptions.ConfigurationError('No datasource is configured')
        return self._datasource, None


class TestRequirements(base.TestCase):
    """The requirements of a strategy, as `strategy state` displays them."""

    def test_a_strategy_names_its_metrics_and_models(self) -> None:
        services = InstalledPlugins('prometheus')
        services.is_configured = True

        without = handlers.strategies.requirements('basic', InstalledPlugins())
        shown = handlers.strategies.requirements('basic', services)

        names = ('host_cpu_usage', 'instance_cpu_usage')
        self.assertEqual(
            [
                ('Datasource', 'not available', True, 'No datasource is configured'),
                ('Metrics', [{name: 'not available'} for name in names], False, ''),
            ],
            [tuple(one.values()) for one in without[:2]],
        )
        self.assertEqual('prometheus: available', shown[0]['state'])
        self.assertEqual([{name: 'available'} for name in names], shown[1]['state'])
        self.assertEqual(
            ({'compute_model': 'available'}, True, 'It reads compute.'),
            (shown[2]['state'][0], shown[2]['mandatory'], shown[2]['comment']),
        )
        jsonschema.validate(shown, operation.at(strategy_schemas.STATE, (1, 0)))

    def test_no_requirement_is_mandatory_and_models_are_missing(self) -> None:
        shown = handlers.strategies.requirements('dummy', InstalledPlugins())
        gone = handlers.strategies.requirements('gone', InstalledPlugins())

        missing = 'Datasource is not presented for this strategy'
        models = [
            {f'{name}_model': 'not available'}
            for name in ('compute', 'storage', 'baremetal')
        ]
        self.assertEqual(
            [
                {'type': kind, 'state': state, 'mandatory': mandatory, 'comment': ''}
                for kind, state, mandatory in (
                    ('Datasource', missing, False),
                    ('Metrics', [], False),
                    ('CDM', models, False),
                    ('Name', 'dummy', ''),
                )
            ],
            shown,
        )
        jsonschema.validate(shown, operation.at(strategy_schemas.STATE, (1, 0)))
        self.assertEqual('There is no strategy gone.', gone[-1]['comment'])


def stored(subject: str, old: str | None, new: str, **values: Any) -> StoredEvent:
    """Return an event of a change of state."""
    event = Event(
        *(subject, STATE_CHANGED, 1, 2, old, new, 'why', 'ONGOING', None, NOW),
        **{'uuid': UUID, **values},
    )
    return StoredEvent(7, event, 'a-uuid', 'drain', 'nop')


class TestEvents(base.TestCase):
    def test_event_of_action_has_all_fields(self) -> None:
        shown = handlers.events.represent(stored('action', 'READY', 'RUNNING'))
        self.assertEqual(
            {
                'sequence': 7,
                'uuid': UUID,
                'occurred_at': '2026-03-29T01:30:15.123456+00:00',
                'subject': 'action',
                'kind': 'state_changed',
                'action_uuid': 'a-uuid',
                'action_name': 'drain',
                'action_type': 'nop',
                'old_state': 'PENDING',
                'new_state': 'ONGOING',
                'suspended': False,
                'message': 'why',
                'detail': None,
            },
            shown,
        )

    def test_states_are_mapped_by_subject_and_credentials_masked(self) -> None:
        secret, masked = ({'fault': {'password': text}} for text in ('s3', '***'))
        ongoing = ('ONGOING', 'ONGOING')
        for subject, old, new, detail, expected in (
            (
                *('action_plan', 'ONGOING', 'CANCELLING', None),
                ('ONGOING', 'CANCELLING', False, None),
            ),
            ('action', None, 'INIT', None, (None, 'PENDING', False, None)),
            # A started action that waits is ONGOING.
            (
                'action',
                'RUNNING',
                'WAITING',
                {'started': True},
                (*ongoing, False, None),
            ),
            ('action', 'RUNNING', 'SUSPENDED', None, (*ongoing, True, None)),
            (
                'action',
                'RUNNING',
                'FAILED',
                secret,
                ('ONGOING', 'FAILED', False, masked),
            ),
        ):
            found = handlers.events.represent(stored(subject, old, new, detail=detail))
            names = ('old_state', 'new_state', 'suspended', 'detail')
            self.assertEqual(expected, tuple(found[name] for name in names))

    def test_event_in_stream_is_one_line_with_sequence(self) -> None:
        history = History('events', handlers.events.represent, self.fail, self.fail)
        chunk = history.chunk(stored('action', None, 'INIT')).decode()
        self.assertRegex(chunk, r'\Aid: 7\ndata: \{"sequence": 7, .*\}\n\n\Z')
