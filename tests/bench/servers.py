"""The benchmark of stacks of servers, each with a port and a volume, in a real cloud.

Measures services with the orchestration API by turns, for example Heat and this one:

    python -m tests.bench servers --cloud demo \
        --endpoint ours=http://127.0.0.1:8004/v1 --endpoint heat=http://127.0.0.1:8005/v1

The images, flavors and networks are those of `_KEYS`, in the cloud of clouds.yaml.
"""

import dataclasses
import json
import pathlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

import openstack

from tests.bench import report

#: The number of servers.
SIZE, QUICK = 50, 10
#: Seconds between two requests for the state of a stack.
_INTERVAL = 0.25
_TIMEOUT = 1800
_KEYS = {'image': 'tiny', 'flavor': 'm1.nano'}


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """The figures of a round.

    :param create: seconds from the request until the stack is complete
    :param delete: seconds from the request until nothing is left of the stack
    """

    name: str
    size: int
    create: float
    delete: float


def template(size: int) -> dict[str, Any]:
    """Return a template of servers, each with a port and an attached volume."""
    resources: dict[str, Any] = {
        'net': {'type': 'OS::Neutron::Net'},
        'subnet': {
            'type': 'OS::Neutron::Subnet',
            'properties': {'network': {'get_resource': 'net'}, 'cidr': '10.99.0.0/20'},
        },
    }
    for number in range(size):
        resources[f'port{number}'] = {
            'type': 'OS::Neutron::Port',
            'properties': {
                'network': {'get_resource': 'net'},
                'fixed_ips': [{'subnet': {'get_resource': 'subnet'}}],
            },
        }
        resources[f'server{number}'] = {
            'type': 'OS::Nova::Server',
            'properties': {
                **_KEYS,
                'networks': [{'port': {'get_resource': f'port{number}'}}],
            },
        }
        resources[f'volume{number}'] = {
            'type': 'OS::Cinder::Volume',
            'properties': {'size': 1},
        }
        resources[f'attachment{number}'] = {
            'type': 'OS::Cinder::VolumeAttachment',
            'properties': {
                'instance_uuid': {'get_resource': f'server{number}'},
                'volume_id': {'get_resource': f'volume{number}'},
            },
        }
    return {'heat_template_version': '2018-08-31', 'resources': resources}


def run(
    size: int, rounds: int, cloud: str, endpoints: Mapping[str, str], path: pathlib.Path
) -> str:
    """Measure the endpoints by turns, write the document, and return the table.

    :param endpoints: name -> URL of the orchestration API, without the project
    """
    rows: list[Row] = []
    for number in range(rounds):
        for name, url in endpoints.items():
            row = _measure(name, _Service(cloud, url), size)
            rows.append(row)
            report.say(f'{name}, round {number + 1}: {_line(row)}')
            path.write_text(json.dumps([dataclasses.asdict(r) for r in rows], indent=1))
    return '\n'.join(f'{row.name}: {_line(row)}' for row in rows)


def _line(row: Row) -> str:
    return (
        f'{row.size} servers with ports and volumes: created in {row.create:.1f} s, '
        f'deleted in {row.delete:.1f} s'
    )


class _Service:
    """A service with the orchestration API, called as a user of the cloud."""

    def __init__(self, cloud: str, url: str) -> None:
        connection = openstack.connect(cloud=cloud)
        self._session = connection.session
        self._stacks = f'{url}/{connection.current_project_id}/stacks'

    def create(self, name: str, size: int) -> str:
        """Request a stack; return its URL."""
        body = {
            'stack_name': name,
            'template': template(size),
            'timeout_mins': _TIMEOUT // 60,
        }
        created = self._session.post(self._stacks, json=body).json()['stack']
        return f'{self._stacks}/{name}/{created["id"]}'

    def delete(self, url: str) -> None:
        """Request the deletion of a stack."""
        self._session.delete(url)

    def wait_for(self, url: str, status: str) -> None:
        """Wait until a stack has a status."""
        deadline = time.monotonic() + _TIMEOUT
        while time.monotonic() < deadline:
            stack = self._session.get(url).json()['stack']
            if stack['stack_status'] == status:
                return
            if stack['stack_status'].endswith('FAILED'):
                break
            time.sleep(_INTERVAL)
        raise SystemExit(
            f'bench: {url} is {stack["stack_status"]}, not {status}: '
            f'{stack["stack_status_reason"]}'
        )


def _measure(name: str, service: _Service, size: int) -> Row:
    started = time.monotonic()
    stack = service.create(f'bench-{time.time_ns()}', size)
    service.wait_for(stack, 'CREATE_COMPLETE')
    created = time.monotonic()
    service.delete(stack)
    service.wait_for(stack, 'DELETE_COMPLETE')
    return Row(name, size, created - started, time.monotonic() - created)


def named_endpoints(words: Sequence[str]) -> dict[str, str]:
    """Return the endpoints of words such as `heat=http://127.0.0.1:8004/v1`."""
    endpoints = {}
    for word in words:
        name, separator, url = word.partition('=')
        if not separator:
            raise SystemExit(f'bench: --endpoint {word}: expected NAME=URL')
        endpoints[name] = url.rstrip('/')
    return endpoints
