"""The operations of `os.nova.server`."""

import dataclasses
from collections.abc import Callable, Collection, Mapping
from typing import Any

from watcherlite.domain.resource_results import Operation
from watcherlite.plugins.openstack.resources import references

ACTIVE, SHUTOFF = 'ACTIVE', 'SHUTOFF'
_SOFT, _HARD = 'SOFT', 'HARD'

#: (connection, server, its record, parameters) -> None: the request.
Request = Callable[[Any, Any, Mapping[str, Any], Mapping[str, Any]], None]


@dataclasses.dataclass(frozen=True, slots=True)
class ServerOperation:
    """An operation on a server.

    :param reached: its statuses after the operation; empty: the request is enough
    :param repeats: whether the operation has an effect on a server that has one of
        these statuses already
    :param confirms: whether it ends when a resize is confirmed
    """

    declared: Operation
    request: Request
    reached: Collection[str] = ()
    repeats: bool = False
    confirms: bool = False


def _schema(
    properties: Mapping[str, Mapping[str, Any]], *required: str
) -> Mapping[str, Any]:
    return {
        'type': 'object',
        'properties': dict(properties),
        'required': list(required),
        'additionalProperties': False,
    }


def _plain(description: str) -> Operation:
    return Operation(description, _schema({}))


def _call(method: str) -> Request:
    """Return the request of a method of the compute service."""

    def request(
        connection: Any, server: Any, record: Mapping[str, Any], _: Mapping[str, Any]
    ) -> None:
        getattr(connection.compute, method)(server)

    return request


def _reboot(
    connection: Any, server: Any, record: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    # Nova reboots softly only what is running.
    kind = given.get('type', _SOFT) if record.get('status') == ACTIVE else _HARD
    connection.compute.reboot_server(server, kind)


def _rebuild(
    connection: Any, server: Any, record: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    connection.compute.rebuild_server(server, **given)


def _change_password(
    connection: Any, server: Any, record: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    connection.compute.change_server_password(server, given['admin_pass'])


def _rescue(
    connection: Any, server: Any, record: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    named = given.get('image') or given.get('image_ref')
    image = references.IMAGE.id_of(connection, named) if named else None
    connection.compute.rescue_server(
        server, admin_pass=given.get('admin_pass'), image=image
    )


def _evacuate(
    connection: Any, server: Any, record: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    connection.compute.evacuate_server(server, host=given.get('host'))


_PASSWORD = {'type': 'string', 'minLength': 1}
REBUILD = 'rebuild'
OPERATIONS: Mapping[str, ServerOperation] = {
    'change_password': ServerOperation(
        Operation(
            'Change the password of the administrator.',
            _schema(
                {'admin_pass': {**_PASSWORD, 'description': 'The new password.'}},
                'admin_pass',
            ),
        ),
        _change_password,
    ),
    'evacuate': ServerOperation(
        Operation(
            'Rebuild the server on another host, as its own has failed.',
            _schema(
                {
                    'host': {
                        'type': 'string',
                        'description': 'The host; by default nova chooses one.',
                    },
                    'force': {
                        'type': ['boolean', 'string'],
                        'description': 'Accepted and ignored: nova validates any host.',
                    },
                }
            ),
        ),
        _evacuate,
        reached=(ACTIVE, SHUTOFF),
        repeats=True,
    ),
    'lock': ServerOperation(_plain('Lock the server.'), _call('lock_server')),
    'migrate': ServerOperation(
        _plain('Move the server to another host; it is stopped meanwhile.'),
        _call('migrate_server'),
        reached=(ACTIVE, SHUTOFF),
        repeats=True,
        confirms=True,
    ),
    'pause': ServerOperation(
        _plain('Pause the server.'), _call('pause_server'), reached=('PAUSED',)
    ),
    'reboot': ServerOperation(
        Operation(
            'Reboot the server; one that is not running is rebooted HARD.',
            _schema(
                {
                    'type': {
                        'type': 'string',
                        'enum': [_SOFT, _HARD],
                        'default': _SOFT,
                        'description': 'SOFT, or HARD: without the guest.',
                    }
                }
            ),
        ),
        _reboot,
        reached=(ACTIVE,),
        repeats=True,
    ),
    REBUILD: ServerOperation(
        _plain('Rebuild the server with its image and its administrator password.'),
        _rebuild,
        reached=(ACTIVE, SHUTOFF),
        repeats=True,
    ),
    'rescue': ServerOperation(
        Operation(
            'Boot the server with another image, to rescue it.',
            _schema(
                {
                    'admin_pass': {
                        **_PASSWORD,
                        'description': 'The password meanwhile.',
                    },
                    'image': {
                        'type': 'string',
                        'description': 'The name or id of the image; by default its '
                        'own.',
                    },
                    'image_ref': {
                        'type': 'string',
                        'description': 'The same as `image`.',
                    },
                }
            ),
        ),
        _rescue,
        reached=('RESCUE',),
    ),
    'resume': ServerOperation(
        _plain('Resume the suspended server.'),
        _call('resume_server'),
        reached=(ACTIVE,),
    ),
    'start': ServerOperation(
        _plain('Start the server.'), _call('start_server'), reached=(ACTIVE,)
    ),
    'stop': ServerOperation(
        _plain('Stop the server.'), _call('stop_server'), reached=(SHUTOFF,)
    ),
    'suspend': ServerOperation(
        _plain('Suspend the server.'), _call('suspend_server'), reached=('SUSPENDED',)
    ),
    'unlock': ServerOperation(_plain('Unlock the server.'), _call('unlock_server')),
    'unpause': ServerOperation(
        _plain('Let the paused server run on.'),
        _call('unpause_server'),
        reached=(ACTIVE,),
    ),
    'unrescue': ServerOperation(
        _plain('Boot the rescued server with its own disk again.'),
        _call('unrescue_server'),
        reached=(ACTIVE,),
    ),
}
