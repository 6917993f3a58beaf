"""A cloud in memory: each service creates, finds, changes and deletes objects."""

import collections
import uuid

from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk

#: The verbs of methods whose call is only recorded.
ACTIONS = frozenset(
    {'lock', 'unlock', 'suspend', 'resume', 'set', 'add', 'remove', 'import'}
)


class FakeObject:
    """An object of a service, as openstacksdk returns it."""

    def __init__(self, record):
        self.record = record

    def __getattr__(self, name):
        return self.record.get(name)

    def to_dict(self, **options):
        return dict(self.record)


class FakeService:
    """A service with any kind of objects.

    :ivar calls: the methods called, with their arguments
    :ivar failures: method -> the exceptions that its next calls raise
    :ivar lost: methods that have their effect, and whose answer is lost
    :ivar statuses: noun -> the statuses that the next reads of an object find
    """

    def __init__(self):
        self.objects = collections.defaultdict(dict)
        self.calls = []
        self.failures = collections.defaultdict(list)
        self.lost = []
        self.statuses = collections.defaultdict(list)
        self.defaults = {}

    def names(self):
        return [name for name, _, _ in self.calls]

    def __getattr__(self, name):
        verb, _, noun = name.partition('_')
        make = {
            'create': self._create,
            'get': self._get,
            'update': self._update,
            'delete': self._delete,
            'find': self._find,
        }.get(verb)
        if verb in ACTIONS:
            make = self._act

        def call(*args, **kwargs):
            self.calls.append((name, args, kwargs))
            if self.failures[name]:
                raise self.failures[name].pop(0)
            if make is None:
                result = self._list(name, **kwargs)
            else:
                result = make(noun, *args, **kwargs)
            if name in self.lost:
                self.lost.remove(name)
                raise keystone.ConnectFailure('lost')
            return result

        return call

    def _act(self, *args, **kwargs):
        return None

    def _create(self, noun, items=None, **body):
        if isinstance(items, list):
            return [self._create(noun, **item) for item in items]
        record = {'id': str(uuid.uuid4()), **self.defaults.get(noun, {}), **body}
        self.objects[noun][record['id']] = record
        return FakeObject(dict(record))

    def _get(self, noun, desired, *args, **kwargs):
        if desired not in self.objects[noun]:
            raise sdk.NotFoundException('not found')
        record = self.objects[noun][desired]
        if self.statuses[noun]:
            record['status'] = self.statuses[noun].pop(0)
        return FakeObject(dict(record))

    def _update(self, noun, desired, **body):
        found = self._get(noun, getattr(desired, 'id', desired))
        self.objects[noun][found.id].update(body)
        return self._get(noun, found.id)

    def _delete(self, noun, desired, ignore_missing=True, **kwargs):
        self.objects[noun].pop(getattr(desired, 'id', desired), None)

    def _find(self, noun, desired, ignore_missing=True, **filters):
        found = [
            FakeObject(record)
            for record in self.objects[noun].values()
            if desired in (record['id'], record.get('name'))
        ]
        if len(found) > 1:
            raise sdk.DuplicateResource('several')
        return next(iter(found), None)

    def _list(self, plural, **filters):
        known = [n for n in self.objects if plural.startswith(n[:-1])]
        noun = max(known, key=len, default=plural)
        return [
            FakeObject(dict(record))
            for record in list(self.objects.get(noun, {}).values())
            if all(record.get(key) == value for key, value in filters.items())
        ]


class FakeConnection:
    """A connection to the services."""

    current_project_id = 'project'

    def __init__(self):
        self.network = FakeService()
        self.compute = FakeService()
        self.block_storage = FakeService()
        self.image = FakeService()
        self.identity = FakeService()


class FakeClouds:
    """The clouds of a process, with one connection.

    :ivar credentials: those that connections were requested for
    :ivar regions: likewise
    """

    is_configured = True

    def __init__(self):
        self.connection = FakeConnection()
        self.credentials = []
        self.regions = []

    def service_connection(self, region=None):
        return self.connection

    def connection_for(self, credential, region=None):
        self.credentials.append(credential)
        self.regions.append(region)
        return self.connection


def conflict(text='it is in use'):
    error = sdk.ConflictException(text)
    error.status_code = 409
    return error


def unavailable():
    return keystone.ConnectFailure('refused')
