"""The type of options whose value is a network."""

import ipaddress
from typing import Any

from oslo_config import types


class Network(types.String):
    """The type of an option's value that is a network: 10.0.0.0/8."""

    def __call__(self, value: Any) -> str:
        return str(ipaddress.ip_network(str(super().__call__(value))))

    def __repr__(self) -> str:
        return 'Network'
