"""A file of the machine that the worker runs on."""

import hashlib
import os
import socket
import stat
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.domain.resource_results import Property, Ready
from watcherlite.plugins import base, options
from watcherlite.plugins.base import ResourceContext, ResourceHandler
from watcherlite.plugins.resource_handlers import file_access
from watcherlite.plugins.resource_handlers.errors import ResourceFault

NAME = 'Local::File'
#: In the data: the resource that the file says it belongs to.
_OWNER = 'resource'
#: Likewise: the machine that it was written on.
_HOST = 'host'
_GROUP = options.group_name(base.RESOURCE_HANDLERS, NAME)
_WRITING = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

OPTIONS: tuple[cfg.Opt, ...] = (
    cfg.MultiOpt(
        'directories',
        item_type=file_access.Directory(),
        sample_default='/srv/stacks',
        mutable=True,
        help='A directory below which stacks may make files, as an absolute path. '
        'Repeat the option to allow several; nothing is allowed by default.\n\n'
        'Who may create stacks may make and overwrite what stands here as the user '
        'that runs the engine: do not allow a directory that programs of this '
        'machine read their settings or their code from. Links that lead out of it '
        'are not followed.',
    ),
)


class LocalFile(ResourceHandler):
    """Makes a file, and keeps it as it is said to be.

    Next to it stands a hidden file that says whose it is, so that nothing is
    overwritten or deleted that the stack did not make. A FAILED one is written
    anew. A lock of the stack takes the right to write away from everybody.
    """

    description = 'A file of the machine that the engine runs on.'
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
            'Where it is: below a directory that the operator allows, which is '
            'there already. Another path is another file.',
            required=True,
        ),
        'content': Property(
            {'type': 'string', 'default': ''}, 'What is in it.', updatable=True
        ),
        'mode': Property(
            {
                'type': 'string',
                'pattern': '^0[0-7]{3}$',
                'description': "octal digits in quotes, such as '0644'",
                'default': '0644',
            },
            "Who may read and write it, in octal digits: `'0644'`.",
            updatable=True,
        ),
        'owner': Property(
            {
                'type': 'string',
                'pattern': '^[\\w.-]+(:[\\w.-]+)?$',
                'description': 'a user, or user:group',
            },
            'Whose it is: a user, or `user:group`, as names or numbers. To give '
            'files away the engine needs the right to.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'path': 'Where it is.',
        'sha256': 'The hash of its content.',
        'size': 'How many bytes it has.',
    }

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        """Return where files may be."""
        return OPTIONS

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Refuse a path that the operator does not allow."""
        path = properties.get('path')
        if path is None:
            return
        allowed = self.options.directories or ()
        wrong = file_access.taken_name(path)
        if wrong:
            raise exceptions.StackValidationFailed(f'properties.path: {wrong}')
        wrong = file_access.wrong_path(path) or file_access.outside(path, allowed)
        if wrong:
            raise exceptions.StackValidationFailed(
                f'properties.path: {wrong} (option directories in the group [{_GROUP}])'
            )

    def host(self, physical_id: str | None, data: Mapping[str, Any]) -> str | None:
        """Return the machine that it was written on."""
        return data.get(_HOST)

    def create(self, context: ResourceContext) -> Ready:
        """Write it, unless there is one that is not ours."""
        path = context.properties['path']
        context.fence()
        with self._place(path) as place:
            is_new = place.claim(context.resource_uuid)
            try:
                return self._write(place, context)
            except BaseException:
                if is_new:
                    # Nothing of a file that was not made stays, either.
                    place.remove(context.resource_uuid)
                raise

    def find(self, context: ResourceContext) -> Ready | None:
        """Write again what is ours."""
        with self._place(context.properties['path']) as place:
            if place.owner() != context.resource_uuid:
                return None
            return self._write(place, context)

    def adopt(self, context: ResourceContext) -> Ready:
        """Have it belong to this resource, if it is what it should be."""
        path = context.properties['path']
        if context.physical_id != path:
            raise ResourceFault(f'{path} is not the file {context.physical_id}')
        self.check(context)
        with self._place(path) as place:
            place.take_over(context.resource_uuid, context.data.get(_OWNER))
        return Ready(
            physical_id=path,
            data={**context.data, _OWNER: context.resource_uuid},
        )

    def check(self, context: ResourceContext) -> Ready:
        """Look whether it is what it should be."""
        wanted = context.properties
        self._check_here(context, wanted['path'])
        with self._place(wanted['path']) as place:
            found = place.look()
            if found is None:
                raise ResourceFault(f'{wanted["path"]} is not there')
            wrong = []
            if found.sha256 != _sha256(wanted['content']):
                wrong.append('its content is another')
            mode = _mode(wanted, locked=bool(context.data.get('locked')))
            if found.mode != mode:
                wrong.append(f'its mode is {found.mode:04o}, not {mode:04o}')
            if 'owner' in wanted and not file_access.fits(
                wanted['owner'], found.user, found.group
            ):
                wrong.append(f'it does not belong to {wanted["owner"]}')
        if wrong:
            raise ResourceFault(f'{wanted["path"]}: {"; ".join(wrong)}')
        return Ready()

    def check_external(self, context: ResourceContext) -> Ready:
        """Look whether there is a file at that path, below an allowed directory."""
        path = context.physical_id or ''
        with self._place(path) as place:
            found = place.look()
        if found is None:
            raise ResourceFault(f'{path} is not there')
        return Ready(attributes={'path': path, 'sha256': found.sha256})

    def update(self, context: ResourceContext) -> Ready:
        """Write it anew."""
        self._check_here(context, context.properties['path'])
        return self.create(context)

    def delete(self, context: ResourceContext) -> None:
        """Delete it, if it is still ours."""
        path = context.physical_id or context.properties.get('path')
        self._check_here(context, path)
        if not path or not os.path.isdir(os.path.dirname(path)):
            return
        context.fence()
        with self._place(path) as place:
            if place.owner() == context.resource_uuid:
                place.remove(context.resource_uuid)

    def lock(self, context: ResourceContext) -> Ready:
        """Take the right to write away."""
        self._set_mode(context, locked=True)
        return Ready(data={**context.data, 'locked': True})

    def unlock(self, context: ResourceContext) -> Ready:
        """Give the right to write back; a file that is gone needs none."""
        path = context.properties['path']
        self._check_here(context, path)
        if not os.path.lexists(path):
            return Ready(data=_unlocked(context), reason=f'{path} is not there')
        self._set_mode(context, locked=False)
        return Ready(data=_unlocked(context))

    def _check_here(self, context: ResourceContext, path: str | None) -> None:
        """Raise StateUnknown if it is on another machine, and not visible here.

        Several machines may share a directory: what says that it belongs to the
        resource is the file then.
        """
        host = context.data.get(_HOST)
        if host in (None, socket.gethostname()) or path is None:
            return
        if os.path.isdir(os.path.dirname(path)):
            with self._place(path) as place:
                if place.owner() == context.resource_uuid:
                    return
        raise exceptions.StateUnknown(
            f'{context.resource_name} is on {host}, and this worker on '
            f'{socket.gethostname()}: run one there'
        )

    def _set_mode(self, context: ResourceContext, locked: bool) -> None:
        self._check_here(context, context.properties['path'])
        context.fence()
        with self._place(context.properties['path']) as place:
            place.set_mode(_mode(context.properties, locked))

    def _write(self, place: file_access.Place, context: ResourceContext) -> Ready:
        wanted = context.properties
        content = wanted['content'].encode()
        owner = file_access.numbers(wanted['owner']) if 'owner' in wanted else None
        mode = _mode(wanted, locked=bool(context.data.get('locked')))
        place.write(content, mode, owner, context.resource_uuid)
        return Ready(
            physical_id=wanted['path'],
            attributes={
                'path': wanted['path'],
                'sha256': _sha256(wanted['content']),
                'size': len(content),
            },
            data={
                **context.data,
                _OWNER: context.resource_uuid,
                _HOST: socket.gethostname(),
            },
        )

    def _place(self, path: str) -> file_access.Place:
        return file_access.Place(path, self.options.directories or ())


def _mode(properties: Mapping[str, Any], locked: bool) -> int:
    mode = int(properties['mode'], 8)
    return mode & ~_WRITING if locked else mode


def _unlocked(context: ResourceContext) -> dict[str, Any]:
    return {key: value for key, value in context.data.items() if key != 'locked'}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
