"""The contract of every bus."""

from tests.functional.messaging import recording
from watcherlite import exceptions
from watcherlite.messaging import codec

RUN = {'type': 'run_actions'}


def launch(plan):
    return {'type': 'launch_action_plan', 'plan': plan}


class BusContract:
    """Tests for a TestCase with two methods.

    `open_bus()` returns the bus of another worker, which the test case closes;
    `dead_letters(count)` returns the bodies of dead commands once there are as many.
    """

    def worker(self, lanes=('applier',), commands=None, controls=None):
        """Start a worker; return its bus and the recorders of its messages."""
        commands = commands or recording.Recorder()
        controls = controls or recording.Recorder()
        bus = self.open_bus()
        bus.start(lanes, commands.command, controls.control)
        self.assertTrue(bus.wait_until_consuming(recording.TIMEOUT))
        return bus, commands, controls

    def test_a_command_reaches_the_workers_of_its_lane_only(self):
        bus, applier, _ = self.worker(['applier'])
        _, engine, _ = self.worker(['engine'])

        bus.send_command('applier', launch('p1'))
        bus.send_command('engine', RUN)

        self.assertEqual([('applier', launch('p1'))], applier.wait_for(1))
        self.assertEqual([('engine', RUN)], engine.wait_for(1))

    def test_commands_are_shared_and_each_is_handled_once(self):
        both = recording.Recorder()
        first = recording.Recorder(lambda item: both.command(*item))
        second = recording.Recorder(lambda item: both.command(*item))
        bus, _, _ = self.worker(commands=first)
        other, _, _ = self.worker(commands=second)
        sent = [launch(f'p{number}') for number in range(40)]

        for command in sent:
            bus.send_command('applier', command)
        both.wait_for(len(sent))
        bus.close(recording.TIMEOUT)
        other.close(recording.TIMEOUT)

        self.assertEqual(
            sorted(command['plan'] for command in sent),
            sorted(command['plan'] for _, command in both.seen),
        )
        self.assertNotEqual([], first.seen)
        self.assertNotEqual([], second.seen)

    def test_a_broadcast_reaches_every_worker(self):
        bus, _, first = self.worker(['applier'])
        _, _, second = self.worker(['engine'])
        message = {'type': 'work_available', 'plans': ['p1', 'p2']}

        bus.broadcast(message)

        self.assertEqual([message], first.wait_for(1))
        self.assertEqual([message], second.wait_for(1))

    def test_a_command_waits_for_the_first_worker_of_its_lane(self):
        bus, _, _ = self.worker(['engine'])

        bus.send_command('applier', RUN)
        _, commands, _ = self.worker(['applier'])

        self.assertEqual([('applier', RUN)], commands.wait_for(1))

    def test_a_handler_that_always_raises_makes_a_dead_letter(self):
        bus, commands, _ = self.worker(commands=recording.Recorder(recording.broken))

        bus.send_command('applier', RUN)

        self.assertEqual([codec.encode(RUN)], self.dead_letters(1))
        # The first delivery and the five repetitions that the limit allows.
        self.assertEqual([('applier', RUN)] * 6, commands.seen)
        self.assertEqual(6, bus.counters.failed)

    def test_a_handler_that_raises_once_gets_the_command_again(self):
        def fail_first(item):
            if len(commands.seen) == 1:
                recording.broken(item)

        commands = recording.Recorder(fail_first)
        bus, _, _ = self.worker(commands=commands)

        bus.send_command('applier', RUN)
        bus.send_command('applier', launch('after'))

        self.assertEqual(
            [launch('after'), RUN, RUN],
            sorted((item for _, item in commands.wait_for(3)), key=str),
        )

    def test_an_invalid_command_becomes_a_dead_letter_at_once(self):
        def refuse(item):
            raise exceptions.Invalid('no such type')

        bus, commands, _ = self.worker(commands=recording.Recorder(refuse))

        bus.send_command('applier', RUN)

        self.assertEqual([codec.encode(RUN)], self.dead_letters(1))
        self.assertEqual([('applier', RUN)], commands.seen)
        self.assertEqual((1, 0), (bus.counters.malformed, bus.counters.failed))

    def test_a_broadcast_handler_that_raises_is_not_called_again(self):
        bus, _, controls = self.worker(controls=recording.Recorder(recording.broken))

        bus.broadcast({'type': 'first'})
        bus.broadcast({'type': 'second'})

        self.assertEqual([{'type': 'first'}, {'type': 'second'}], controls.wait_for(2))

    def test_an_invalid_message_or_lane_is_rejected_for_the_sender(self):
        bus = self.open_bus()

        for call in (
            lambda: bus.send_command('applier', {'plan': 'p1'}),
            lambda: bus.send_command('applier', {'type': 'x', 'count': 3}),
            lambda: bus.broadcast({'type': 'x', 'version': '2'}),
            lambda: bus.send_command('missing', RUN),
            lambda: bus.start(['missing'], print, print),
        ):
            self.assertRaises(exceptions.Invalid, call)

    def test_a_closed_bus_delivers_nothing_and_closes_again(self):
        bus, commands, _ = self.worker()

        bus.close(recording.TIMEOUT)
        bus.close(recording.TIMEOUT)
        bus.send_command('applier', RUN)

        self.assertEqual([], commands.seen)
        self.assertEqual(1, bus.counters.dropped)
        self.assertFalse(bus.wait_until_consuming(0))

    def test_a_bus_that_was_never_used_closes(self):
        bus = self.open_bus()

        bus.close(recording.TIMEOUT)

        self.assertFalse(bus.wait_until_consuming(0))
