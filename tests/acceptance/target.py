"""A target of actions: it records calls, honors idempotency keys and fencing tokens.

What it says happened, happened: a worker that was killed may have been unable to say
so, and one that was paused may believe what is not so any more.
"""

import collections
import dataclasses
import http.server
import json
import threading

import fixtures

#: Seconds after which a test that waits here is taken to be stuck.
PATIENCE = 40

#: What an action calls: before its effect, for its effect, to see whether it is there.
BEGIN, APPLY, LOOK = 'begin', 'apply', 'look'
#: Not a call: between an effect and the answer to who asked for it.
ANSWER = 'answer'
#: What came of it: a call that reads, an effect, an effect that was there already, and
#: a call that was refused because a later owner has been here.
HEARD, APPLIED, REPEATED, STALE = 'heard', 'applied', 'repeated', 'stale'


@dataclasses.dataclass(frozen=True)
class Call:
    """One line of the ledger.

    :param key: the idempotency key
    :param token: the fencing token
    :param result: HEARD, APPLIED, REPEATED or STALE
    """

    name: str
    what: str
    key: str
    token: int
    pid: int
    result: str


class Gate:
    """Keeps calls back; made by `Target.hold`."""

    def __init__(self, condition, names, what):
        self._condition = condition
        self._names = frozenset(names)
        self._what = what
        self._took = collections.Counter()
        self._takes = True
        self._open = False
        self._dropped = False

    def let_newcomers_pass(self):
        """Keep back whom it has, and nobody else."""
        with self._condition:
            self._takes = False

    def open(self):
        """Let go of everybody."""
        with self._condition:
            self._takes, self._open = False, True
            self._condition.notify_all()

    def drop(self):
        """Let nothing come of the calls that are kept back."""
        with self._condition:
            self._dropped = True
        self.open()

    def wait(self, *names):
        """Wait until a call of each of these actions, or of all, has been kept back."""
        wanted = self._names & set(names) if names else self._names
        with self._condition:
            if not self._condition.wait_for(
                lambda: wanted <= set(self._took), PATIENCE
            ):
                raise AssertionError(f'{sorted(self._took)}, not {sorted(wanted)}')

    def keep(self, name, what):
        """Keep a call back if it is to; return whether it may go on."""
        with self._condition:
            if not self._takes or name not in self._names or what != self._what:
                return True
            self._took[name] += 1
            self._condition.notify_all()
            opened = self._condition.wait_for(lambda: self._open, PATIENCE)
            return opened and not self._dropped


class Target(fixtures.Fixture):
    """An HTTP server on this machine.

    :ivar ledger: every call, in the order in which they took effect
    :ivar on_call: called with (what, pid) before a call takes effect, and with ANSWER
        after an effect; may be replaced. False: nothing more comes of the call
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
                """The ledger has it all."""

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request, address):
                """Callers that are gone are what the tests are about."""

        server = Server(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{server.server_port}'
        thread = threading.Thread(
            target=server.serve_forever, args=(0.05,), daemon=True
        )
        thread.start()
        self.addCleanup(thread.join, PATIENCE)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(self._end)

    # what a test does with it

    def hold(self, *names, what=BEGIN):
        """Return a gate that keeps calls of these actions back.

        :param what: which call of each
        """
        gate = Gate(self._condition, names, what)
        with self._condition:
            self._gates.append(gate)
        return gate

    def wait_for_calls(self, count, what=None):
        """Wait until there are so many lines in the ledger, of a kind or of all."""

        def found():
            return sum(1 for call in self.ledger if what in (None, call.what))

        with self._condition:
            if not self._condition.wait_for(lambda: found() >= count, PATIENCE):
                raise AssertionError(f'{found()} calls, not {count}')

    def calls(self):
        """Return a copy of the ledger."""
        with self._condition:
            return list(self.ledger)

    def story(self):
        """Return for each action, by name, its calls as (what, token, result)."""
        found = {}
        for call in self.calls():
            line = (call.what, call.token, call.result)
            found.setdefault(call.name, []).append(line)
        return found

    def pids(self, *names):
        """Return the processes that have called, for these actions or for any."""
        return {c.pid for c in self.calls() if not names or c.name in names}

    # what actions do with it

    def _answer(self, what, call):
        """Return the answer to a call, or None if there is none."""
        name, pid = call['name'], call['pid']
        if not self.on_call(what, pid) or not self._keep(name, what):
            return None
        with self._condition:
            result = self._take(what, call['key'], call['token'])
            self.ledger.append(
                Call(name, what, call['key'], call['token'], pid, result)
            )
            answer = {'result': result, 'applied': call['key'] in self._applied}
            self._condition.notify_all()
        if what == APPLY and not (
            self.on_call(ANSWER, pid) and self._keep(name, ANSWER)
        ):
            return None
        return answer

    def _take(self, what, key, token):
        if token < self._tokens.get(key, 0):
            return STALE
        self._tokens[key] = token
        if what != APPLY:
            return HEARD
        if key in self._applied:
            return REPEATED
        self._applied.add(key)
        return APPLIED

    def _keep(self, name, what):
        with self._condition:
            gates = list(self._gates)
        return all(gate.keep(name, what) for gate in gates)

    def _end(self):
        for gate in self._gates:
            gate.drop()
