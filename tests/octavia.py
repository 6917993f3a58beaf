"""An octavia that keeps its objects in memory, for a local HTTP server.

It changes one thing of a load balancer at a time, like octavia: after a change the load
balancer is PENDING for some requests, and refuses other changes with 409.
"""

import json
import threading
import urllib.parse
import uuid

#: The collections, and the key of one object.
KEYS = {
    'loadbalancers': 'loadbalancer',
    'listeners': 'listener',
    'pools': 'pool',
    'healthmonitors': 'healthmonitor',
}
PREFIX = '/lbaas/'


class FakeOctavia:
    """The behaviour of a server, see `http_server.Server`.

    :param url: returns the URL of the API without its version
    :ivar polls: reads of a load balancer until a change is complete
    :ivar status: the provisioning status after changes
    :ivar is_down: whether it answers 503
    :ivar loses_answers: whether the answers of creations are 503
    :ivar objects: collection -> id -> object
    :ivar members: id of a pool -> members
    :ivar changes: method and path of each request with an effect, without ids
    """

    def __init__(self, url):
        self._url = url
        self.polls = 1
        self.status = 'ACTIVE'
        self.is_down = False
        self.loses_answers = False
        self.objects = {name: {} for name in KEYS}
        self.members = {}
        self.changes = []
        self._pending = {}
        self._lock = threading.Lock()

    def __call__(self, exchange, request):
        with self._lock:
            status, answer = self._answer(request)
        body = b'' if answer is None else json.dumps(answer).encode()
        kind = {'content_type': 'application/json'} if body else {}
        exchange.answer(status, body, **kind)

    def complete_changes(self):
        """Complete all changes that are in progress."""
        with self._lock:
            self._pending = dict.fromkeys(self._pending, 1)

    def named(self, name):
        """Return the collections that have an object of this name."""
        return [
            kind
            for kind, found in self.objects.items()
            if any(one['name'] == name for one in found.values())
        ]

    def addresses(self):
        """Return the addresses of the members of each pool."""
        return {
            pool: sorted(one['address'] for one in found)
            for pool, found in self.members.items()
        }

    def add(self, kind, **values):
        """Add an object; return it."""
        one = {
            'id': str(uuid.uuid4()),
            'name': '',
            'provisioning_status': 'ACTIVE',
            **values,
        }
        self.objects[kind][one['id']] = one
        if kind == 'pools':
            self.members.setdefault(one['id'], [])
        return one

    def _answer(self, request):
        path, _, query = request.path.partition('?')
        if self.is_down:
            return 503, {'faultstring': 'no worker'}
        _, found, place = path.partition(PREFIX)
        if not found:
            return 200, {'versions': [self._version()]}
        words = place.strip('/').split('/')
        values = dict(urllib.parse.parse_qsl(query))
        if request.method == 'GET':
            return self._read(words, values)
        body = json.loads(request.body) if request.body else None
        return self._change(request.method, words, values, body)

    def _version(self):
        link = {'rel': 'self', 'href': f'{self._url()}/v2'}
        return {'id': 'v2.27', 'status': 'CURRENT', 'links': [link]}

    def _read(self, words, values):
        kind = words[0]
        if kind == 'loadbalancers':
            self._advance()
        if words[-1] == 'members':
            return 200, {'members': self.members.get(words[1], [])}
        if len(words) == 1:
            found = [
                one
                for one in self.objects[kind].values()
                if values.get('name') in (None, one['name'])
            ]
            return 200, {kind: found}
        one = self.objects[kind].get(words[1])
        if one is None:
            return 404, {'faultstring': f'{kind} {words[1]} not found'}
        return 200, {KEYS[kind]: one}

    def _advance(self):
        for key in list(self._pending):
            self._pending[key] -= 1
            if self._pending[key] > 0:
                continue
            del self._pending[key]
            one = self.objects['loadbalancers'][key]
            if one['provisioning_status'] == 'PENDING_DELETE':
                self._remove_all(key)
            else:
                one['provisioning_status'] = self.status

    def _remove_all(self, key):
        for found in self.objects.values():
            for one in list(found.values()):
                if one['id'] == key or one.get('balancer') == key:
                    del found[one['id']]
                    self.members.pop(one['id'], None)

    def _change(self, method, words, values, body):
        kind = words[0]
        places = [word for word in words if len(word) != 36]
        one = self.objects[kind].get(words[1]) if len(words) > 1 else None
        if len(words) > 1 and one is None:
            return 404, {'faultstring': f'{kind} {words[1]} not found'}
        given = body[KEYS[kind]] if body and KEYS[kind] in body else {}
        balancer = self._balancer_of(one or given)
        if balancer is not None and self._pending.get(balancer['id']):
            text = f'Load Balancer {balancer["id"]} is immutable and cannot be updated.'
            return 409, {'faultstring': text}
        self.changes.append(f'{method} {"/".join(places)}')
        if words[-1] == 'members' or 'members' in words:
            answer = self._change_members(method, words, body)
        elif method == 'POST':
            answer = 201, {KEYS[kind]: self._create(kind, given, balancer)}
            balancer = balancer or next(iter(answer[1].values()))
        else:
            answer = self._delete(kind, one, balancer)
        if self.polls and balancer['id'] in self.objects['loadbalancers']:
            self._pending[balancer['id']] = self.polls + 1
            if balancer['provisioning_status'] != 'PENDING_DELETE':
                balancer['provisioning_status'] = 'PENDING_UPDATE'
        return (503, None) if self.loses_answers else answer

    def _balancer_of(self, one):
        """Return the load balancer of an object."""
        parents = {
            'listener_id': 'listeners',
            'pool_id': 'pools',
            'loadbalancer_id': 'loadbalancers',
        }
        for name, kind in parents.items():
            if one.get(name) in self.objects[kind]:
                return self._balancer_of(self.objects[kind][one[name]])
        if one.get('balancer'):
            return self.objects['loadbalancers'][one['balancer']]
        return one if one.get('id') in self.objects['loadbalancers'] else None

    def _create(self, kind, given, balancer):
        one = self.add(kind, **given)
        if kind == 'loadbalancers':
            one.setdefault('vip_address', '203.0.113.9')
            return one
        one['balancer'] = balancer['id']
        if kind == 'pools':
            one['loadbalancers'] = [{'id': balancer['id']}]
        if kind == 'healthmonitors':
            self.objects['pools'][one['pool_id']]['healthmonitor_id'] = one['id']
        return one

    def _delete(self, kind, one, balancer):
        if kind == 'loadbalancers':
            one['provisioning_status'] = 'PENDING_DELETE'
            if not self.polls:
                self._remove_all(one['id'])
            return 204, None
        del self.objects[kind][one['id']]
        self.members.pop(one['id'], None)
        if kind == 'healthmonitors':
            del self.objects['pools'][one['pool_id']]['healthmonitor_id']
        return 204, None

    def _change_members(self, method, words, body):
        found = self.members[words[1]]
        if method == 'PUT':
            self.members[words[1]] = [
                {'id': str(uuid.uuid4()), **one} for one in body['members']
            ]
            return 202, None
        if method == 'POST':
            one = {'id': str(uuid.uuid4()), **body['member']}
            found.append(one)
            return 201, {'member': one}
        found[:] = [one for one in found if one['id'] != words[3]]
        return 204, None
