"""Requests for tests of what does not look at who asks."""

from typing import Any

from tests.unit.api.infra_optim import fakes
from watcherlite.api.operation import Caller, Request, Version

HOST = 'http://watcher.example:9322'
LATEST: Version = (1, 7)


def make_request(version: Version = LATEST, **values: Any) -> Request:
    """Return a request at a version, changed by keyword; its services are None."""
    return fakes.request(
        version=version, **{'caller': Caller(), 'host_url': HOST, **values}
    )
