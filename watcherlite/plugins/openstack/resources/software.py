"""Software configs: texts for servers, which other resources refer to."""

import email
import os.path
from collections.abc import Collection, Iterator, Mapping, Sequence
from email.message import Message
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from typing import Any, ClassVar

import yaml

from watcherlite import exceptions
from watcherlite.domain.resource_results import Property, Ready
from watcherlite.plugins.base import ResourceContext, ResourceHandler
from watcherlite.plugins.openstack.resources import fields

#: The operations on a stack that may deploy a config, and those that do by default.
ACTIONS = ('CREATE', 'UPDATE', 'DELETE', 'SUSPEND', 'RESUME')
DEFAULT_ACTIONS = ('CREATE', 'UPDATE')
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

    #: The kind of the tool that applies it, if it has no such property.
    group: ClassVar[str] = 'Heat::Ungrouped'
    idempotent = True
    modified_by_signals = False
    attributes: ClassVar[Mapping[str, str]] = {'config': 'The text.'}

    def text(self, context: ResourceContext) -> Any:
        """Return the text."""
        raise NotImplementedError

    def create(self, context: ResourceContext) -> Ready:
        text = self.text(context)
        desired = context.properties
        show = {
            'id': context.resource_uuid,
            'name': context.physical_name,
            'group': desired.get('group') or self.group,
            'config': text,
            'options': dict(desired.get('options') or {}),
            'inputs': list(desired.get('inputs') or ()),
            'outputs': list(desired.get('outputs') or ()),
        }
        return Ready(context.resource_uuid, {'config': text, 'show': show})

    def check(self, context: ResourceContext) -> Ready:
        return Ready()

    def delete(self, context: ResourceContext) -> None:
        """Do nothing: the text is deleted with its row."""


_OPTIONS = Property(fields.MAP, 'Options for the tool that applies it.')
_INPUTS = Property(
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
)
_OUTPUTS = Property(
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
    'Its outputs, which deployments have as attributes.',
)


class SoftwareConfig(SoftwareConfigBase):
    """A script or other configuration for servers."""

    description = 'A script or other configuration for servers.'
    properties: ClassVar[Mapping[str, Property]] = {
        'group': _GROUP,
        'config': Property(fields.TEXT, 'The script or configuration.'),
        'options': _OPTIONS,
        'inputs': _INPUTS,
        'outputs': _OUTPUTS,
    }

    def text(self, context: ResourceContext) -> str:
        return str(context.properties.get('config') or '')


class StructuredConfig(SoftwareConfigBase):
    """A configuration that is a mapping, for servers."""

    description = 'A configuration that is a mapping, for servers.'
    properties: ClassVar[Mapping[str, Property]] = {
        'group': _GROUP,
        'config': Property(fields.MAP, 'The configuration.'),
        'options': _OPTIONS,
        'inputs': _INPUTS,
        'outputs': _OUTPUTS,
    }

    def text(self, context: ResourceContext) -> dict[str, Any]:
        return dict(context.properties.get('config') or {})


class SoftwareComponent(SoftwareConfigBase):
    """The scripts or configurations for the operations on a deployment."""

    description = 'The scripts for the operations on a deployment, each for some.'
    group = 'component'
    properties: ClassVar[Mapping[str, Property]] = {
        'configs': Property(
            {
                **fields.items(
                    fields.mapping(
                        {
                            'actions': {
                                **fields.items(fields.one_of(*ACTIONS)),
                                'minItems': 1,
                                'default': list(DEFAULT_ACTIONS),
                            },
                            'config': fields.TEXT,
                            'tool': fields.TEXT,
                        },
                        ['tool'],
                    )
                ),
                'minItems': 1,
            },
            'The scripts: each a `config` for a `tool`, and its `actions`: CREATE, '
            'UPDATE, SUSPEND, RESUME, DELETE; the default is CREATE and UPDATE.',
            required=True,
        ),
        'options': _OPTIONS,
        'inputs': _INPUTS,
        'outputs': _OUTPUTS,
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'config': 'The configurations, as `configs`.'
    }

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Validate that each action has one script."""
        seen: set[str] = set()
        for item in properties.get('configs') or ():
            for action in (item or {}).get('actions') or ():
                if action in seen:
                    raise exceptions.StackValidationFailed(
                        f'properties.configs: {action} is in several; name it once'
                    )
                seen.add(action)

    def text(self, context: ResourceContext) -> dict[str, Any]:
        return {'configs': list(context.properties['configs'])}


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
            'The configurations: each a text, or the id of a software config, with a '
            '`subtype` or a `filename`. The parts of a `multipart` are added one by '
            'one.',
        ),
    }

    def software_configs(self, properties: Mapping[str, Any]) -> Collection[str]:
        """Return the parts, each of which may be the id of a config."""
        return [item['config'] for item in properties.get('parts') or ()]

    def text(self, context: ResourceContext) -> str:
        parts: list[Message] = []
        for item in context.properties['parts']:
            text = config_text(context, item['config'])
            if item['type'] == 'multipart':
                parts += parts_of(text)
            else:
                parts.append(
                    part(text, item.get('subtype'), item.get('filename') or '')
                )
        return message(parts, context.resource_uuid)


def message(parts: Sequence[Message], seed: str) -> str:
    """Return a message of several parts; its boundary depends on the seed only."""
    boundary = f'==={seed.replace("-", "")}=='
    return MIMEMultipart(_subparts=parts, boundary=boundary).as_string()


def config_text(context: ResourceContext, value: str) -> str:
    """Return the text of the software config with an id, or the value itself."""
    known = context.dependencies.get(value) or {}
    return str(known.get('config', value))


def parts_of(text: str) -> Iterator[Message]:
    """Yield the parts of a message."""
    found = email.message_from_string(text)
    if not found.is_multipart():
        return
    for item in found.walk():
        if not item.is_multipart():
            payload = item.get_payload(decode=True)
            shown = (
                payload.decode(errors='replace') if isinstance(payload, bytes) else ''
            )
            yield part(shown, item.get_content_subtype(), item.get_filename() or '')


def part(text: str, subtype: str | None, filename: str = '') -> Message:
    """Return a part of a message."""
    if not subtype and filename:
        subtype = os.path.splitext(filename)[0]
    charset = 'us-ascii' if text.isascii() else 'utf-8'
    made = MIMEText(text, subtype or 'plain', charset)
    if filename:
        made.add_header('Content-Disposition', 'attachment', filename=filename)
    return made
