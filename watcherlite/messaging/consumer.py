"""The consumer of commands and broadcasts, a thread that owns its connection.

When a quorum queue is deleted and declared again at once by another client, RabbitMQ
3.10 does not cancel its consumers, and delivers nothing to them any more: a watchdog
notices that.
"""

import collections
import functools
import logging
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.messaging import (
    bus,
    codec,
    connection,
    declaration,
    reconnect,
    settings,
    topology,
)


class ConsumerWatchdog:
    """Compares the ready messages of queues with their deliveries."""

    def __init__(
        self,
        channel: Any,
        queues: Sequence[str],
        interval: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._channel = channel
        self._monotonic = monotonic
        self._interval = interval
        self._waiting = dict.fromkeys(queues, False)
        self._delivered: set[str] = set()
        self._next = monotonic() + interval

    def record(self, queue: str) -> None:
        """Record a delivery."""
        self._delivered.add(queue)

    def check(self) -> None:
        """Count the ready messages of the queues, once every `interval` seconds.

        :raises exceptions.BrokerUnavailable: a queue had messages for an interval and
            none of them was delivered
        """
        now = self._monotonic()
        if now < self._next:
            return
        self._next = now + self._interval
        for queue, waited in self._waiting.items():
            ready = self._channel.queue_declare(queue=queue, passive=True).message_count
            if ready and waited and queue not in self._delivered:
                raise exceptions.BrokerUnavailable(
                    f'The message broker has {ready} messages in queue {queue} and '
                    'delivers none of them.'
                )
            self._waiting[queue] = ready > 0
        self._delivered.clear()


LOG = logging.getLogger(__name__)
#: The prefetch count: small, because unacknowledged messages of a worker that stops
#: count as delivered once.
_PREFETCH = 10
#: Seconds until an idle consumer notices a stop.
_LOOK = 0.5
#: The same while commands are not acknowledged, which this thread does.
_SOON = 0.01
#: Seconds between two checks of the queues without a heartbeat.
_CHECK = 15.0


class Consumer:
    """Calls the handlers of one worker, and reconnects when a connection is lost."""

    def __init__(
        self,
        connector: connection.Connector,
        messaging: settings.MessagingSettings,
        counters: bus.BusCounters,
        lanes: Sequence[str],
        on_command: bus.OnCommand,
        on_control: bus.OnControl,
        on_failure: bus.OnFailure,
    ) -> None:
        self._connector = connector
        self._prefix = messaging.prefix
        self._check = float(messaging.heartbeat or _CHECK)
        self._counters = counters
        self._rejections = bus.RejectionLog()
        self._lanes = tuple(lanes)
        self._on_command = on_command
        self._on_control = on_control
        self._on_failure = on_failure
        #: Deliveries with settled receipts; any thread appends.
        self._settled: collections.deque[Any] = collections.deque()
        self._unsettled = 0
        self._channel: Any = None
        self._failure: exceptions.ConfigurationError | None = None
        self._consuming = threading.Event()
        self._stop = threading.Event()
        self._reconnect_loop = reconnect.ReconnectLoop(
            'Message consumer', self._stop, messaging.reconnect_max
        )
        self._thread = threading.Thread(
            target=self._run, name='message-consumer', daemon=True
        )

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wait(self, timeout: float) -> bool:
        """Wait until messages are consumed; see `bus.Bus.wait_until_consuming`."""
        there = self._consuming.wait(timeout)
        if self._failure is not None:
            raise exceptions.ConfigurationError(str(self._failure))
        return there

    def stop(self) -> None:
        """Stop the thread; an idle one ends within half a second."""
        self._stop.set()

    def join(self, timeout: float) -> bool:
        """Wait for the end after `stop`; return False after `timeout` seconds."""
        if self._thread is threading.current_thread():
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._reconnect_loop.run(self._session)
        except exceptions.ConfigurationError as error:
            self._failure = error
            # A waiting thread raises the failure instead of timing out.
            self._consuming.set()
            self._on_failure(error)

    def _session(self) -> None:
        with self._connector.session() as link:
            try:
                # First: messages arrive before all queues are subscribed to.
                self._counters.connections += 1
                # Unacknowledged messages of the last connection are delivered again.
                self._unsettled = 0
                watchdog = self._subscribe(link)
                self._reconnect_loop.on_connected()
                self._consuming.set()
                LOG.info('Consuming messages from %s.', link.address)
                while not self._stop.is_set():
                    link.drain_events(_SOON if self._unsettled else _LOOK)
                    self._acknowledge()
                    link.heartbeat_if_due()
                    # With all of the prefetch unacknowledged nothing is delivered.
                    if self._unsettled < _PREFETCH:
                        watchdog.check()
                # Commands that were handled while the worker stopped.
                self._acknowledge()
            finally:
                self._consuming.clear()

    def _subscribe(self, link: connection.BrokerConnection) -> ConsumerWatchdog:
        channel = self._channel = link.channel()
        desired = topology.work(self._prefix)
        declaration.declare(channel, desired)
        # A new name each time: the old queue is locked until the broker notices that
        # the last connection is lost.
        own = topology.control_queue(self._prefix, uuid.uuid4().hex)
        declaration.declare_queue(channel, own, desired.remedy)
        channel.basic_qos(prefetch_size=0, prefetch_count=_PREFETCH, a_global=False)
        queues = {lane: topology.lane_queue(self._prefix, lane) for lane in self._lanes}
        watchdog = ConsumerWatchdog(channel, list(queues.values()), self._check)
        for lane, queue in queues.items():
            channel.basic_consume(
                queue=queue,
                callback=functools.partial(self._take_command, watchdog, lane),
            )
        channel.basic_consume(queue=own.name, callback=self._take_broadcast)
        return watchdog

    def _take_command(
        self, watchdog: ConsumerWatchdog, lane: str, delivery: Any
    ) -> None:
        channel = delivery.channel
        watchdog.record(topology.lane_queue(self._prefix, lane))
        try:
            # An empty body arrives as an empty str.
            receipt = self._on_command(lane, codec.decode(delivery.body or b''))
        except exceptions.Invalid as error:
            # A retry does not help: to the dead letters.
            self._counters.malformed += 1
            self._rejections.report(f'A command for lane {lane}', error)
            channel.basic_reject(delivery.delivery_tag, requeue=False)
        except Exception:
            # Another worker may succeed, up to the delivery limit of the queue.
            self._counters.failed += 1
            LOG.exception('Cannot handle a command of lane %s.', lane)
            channel.basic_reject(delivery.delivery_tag, requeue=True)
        else:
            self._counters.commands += 1
            if receipt is None:
                channel.basic_ack(delivery.delivery_tag)
                return
            self._unsettled += 1
            receipt.when_settled(functools.partial(self._settled.append, delivery))

    def _acknowledge(self) -> None:
        """Acknowledge the commands with settled receipts."""
        while self._settled:
            delivery = self._settled.popleft()
            # On another connection the tag is that of another message.
            if delivery.channel is self._channel:
                self._unsettled -= 1
                delivery.channel.basic_ack(delivery.delivery_tag)

    def _take_broadcast(self, delivery: Any) -> None:
        channel = delivery.channel
        try:
            self._on_control(codec.decode(delivery.body or b''))
        except exceptions.Invalid as error:
            self._counters.malformed += 1
            self._rejections.report('A broadcast', error)
            channel.basic_reject(delivery.delivery_tag, requeue=False)
        except Exception:
            # No other worker consumes this queue: a requeued message would be
            # redelivered without end.
            self._counters.failed += 1
            LOG.exception('Cannot handle a broadcast.')
            channel.basic_reject(delivery.delivery_tag, requeue=False)
        else:
            self._counters.broadcasts += 1
            channel.basic_ack(delivery.delivery_tag)
