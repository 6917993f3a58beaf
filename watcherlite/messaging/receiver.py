"""Consumes commands and broadcasts in a thread that owns the connection."""

import collections
import functools
import logging
import threading
import uuid
from collections.abc import Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.messaging import (
    bus,
    codec,
    connection,
    declaring,
    hearing,
    reconnecting,
    settings,
    topology,
)

LOG = logging.getLogger(__name__)
#: Deliveries that a worker is given ahead: few, since those that it has when it stops
#: count as delivered once.
_PREFETCH = 10
#: Seconds until a stop is noticed on a silent connection.
_LOOK = 0.5
#: The same while commands wait for their acknowledgement, which this thread sends.
_SOON = 0.01
#: Seconds between two checks of the hearing, where there is no heartbeat.
_CHECK = 15.0


class Receiver:
    """Feeds the handlers of one worker, through any number of connections."""

    def __init__(
        self,
        connector: connection.Connector,
        messaging: settings.MessagingSettings,
        counts: bus.Counts,
        lanes: Sequence[str],
        on_command: bus.OnCommand,
        on_control: bus.OnControl,
        on_failure: bus.OnFailure,
    ) -> None:
        self._connector = connector
        self._prefix = messaging.prefix
        self._check = float(messaging.heartbeat or _CHECK)
        self._counts = counts
        self._lanes = tuple(lanes)
        self._on_command = on_command
        self._on_control = on_control
        self._on_failure = on_failure
        #: Deliveries whose receipts are settled, from any thread.
        self._settled: collections.deque[Any] = collections.deque()
        self._unsettled = 0
        self._channel: Any = None
        self._failure: exceptions.ConfigurationError | None = None
        self._consuming = threading.Event()
        self._stop = threading.Event()
        self._reconnecting = reconnecting.Reconnecting(
            'Receiving', self._stop, messaging.reconnect_max
        )
        self._thread = threading.Thread(
            target=self._run, name='message-receiver', daemon=True
        )

    def start(self) -> None:
        """Begin to connect."""
        self._thread.start()

    def wait(self, timeout: float) -> bool:
        """Wait until messages are consumed; see `bus.Bus.wait_until_consuming`."""
        there = self._consuming.wait(timeout)
        if self._failure is not None:
            raise exceptions.ConfigurationError(str(self._failure))
        return there

    def stop(self) -> None:
        """Ask the thread to end; it does so within half a second of silence."""
        self._stop.set()

    def join(self, timeout: float) -> bool:
        """Wait for the end after `stop`; False if `timeout` seconds passed first."""
        if self._thread is threading.current_thread():
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._reconnecting.run(self._session)
        except exceptions.ConfigurationError as error:
            self._failure = error
            # Whoever waits is to see the failure rather than the end of its wait.
            self._consuming.set()
            self._on_failure(error)

    def _session(self) -> None:
        with self._connector.opened() as link:
            try:
                # First: the first messages come while the rest is still subscribed to.
                self._counts.connections += 1
                # What the last connection had not acknowledged is delivered again.
                self._unsettled = 0
                ears = self._subscribe(link)
                self._reconnecting.established()
                self._consuming.set()
                LOG.info('Receiving messages from %s.', link.address)
                while not self._stop.is_set():
                    link.drain(_SOON if self._unsettled else _LOOK)
                    self._acknowledge()
                    link.beat()
                    # Who has all that may be ahead of an acknowledgement gets no more.
                    if self._unsettled < _PREFETCH:
                        ears.check()
                # The last ones were looked after while the worker stopped.
                self._acknowledge()
            finally:
                self._consuming.clear()

    def _subscribe(self, link: connection.Link) -> hearing.Hearing:
        channel = self._channel = link.channel()
        wanted = topology.work(self._prefix)
        declaring.declare(channel, wanted)
        # A new name each time: the broker may not have noticed yet that the last
        # connection is gone, and the old queue is locked until then.
        own = topology.control_queue(self._prefix, uuid.uuid4().hex)
        declaring.declare_queue(channel, own, wanted.remedy)
        channel.basic_qos(prefetch_size=0, prefetch_count=_PREFETCH, a_global=False)
        queues = {lane: topology.lane_queue(self._prefix, lane) for lane in self._lanes}
        ears = hearing.Hearing(channel, list(queues.values()), self._check)
        for lane, queue in queues.items():
            channel.basic_consume(
                queue=queue,
                callback=functools.partial(self._take_command, ears, lane),
            )
        channel.basic_consume(queue=own.name, callback=self._take_broadcast)
        return ears

    def _take_command(self, ears: hearing.Hearing, lane: str, delivery: Any) -> None:
        channel = delivery.channel
        ears.note(topology.lane_queue(self._prefix, lane))
        try:
            # An empty body arrives as an empty str.
            receipt = self._on_command(lane, codec.decode(delivery.body or b''))
        except exceptions.Invalid as error:
            # It would be as wrong the next time: straight to the dead letters.
            self._counts.malformed += 1
            LOG.warning('A command for lane %s was rejected: %s', lane, error)
            channel.basic_reject(delivery.delivery_tag, requeue=False)
        except Exception:
            # Somebody may do better, until the queue's delivery limit.
            self._counts.failed += 1
            LOG.exception('A command for lane %s could not be handled.', lane)
            channel.basic_reject(delivery.delivery_tag, requeue=True)
        else:
            self._counts.commands += 1
            if receipt is None:
                channel.basic_ack(delivery.delivery_tag)
                return
            self._unsettled += 1
            receipt.when_settled(functools.partial(self._settled.append, delivery))

    def _acknowledge(self) -> None:
        """Acknowledge the commands that are looked after by now."""
        while self._settled:
            delivery = self._settled.popleft()
            # Of a connection that is gone the broker would take it for another one.
            if delivery.channel is self._channel:
                self._unsettled -= 1
                delivery.channel.basic_ack(delivery.delivery_tag)

    def _take_broadcast(self, delivery: Any) -> None:
        channel = delivery.channel
        try:
            self._on_control(codec.decode(delivery.body or b''))
        except exceptions.Invalid as error:
            self._counts.malformed += 1
            LOG.warning('A broadcast was rejected: %s', error)
            channel.basic_reject(delivery.delivery_tag, requeue=False)
        except Exception:
            # No other worker has this queue, and this one has failed: a repetition
            # would go on for ever.
            self._counts.failed += 1
            LOG.exception('A broadcast could not be handled.')
            channel.basic_reject(delivery.delivery_tag, requeue=False)
        else:
            self._counts.broadcasts += 1
            channel.basic_ack(delivery.delivery_tag)
