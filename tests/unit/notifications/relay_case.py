"""The base case of the tests of the relay.

Everything happens in the thread of the test: `run` is called, and the steps of the
script are executed while the relay waits.
"""

from tests import base
from tests.unit.notifications import expectations, outbox
from watcherlite import exceptions
from watcherlite.notifications.relay import Relay
from watcherlite.notifications.settings import NotificationSettings, RelaySettings

AWAY = exceptions.BrokerUnavailable('The message broker cannot be reached.')
NO_DATABASE = exceptions.StoreUnavailable('The database cannot be reached.')
LOST = exceptions.StoreConflict('The transaction lost against another one.')

TAKE = 'take relay for 40 s'
IDLE = ['read []', 'keep alive']
END = ['drop relay', 'close']


def started(sequence, plan_id=4):
    """Return the event of an action that has started: two messages."""
    action = expectations.ACTION.evolve(plan_id=plan_id)
    return expectations.action_event(sequence, 'READY', 'RUNNING', action=action)


def published(*sequences, within=30):
    """Return the calls for a batch of events of two messages each."""
    batch = list(sequences)
    return [
        f'read {batch}',
        f'publish {2 * len(batch)} within {within} s',
        f'mark {batch}',
    ]


class RelayTestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.reset()

    def reset(self, **options):
        """Create a new clock, store, broker and relay."""
        self.clock = outbox.Clock()
        self.calls = outbox.CallLog()
        self.store = outbox.Store(self.calls)
        self.publisher = outbox.Publisher(self.calls)
        self.relay = self.new_relay(**options)

    def new_relay(self, level='info', on_stored=None, jitter=1.0, **settings):
        relay = Relay(
            self.store,
            self.publisher,
            NotificationSettings('host', level=level),
            'worker-1',
            self.clock,
            RelaySettings(**settings),
            on_stored=on_stored,
            jitter=lambda: jitter,
        )
        self.clock.end = lambda: relay.stop(0.0)
        return relay

    def run_script(self, *script):
        """Run until the script ends; return the calls."""
        self.clock.script.extend(script)
        self.relay.run()
        return list(self.calls)

    def stored(self, *stored):
        """Return a function that stores events and wakes the relay, like a commit."""

        def commit():
            self.store.add(*stored)
            self.relay.wake()

        return commit

    def publish_slowly(self, seconds, then=lambda: None):
        """Let each publication take this time, and call a function afterwards."""
        publish = self.publisher.publish

        def slowly(messages, timeout):
            publish(messages, timeout)
            self.clock.seconds += seconds
            then()

        self.publisher.publish = slowly

    def ids(self):
        return [
            expectations.inner(message)['message_id']
            for message in self.publisher.arrived
        ]
