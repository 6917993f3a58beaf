"""Streams of the events of a running plan."""

import json

from tests.unit.api.infra_optim.handlers.case import HandlerCase
from tests.worlds import kind
from watcherlite.api import errors
from watcherlite.api.event_streams import TooManyStreams
from watcherlite.api.infra_optim.histories import BEGIN, END
from watcherlite.api.operation import Response
from watcherlite.domain.action_plans import ActionPlan

EVENTS = '/v1/action_plans/{uuid}/events'


class TestPlanEventStream(HandlerCase):
    def follow(self, plan: ActionPlan, **request: object) -> Response:
        return self.call(
            'GET', EVENTS, path={'uuid': plan.uuid}, event_stream=True, **request
        )

    def test_stream_has_all_events_and_ends(self) -> None:
        gate = self.create_gate()
        world = self.create_world({'waits': kind(execute=gate)})
        self.services = self.services_of(world)
        streams = self.services.streams
        worker = world.worker()
        worker.add_listener(lambda stored: streams.wake())
        plan = world.start({'name': 'a', 'action_type': 'waits'})
        gate.wait_until_entered()

        answer = self.follow(plan)
        assert answer.stream is not None
        chunks = [next(answer.stream), next(answer.stream)]
        self.assertEqual(1, streams.open)
        gate.open()
        chunks += answer.stream

        self.assertEqual((BEGIN, END), (chunks[0], chunks[-1]))
        received = [
            json.loads(line.removeprefix('data: '))
            for line in b''.join(chunks[1:-1]).decode().splitlines()
            if line.startswith('data: ')
        ]
        self.assertEqual(
            [
                ('action_plan', None, 'RECOMMENDED'),
                ('action', None, 'PENDING'),
                ('action_plan', 'RECOMMENDED', 'PENDING'),
                ('action_plan', 'PENDING', 'ONGOING'),
                ('action', 'PENDING', 'ONGOING'),
                ('action', 'ONGOING', 'SUCCEEDED'),
                ('action_plan', 'ONGOING', 'SUCCEEDED'),
            ],
            [
                (each['subject'], each['old_state'], each['new_state'])
                for each in received
            ],
        )
        self.assertEqual(0, streams.open)

    def test_excess_stream_is_rejected_with_retry_after(self) -> None:
        plan = self.world.create('a')
        self.services = self.services_of(self.world, max_event_streams=1)
        first = self.follow(plan)
        refusal = self.assertRaises(TooManyStreams, self.follow, plan)
        fault = errors.fault_of(refusal, '')
        self.assertEqual((503, {'Retry-After': '10'}), (fault.status, fault.headers))
        self.assertIn('All 1 event streams', fault.text)
        assert first.stream is not None
        first.stream.close()  # type: ignore[attr-defined]
        self.assertEqual(200, self.follow(plan).status)

    def test_deletion_of_plan_ends_its_stream(self) -> None:
        plan = self.world.create('a')
        answer = self.follow(plan)
        self.world.plans.delete(plan.uuid)
        assert answer.stream is not None
        self.assertEqual(END, list(answer.stream)[-1])

    def test_client_with_all_events_of_ended_plan_gets_204(self) -> None:
        plan = self.world.create('a')
        self.world.plans.cancel(plan.uuid)
        last = self.world.store.list_events(plan_id=plan.id)[-1].sequence
        known = self.follow(plan, last_event_id=str(last))
        self.assertEqual((204, None), (known.status, known.stream))
        unknown = self.follow(plan, last_event_id=str(last - 1))
        self.assertEqual(200, unknown.status)

    def test_request_without_event_stream_returns_page(self) -> None:
        plan = self.world.create('a')
        answer = self.call('GET', EVENTS, path={'uuid': plan.uuid}, query={'limit': 1})
        self.assertEqual(1, len(answer.body['events']))
        self.assertTrue(answer.body['next'].endswith('?after=1&limit=1'))
