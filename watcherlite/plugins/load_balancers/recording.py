"""A load balancer that only notes what it is told, for tests and rehearsals."""

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
        help='The file that each call is appended to, as a line of JSON: `apply` or '
        '`remove` under `call`, the `name`, and the `members`. Without it nothing is '
        'noted.',
    ),
)


class Recording(LoadBalancer):
    """Serves nobody."""

    description = 'Notes what it is told, and serves nobody.'

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        """Return where it notes that."""
        return OPTIONS

    def apply(
        self,
        name: str,
        properties: Mapping[str, Any],
        members: Sequence[Mapping[str, Any]],
    ) -> Mapping[str, Any]:
        """Note who the members are."""
        self._note({'call': 'apply', 'name': name, 'members': list(members)})
        return {'vip_address': properties['vip'].get('address', '127.0.0.1')}

    def remove(self, name: str) -> None:
        """Note that it is not needed any more."""
        self._note({'call': 'remove', 'name': name})

    def _note(self, call: Mapping[str, Any]) -> None:
        path = self.options.file if self.options is not None else None
        if not path:
            return
        with open(path, 'a', encoding='utf-8') as file:
            # Several workers may have the same file.
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(f'{json.dumps(call)}\n')
