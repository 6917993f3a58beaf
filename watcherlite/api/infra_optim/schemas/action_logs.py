"""JSON schemas of the logs of actions."""

from collections.abc import Mapping

from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.operation import Schema, unversioned
from watcherlite.domain.actions import STREAMS

_SHOWN: Mapping[str, Schema] = {
    'sequence': {'type': 'integer', 'description': 'It increases.'},
    'logged_at': fragments.TIME,
    'attempt': {'type': 'integer', 'description': 'The attempt of the action.'},
    'stream': {'type': 'string', 'enum': list(STREAMS)},
    'text': {'type': 'string', 'description': 'One or more lines.'},
}

COLLECTION = unversioned(fragments.collection('logs', fragments.closed(_SHOWN)))
