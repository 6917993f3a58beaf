"""A target of actions: it records calls, honors idempotency keys and fencing tokens.

Its ledger is the reference: a killed worker may not have reported its call, and a
paused one may have an outdated state.
"""

import collections
import dataclasses
import http.server
import json
import threading

import fixtures

from tests.bounded import TIMEOUT

#: The calls of an action: before its effect, for its effect, and to query it.
BEGIN, APPLY, LOOK = 'begin', 'apply', 'look'
#: Not a call: the moment between an effect and its response.
ANSWER = 'answer'
#: The result of a call: a query, an effect, an effect that had been applied already,
#: and a call that was rejected because a later owner has called.
RECEIVED, APPLIED, REPEATED, STALE = 'received', 'applied', 'repeated', 'stale'


@dataclasses.dataclass(frozen=True)
class Call:
    """One line of the ledger.

    :param key: the idempotency key
    :param token: the fencing token
    :param result: RECEIVED, APPLIED, REPEATED or STALE
    """

    name: str
    what: str
    key: str
    token: int
    pid: int
    result: str


class Gate:
    """Blocks calls; created by `Target.hold`."""

    def __init__(self, condition, names, what):
        self._condition = condition
        self._names = frozenset(names)
        self._what = what
        self._took = collections.Counter()
        self._takes = True
        self._open = False
        self._dropped = False

    def stop_holding(self):
        """Keep blocking the blocked calls, but no new ones."""
        with self._condition:
            self._takes = False

    def open(self):
        """Release all calls."""
        with self._condition:
            self._takes, self._open = False, True
            self._condition.notify_all()

    def drop(self):
        """Abort the blocked calls, without an effect or a response."""
        with self._condition:
            self._dropped = True
        self.open()

    def wait(self, *names):
        """Wait until a call of each of these actions, or of all, is blocked."""
        desired = self._names & set(names) if names else self._names
        with self._condition:
            if not self._condition.wait_for(
                lambda: desired <= set(self._took), TIMEOUT
            ):
                raise AssertionError(f'{sorted(self._took)}, not {sorted(desired)}')

    def hold_call(self, name, what):
        """Block a call if it matches; return whether it may continue."""
        with self._condition:
            if not self._takes or name not in self._names or what != self._what:
                return True
            self._took[name] += 1
            self._condition.notify_all()
            opened = self._condition.wait_for(lambda: self._open, TIMEOUT)
            return opened and not self._dropped


class Target(fixtures.Fixture):
    """A local HTTP server.

    :ivar ledger: every call, in the order in which they took effect
    :ivar on_call: called with (what, pid) before a call takes effect, and with ANSWER
        after an effect; may be replaced. If it returns False, the call is aborted
    """

    def __init__(self):
        super().__init__()
        self.ledger = []
        self.on_call = lambda what, pid: True
        self._condition = threading.Condition()
        self._gates = []
        self._tokens = {}
        self._applied = set()

    def _setUp(self):
        target = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                answer = target._answer(self.path[1:], json.loads(body))
                if answer is None:
                    return
                text = json.dumps(answer).encode()
                self.send_response(409 if answer['result'] == STALE else 200)
                self.send_header('Content-Length', str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *args):
                """Log nothing, since the ledger records all calls."""

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request, address):
                """Ignore callers that have gone, as tests kill them."""

        server = Server(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{server.server_port}'
        thread = threading.Thread(
            target=server.serve_forever, args=(0.05,), daemon=True
        )
        thread.start()
        self.addCleanup(thread.join, TIMEOUT)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(self._end)

    # Methods for tests

    def hold(self, *names, what=BEGIN):
        """Return a gate that blocks calls of these actions.

        :param what: the kind of the blocked calls
        """
        gate = Gate(self._condition, names, what)
        with self._condition:
            self._gates.append(gate)
        return gate

    def wait_for_calls(self, count, what=None):
        """Wait until the ledger has this number of calls, of one kind or of all."""

        def found():
            return sum(1 for call in self.ledger if what in (None, call.what))

        with self._condition:
            if not self._condition.wait_for(lambda: found() >= count, TIMEOUT):
                raise AssertionError(f'{found()} calls, not {count}')

    def calls(self):
        """Return a copy of the ledger."""
        with self._condition:
            return list(self.ledger)

    def calls_by_action(self):
        """Return the calls of each action, by name, as (what, token, result)."""
        found = {}
        for call in self.calls():
            line = (call.what, call.token, call.result)
            found.setdefault(call.name, []).append(line)
        return found

    def pids(self, *names):
        """Return the pids of the callers, for these actions or for all."""
        return {c.pid for c in self.calls() if not names or c.name in names}

    # Calls of actions

    def _answer(self, what, call):
        """Return the response to a call, or None to send none."""
        name, pid = call['name'], call['pid']
        if not self.on_call(what, pid) or not self._hold_call(name, what):
            return None
        with self._condition:
            result = self._take(what, call['key'], call['token'])
            self.ledger.append(
                Call(name, what, call['key'], call['token'], pid, result)
            )
            answer = {'result': result, 'applied': call['key'] in self._applied}
            self._condition.notify_all()
        if what == APPLY and not (
            self.on_call(ANSWER, pid) and self._hold_call(name, ANSWER)
        ):
            return None
        return answer

    def _take(self, what, key, token):
        if token < self._tokens.get(key, 0):
            return STALE
        self._tokens[key] = token
        if what != APPLY:
            return RECEIVED
        if key in self._applied:
            return REPEATED
        self._applied.add(key)
        return APPLIED

    def _hold_call(self, name, what):
        with self._condition:
            gates = list(self._gates)
        return all(gate.hold_call(name, what) for gate in gates)

    def _end(self):
        for gate in self._gates:
            gate.drop()
