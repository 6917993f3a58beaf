"""A connection to services that exist as lists only, and count their requests."""

import json
import threading
import types
import urllib.parse

import requests


class FakeConnection:
    """Answers GET requests of the collectors, like a connection of openstacksdk.

    :param answers: service and path -> JSON, or an HTTP status
    :param page: the maximum number of objects of a response
    :ivar requests: service and path of each request
    """

    def __init__(self, answers, page=1000):
        self.answers = answers
        self.page = page
        self.requests = []
        self.lock = threading.Lock()
        for service in ('compute', 'placement', 'block_storage', 'baremetal'):
            setattr(self, service, _Service(self, service))

    def service_connection(self, region=None):
        return self


class _Service:
    def __init__(self, connection, name):
        self._connection = connection
        self._name = name

    def get_endpoint_data(self):
        return types.SimpleNamespace(min_microversion=(2, 1), max_microversion=(2, 96))

    def get(self, path, params=None, microversion=None):
        connection = self._connection
        with connection.lock:
            connection.requests.append(f'{self._name} {path}')
        answer = connection.answers[f'{self._name} {path}']
        response = requests.Response()
        response.url = f'http://{self._name}{path}'
        response.headers['Content-Type'] = 'application/json'
        response.request = requests.Request('GET', response.url).prepare()
        response.status_code = 200
        if isinstance(answer, int):
            response.status_code = answer
            answer = {}
        elif 'limit' in (params or {}):
            answer = self._page(answer, params)
        response._content = json.dumps(answer).encode()
        return response

    def _page(self, answer, params):
        ((key, objects),) = answer.items()
        ids = [one['id'] for one in objects]
        start = ids.index(params['marker']) + 1 if 'marker' in params else 0
        size = min(self._connection.page, params['limit'] or len(objects))
        links = []
        if start + size < len(objects):
            query = urllib.parse.urlencode({'marker': ids[start + size - 1]})
            links = [{'rel': 'next', 'href': f'http://proxy.invalid/?{query}'}]
        return {key: objects[start : start + size], f'{key}_links': links}
