"""A bare metal service for tests: the small cloud has none.

It has nodes, as far as their power is concerned.
"""

import http.server
import json
import threading
import urllib.parse
import uuid

import fixtures

#: A node that is changing its power state, to those who read it the first time.
_POLLS = 1


class Ironic(fixtures.Fixture):
    """Nodes over HTTP, with the power states of ironic.

    :param names: of the nodes; they are on
    :param hypervisors: name -> the uuid of the compute node on it
    :ivar nodes: by name, as in the API
    :ivar requests: (path, target) of each change of a power state
    """

    def __init__(self, *names, hypervisors=None):
        super().__init__()
        self.lock = threading.Lock()
        self.requests = []
        hypervisors = hypervisors or {}
        self.nodes = {
            name: {
                'uuid': str(uuid.uuid4()),
                'name': name,
                'power_state': 'power on',
                'target_power_state': None,
                'maintenance': False,
                'last_error': None,
                'extra': (
                    {'compute_node_id': hypervisors[name]}
                    if name in hypervisors
                    else {}
                ),
            }
            for name in names
        }
        self._polls = {}

    def _setUp(self):
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), _Handler)
        server.ironic = self
        self.url = f'http://127.0.0.1:{server.server_port}/v1'
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)

    def find(self, identifier):
        """Return a node by its uuid or name, or None."""
        for node in self.nodes.values():
            if identifier in (node['uuid'], node['name']):
                return node
        return None

    def poll(self, node):
        """Complete a change of the power state that was polled before."""
        if node['target_power_state'] and not self._polls.get(node['uuid']):
            node['power_state'] = node['target_power_state']
            node['target_power_state'] = None
        self._polls[node['uuid']] = 0

    def set_target(self, node, path, target):
        """Begin a change of the power state."""
        self.requests.append((path, target))
        node['target_power_state'] = target
        self._polls[node['uuid']] = _POLLS


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path.rstrip('/')
        ironic = self.server.ironic
        with ironic.lock:
            if path.endswith('/nodes'):
                self.answer(200, {'nodes': list(ironic.nodes.values())})
            elif '/nodes/' in path:
                node = ironic.find(path.rpartition('/')[2])
                if node is None:
                    self.answer(404, {'error_message': 'Node could not be found.'})
                    return
                ironic.poll(node)
                self.answer(200, node)
            else:
                self.answer(200, self.versions())

    def do_PUT(self):
        length = int(self.headers['Content-Length'])
        target = json.loads(self.rfile.read(length))['target']
        ironic = self.server.ironic
        with ironic.lock:
            node = ironic.find(self.path.split('/nodes/')[1].partition('/')[0])
            ironic.set_target(node, self.path, target)
        self.answer(202, None)

    def versions(self):
        """Return the document of the API's versions."""
        version = {
            'id': 'v1',
            'status': 'CURRENT',
            'version': '1.109',
            'min_version': '1.1',
            'links': [{'rel': 'self', 'href': self.server.ironic.url}],
        }
        return {
            'id': 'v1',
            'version': version,
            'versions': [version],
            'default_version': version,
        }

    def answer(self, status, body):
        data = b'' if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.send_header('X-OpenStack-Ironic-API-Version', '1.72')
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        """Write no log."""
