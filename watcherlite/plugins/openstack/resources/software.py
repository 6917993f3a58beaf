"""Software configs: texts for servers, which other resources refer to."""

import email
import os.path
from collections.abc import Iterator, Mapping
from email.message import Message
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from typing import Any, ClassVar

import yaml

from watcherlite.domain.resource_results import Property, Ready
from watcherlite.plugins.base import ResourceContext, ResourceHandler
from watcherlite.plugins.openstack.resources import fields

_KIND = {
    **fields.one_of('String', 'Number', 'CommaDelimitedList', 'Json', 'Boolean'),
    'default': 'String',
}
_GROUP = Property(
    {**fields.TEXT, 'default': 'Heat::Ungrouped'},
    'The kind of the tool that applies it.',
)


class SoftwareConfigBase(ResourceHandler):
    """A text that is constant for the lifetime of its resource."""

    idempotent = True
    modified_by_signals = False
    attributes: ClassVar[Mapping[str, str]] = {'config': 'The text.'}

    def text(self, context: ResourceContext) -> str:
        """Return the text."""
        raise NotImplementedError

    def create(self, context: ResourceContext) -> Ready:
        return Ready(context.resource_uuid, {'config': self.text(context)})

    def check(self, context: ResourceContext) -> Ready:
        return Ready()

    def delete(self, context: ResourceContext) -> None:
        """Do nothing: the text is deleted with its row."""


class SoftwareConfig(SoftwareConfigBase):
    """A script or other configuration for servers."""

    description = 'A script or other configuration for servers.'
    properties: ClassVar[Mapping[str, Property]] = {
        'group': _GROUP,
        'config': Property(fields.TEXT, 'The script or configuration.'),
        'options': Property(fields.MAP, 'Options for the tool that applies it.'),
        'inputs': Property(
            fields.items(
                fields.mapping(
                    {
                        'name': fields.TEXT,
                        'description': fields.TEXT,
                        'type': _KIND,
                        'default': {},
                        'replace_on_change': {**fields.FLAG, 'default': False},
                    },
                    ['name'],
                )
            ),
            'Its inputs.',
        ),
        'outputs': Property(
            fields.items(
                fields.mapping(
                    {
                        'name': fields.TEXT,
                        'description': fields.TEXT,
                        'type': _KIND,
                        'error_output': {**fields.FLAG, 'default': False},
                    },
                    ['name'],
                )
            ),
            'Its outputs.',
        ),
    }

    def text(self, context: ResourceContext) -> str:
        return str(context.properties.get('config') or '')


class CloudConfig(SoftwareConfigBase):
    """A configuration for cloud-init."""

    description = 'A configuration for cloud-init.'
    properties: ClassVar[Mapping[str, Property]] = {
        'cloud_config': Property(fields.MAP, 'The configuration.')
    }

    def text(self, context: ResourceContext) -> str:
        desired = context.properties.get('cloud_config') or {}
        return f'#cloud-config\n{yaml.safe_dump(desired, default_flow_style=False)}'


class MultipartMime(SoftwareConfigBase):
    """Several configurations in one message."""

    description = 'Several configurations for cloud-init in one message.'
    properties: ClassVar[Mapping[str, Property]] = {
        'group': _GROUP,
        'parts': Property(
            {
                **fields.items(
                    fields.mapping(
                        {
                            'config': fields.TEXT,
                            'filename': fields.TEXT,
                            'type': {
                                **fields.one_of('text', 'multipart'),
                                'default': 'text',
                            },
                            'subtype': fields.TEXT,
                        },
                        ['config'],
                    )
                ),
                'default': [],
            },
            'The configurations: each a text, or a reference to a software config of '
            'the template, with a `subtype` or a `filename`. The parts of a '
            '`multipart` are added one by one.',
        ),
    }

    def text(self, context: ResourceContext) -> str:
        parts: list[Message] = []
        for item in context.properties['parts']:
            text = config_text(context, item['config'])
            if item['type'] == 'multipart':
                parts += _parts_of(text)
            else:
                parts.append(
                    _part(text, item.get('subtype'), item.get('filename') or '')
                )
        # A constant boundary: the same parts are the same message.
        boundary = f'==={context.resource_uuid.replace("-", "")}=='
        return MIMEMultipart(_subparts=parts, boundary=boundary).as_string()


def config_text(context: ResourceContext, value: str) -> str:
    """Return the text of a software config of the template, or the value itself."""
    known = context.dependencies.get(value) or {}
    return str(known.get('config', value))


def _parts_of(text: str) -> Iterator[Message]:
    """Yield the parts of a message."""
    message = email.message_from_string(text)
    if not message.is_multipart():
        return
    for part in message.walk():
        if not part.is_multipart():
            payload = part.get_payload(decode=True)
            shown = (
                payload.decode(errors='replace') if isinstance(payload, bytes) else ''
            )
            yield _part(shown, part.get_content_subtype(), part.get_filename() or '')


def _part(text: str, subtype: str | None, filename: str) -> Message:
    if not subtype and filename:
        subtype = os.path.splitext(filename)[0]
    charset = 'us-ascii' if text.isascii() else 'utf-8'
    part = MIMEText(text, subtype or 'plain', charset)
    if filename:
        part.add_header('Content-Disposition', 'attachment', filename=filename)
    return part


class DeployedServer(ResourceHandler):
    """A server that exists already, for software deployments."""

    description = 'A server that exists already, for software deployments.'
    idempotent = True
    modified_by_signals = False
    properties: ClassVar[Mapping[str, Property]] = {
        'name': Property(fields.TEXT, 'The name.', updatable=True),
        'metadata': Property(fields.MAP, 'Accepted and ignored.', updatable=True),
        'software_config_transport': Property(
            {
                **fields.one_of(
                    'POLL_SERVER_CFN',
                    'POLL_SERVER_HEAT',
                    'POLL_TEMP_URL',
                    'ZAQAR_MESSAGE',
                ),
                'default': 'POLL_SERVER_CFN',
            },
            'Accepted and ignored.',
            updatable=True,
        ),
        'deployment_swift_data': Property(
            {**fields.MAP, 'default': {}}, 'Accepted and ignored.', updatable=True
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'name': 'The name.',
        'os_collect_config': 'Always empty.',
    }

    def create(self, context: ResourceContext) -> Ready:
        return Ready(context.resource_uuid, self._attributes(context))

    def update(self, context: ResourceContext) -> Ready:
        return Ready(attributes=self._attributes(context))

    def check(self, context: ResourceContext) -> Ready:
        return Ready()

    def delete(self, context: ResourceContext) -> None:
        """Do nothing: the server belongs to others."""

    def _attributes(self, context: ResourceContext) -> dict[str, Any]:
        name = context.properties.get('name') or context.physical_name
        return {'name': name, 'os_collect_config': {}}
