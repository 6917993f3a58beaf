"""A load balancer driver that only records its calls, for tests and rehearsals."""

import fcntl
import json
from collections.abc import Mapping, Sequence
from typing import Any

from oslo_config import cfg

from watcherlite.plugins.base import LoadBalancer

OPTIONS: tuple[cfg.Opt, ...] = (
    cfg.StrOpt(
        'file',
        mutable=True,
        help='The file to which each call is appended, as a line of JSON: `apply` or '
        '`remove` under `call`, the `name`, and the `members`. Without it '
        'nothing is recorded.',
    ),
)


class Recording(LoadBalancer):
    """Record calls without any load balancer."""

    description = 'Records its calls, and serves no requests.'

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return OPTIONS

    def apply(
        self,
        name: str,
        properties: Mapping[str, Any],
        members: Sequence[Mapping[str, Any]],
    ) -> Mapping[str, Any]:
        self._record({'call': 'apply', 'name': name, 'members': list(members)})
        return {'vip_address': properties['vip'].get('address', '127.0.0.1')}

    def remove(self, name: str) -> None:
        self._record({'call': 'remove', 'name': name})

    def _record(self, call: Mapping[str, Any]) -> None:
        path = self.options.file if self.options is not None else None
        if not path:
            return
        with open(path, 'a', encoding='utf-8') as file:
            # Several workers may use the same file.
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(f'{json.dumps(call)}\n')
