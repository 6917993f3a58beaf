"""Requests for tests that do not depend on the caller."""

from typing import Any

from tests.unit.api.infra_optim import fakes
from watcherlite.api.operation import Request
from watcherlite.engine.stacks.services import StackLimits

URL = 'http://127.0.0.1:9322/orchestration'
PROJECT = f'{URL}/v1/acme'


class FakeStacks:
    """The limits of the operations on stacks."""

    limits = StackLimits(template=200)


def make_request(**values: Any) -> Request:
    """Return a request of the project acme, whose services have only limits."""
    path = {'tenant': 'acme', **values.pop('path', {})}
    parts = fakes.services(stacks=FakeStacks(), **values.pop('parts', {}))
    return fakes.request(parts, path=path, mount_url=URL, **values)
