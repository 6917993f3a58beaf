"""A file on the machine of the worker."""

import hashlib
import os
import socket
import stat
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.domain.resource_results import Property, Ready
from watcherlite.plugins import base, options, paths
from watcherlite.plugins.base import ResourceContext, ResourceHandler
from watcherlite.plugins.resource_handlers import file_access
from watcherlite.plugins.resource_handlers.errors import ResourceFault

NAME = 'Local::File'
#: In the data: the resource recorded as the owner of the file.
_OWNER = 'resource'
#: In the data: the machine on which it was written.
_HOST = 'host'
_GROUP = options.group_name(base.RESOURCE_HANDLERS, NAME)
_WRITING = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

OPTIONS: tuple[cfg.Opt, ...] = (
    cfg.MultiOpt(
        'directories',
        item_type=paths.Directory(),
        sample_default='/srv/stacks',
        mutable=True,
        help='A directory below which stacks may create files, as an absolute path. '
        'Repeat the option to allow several; nothing is allowed by default.\n'
        '\n'
        'Users who may create stacks can create and overwrite files there as '
        'the user that runs the engine: do not allow a directory from which '
        'programs of this machine read configuration or code. Links that lead '
        'out of it are not followed.',
    ),
)


class LocalFile(ResourceHandler):
    """Write a file with the given content, mode and owner.

    A hidden file next to it records the owner, so that files not created by the stack
    are neither overwritten nor deleted. A FAILED file is written again. A lock of the
    stack removes write permission for everybody.
    """

    description = 'A file on the machine of the engine.'
    idempotent = True
    replaces_failed = False
    modified_by_signals = False
    properties: ClassVar[Mapping[str, Property]] = {
        'path': Property(
            {
                'type': 'string',
                'pattern': '^/[^\\x00]*[^/\\x00]$',
                'description': 'an absolute path',
            },
            'Its path: below an existing directory that the operator allows. Another '
            'path is another file.',
            required=True,
        ),
        'content': Property(
            {'type': 'string', 'default': ''}, 'Its content.', updatable=True
        ),
        'mode': Property(
            {
                'type': 'string',
                'pattern': '^0[0-7]{3}$',
                'description': "octal digits in quotes, such as '0644'",
                'default': '0644',
            },
            "Its permissions, in octal digits: `'0644'`.",
            updatable=True,
        ),
        'owner': Property(
            {
                'type': 'string',
                'pattern': '^[\\w.-]+(:[\\w.-]+)?$',
                'description': 'a user, or user:group',
            },
            'Its owner: a user, or `user:group`, as names or numbers. The engine '
            'needs the permission to change owners.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'path': 'Its path.',
        'sha256': 'The hash of its content.',
        'size': 'Its size in bytes.',
    }

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return OPTIONS

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Refuse a path that the operator does not allow."""
        path = properties.get('path')
        if path is None:
            return
        allowed = self.options.directories or ()
        wrong = file_access.reserved_name_problem(path)
        if wrong:
            raise exceptions.StackValidationFailed(f'properties.path: {wrong}')
        wrong = paths.problem(path) or file_access.outside_problem(path, allowed)
        if wrong:
            raise exceptions.StackValidationFailed(
                f'properties.path: {wrong} (option directories in the group [{_GROUP}])'
            )

    def host(self, physical_id: str | None, data: Mapping[str, Any]) -> str | None:
        return data.get(_HOST)

    def create(self, context: ResourceContext) -> Ready:
        """Write it, unless a foreign file exists."""
        path = context.properties['path']
        context.fence()
        with self._managed_path(path) as place:
            is_new = place.claim(context.resource_uuid)
            try:
                return self._write(place, context)
            except BaseException:
                if is_new:
                    # Remove traces of a file that was not written.
                    place.remove(context.resource_uuid)
                raise

    def find(self, context: ResourceContext) -> Ready | None:
        """Write our own file again."""
        with self._managed_path(context.properties['path']) as place:
            if place.owner() != context.resource_uuid:
                return None
            return self._write(place, context)

    def adopt(self, context: ResourceContext) -> Ready:
        """Adopt it, if it has the expected properties."""
        path = context.properties['path']
        if context.physical_id != path:
            raise ResourceFault(f'{path} is not the file {context.physical_id}')
        self.check(context)
        with self._managed_path(path) as place:
            place.take_over(context.resource_uuid, context.data.get(_OWNER))
        return Ready(
            physical_id=path, data={**context.data, _OWNER: context.resource_uuid}
        )

    def check(self, context: ResourceContext) -> Ready:
        """Check its content, mode and owner."""
        desired = context.properties
        self._check_here(context, desired['path'])
        with self._managed_path(desired['path']) as place:
            found = place.read_attributes()
            if found is None:
                raise ResourceFault(f'{desired["path"]} does not exist')
            wrong = []
            if found.sha256 != _sha256(desired['content']):
                wrong.append('its content differs')
            mode = _mode(desired, locked=bool(context.data.get('locked')))
            if found.mode != mode:
                wrong.append(f'its mode is {found.mode:04o}, not {mode:04o}')
            if 'owner' in desired and not file_access.has_owner(
                desired['owner'], found.user, found.group
            ):
                wrong.append(f'it does not belong to {desired["owner"]}')
        if wrong:
            raise ResourceFault(f'{desired["path"]}: {"; ".join(wrong)}')
        return Ready()

    def check_external(self, context: ResourceContext) -> Ready:
        """Check that a file exists at that path, below an allowed directory."""
        path = context.physical_id or ''
        with self._managed_path(path) as place:
            found = place.read_attributes()
        if found is None:
            raise ResourceFault(f'{path} does not exist')
        return Ready(attributes={'path': path, 'sha256': found.sha256})

    def update(self, context: ResourceContext) -> Ready:
        """Write it again."""
        self._check_here(context, context.properties['path'])
        return self.create(context)

    def delete(self, context: ResourceContext) -> None:
        """Delete it, if it is still ours."""
        path = context.physical_id or context.properties.get('path')
        self._check_here(context, path)
        if not path or not os.path.isdir(os.path.dirname(path)):
            return
        context.fence()
        with self._managed_path(path) as place:
            if place.owner() == context.resource_uuid:
                place.remove(context.resource_uuid)

    def lock(self, context: ResourceContext) -> Ready:
        """Remove write permission."""
        self._set_mode(context, locked=True)
        return Ready(data={**context.data, 'locked': True})

    def unlock(self, context: ResourceContext) -> Ready:
        """Restore write permission; a missing file needs none."""
        path = context.properties['path']
        self._check_here(context, path)
        if not os.path.lexists(path):
            return Ready(data=_unlocked(context), reason=f'{path} does not exist')
        self._set_mode(context, locked=False)
        return Ready(data=_unlocked(context))

    def _check_here(self, context: ResourceContext, path: str | None) -> None:
        """Raise StateUnknown if it is on another machine, and not visible here.

        Several machines may share a directory: then the record of its owner is visible.
        """
        host = context.data.get(_HOST)
        if host in (None, socket.gethostname()) or path is None:
            return
        if os.path.isdir(os.path.dirname(path)):
            with self._managed_path(path) as place:
                if place.owner() == context.resource_uuid:
                    return
        raise exceptions.StateUnknown(
            f'{context.resource_name} is on {host}, and this worker on '
            f'{socket.gethostname()}: run a worker there'
        )

    def _set_mode(self, context: ResourceContext, locked: bool) -> None:
        self._check_here(context, context.properties['path'])
        context.fence()
        with self._managed_path(context.properties['path']) as place:
            place.set_mode(_mode(context.properties, locked))

    def _write(self, place: file_access.ManagedPath, context: ResourceContext) -> Ready:
        desired = context.properties
        content = desired['content'].encode()
        owner = (
            file_access.resolve_owner(desired['owner']) if 'owner' in desired else None
        )
        mode = _mode(desired, locked=bool(context.data.get('locked')))
        place.write(content, mode, owner, context.resource_uuid)
        return Ready(
            physical_id=desired['path'],
            attributes={
                'path': desired['path'],
                'sha256': _sha256(desired['content']),
                'size': len(content),
            },
            data={
                **context.data,
                _OWNER: context.resource_uuid,
                _HOST: socket.gethostname(),
            },
        )

    def _managed_path(self, path: str) -> file_access.ManagedPath:
        return file_access.ManagedPath(path, self.options.directories or ())


def _mode(properties: Mapping[str, Any], locked: bool) -> int:
    mode = int(properties['mode'], 8)
    return mode & ~_WRITING if locked else mode


def _unlocked(context: ResourceContext) -> dict[str, Any]:
    return {key: value for key, value in context.data.items() if key != 'locked'}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
