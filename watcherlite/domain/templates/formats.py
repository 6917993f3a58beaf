"""The formats of templates: the keys of their documents, and pseudo parameters."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite.domain.documents.yaml_values import Path

#: The region of every stack for templates of AWS, as in Heat.
REGION = 'ap-southeast-1'


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Format:
    """A format of templates.

    The sections and keys of all formats have the names of HOT in the code.

    :param type: its name in the API
    :param version_keys: the keys of the version of a template
    :param keys: the keys of its documents, by their names in HOT; others are the same
    :param types: the types of parameters, by their names in HOT
    :param pseudo: the pseudo parameters: name -> key of `pseudo_values`
    :param parameter_usage: a reference to a parameter, for messages
    :param condition_example: a condition, for messages
    """

    type: str
    version_keys: tuple[str, ...]
    keys: Mapping[str, str]
    types: Mapping[str, str]
    pseudo: Mapping[str, str]
    parameter_usage: str
    condition_example: str

    def key(self, name: str) -> str:
        """Return a key of its documents by the name in HOT."""
        return self.keys.get(name, name)

    def path(self, section: str, name: str, *keys: str) -> Path:
        """Return the path to a declaration, or to a part of it.

        :param section, keys: by their names in HOT
        :param name: of the resource, output, parameter or condition
        """
        return (self.key(section), name, *map(self.key, keys))

    def pseudo_values(
        self, *, name: str, uuid: str | None, tenant: str
    ) -> dict[str, Any]:
        """Return the values of the pseudo parameters of a stack."""
        arn = f'arn:openstack:heat::{tenant}:stacks/{name}/{uuid}'
        known = {
            'name': name,
            'uuid': uuid,
            'tenant': tenant,
            'arn': None if uuid is None else arn,
            'region': REGION,
        }
        return {parameter: known[key] for parameter, key in self.pseudo.items()}


HOT = Format(
    'hot',
    ('heat_template_version',),
    keys={},
    types={
        name: name
        for name in ('string', 'number', 'boolean', 'json', 'comma_delimited_list')
    },
    pseudo={
        'OS::stack_name': 'name',
        'OS::stack_id': 'uuid',
        'OS::project_id': 'tenant',
    },
    parameter_usage='get_param',
    condition_example='{equals: [{get_param: size}, small]}',
)
#: The format of AWS CloudFormation.
CFN = Format(
    'cfn',
    ('HeatTemplateFormatVersion', 'AWSTemplateFormatVersion'),
    keys={
        'description': 'Description',
        'parameters': 'Parameters',
        'mappings': 'Mappings',
        'conditions': 'Conditions',
        'resources': 'Resources',
        'outputs': 'Outputs',
        'type': 'Type',
        'properties': 'Properties',
        'metadata': 'Metadata',
        'depends_on': 'DependsOn',
        'deletion_policy': 'DeletionPolicy',
        'update_policy': 'UpdatePolicy',
        'condition': 'Condition',
        'value': 'Value',
        'default': 'Default',
    },
    types={
        'string': 'String',
        'number': 'Number',
        'boolean': 'Boolean',
        'json': 'Json',
        'comma_delimited_list': 'CommaDelimitedList',
    },
    pseudo={'AWS::StackName': 'name', 'AWS::StackId': 'arn', 'AWS::Region': 'region'},
    parameter_usage='Ref with a parameter',
    condition_example='{Fn::Equals: [{Ref: size}, small]}',
)
FORMATS = (HOT, CFN)


def format_of(template: object) -> Format:
    """Return the format of a parsed template, which may be invalid."""
    if isinstance(template, Mapping):
        for one in FORMATS:
            if any(key in template for key in one.version_keys):
                return one
    return HOT


def section(template: object, name: str) -> Any:
    """Return a section of a parsed template as it is written, or None.

    :param name: in HOT
    """
    if not isinstance(template, Mapping):
        return None
    return template.get(format_of(template).key(name))


def mapping_section(template: object, name: str) -> Mapping[str, Any]:
    """Return a section of a parsed template; empty if it is invalid."""
    found = section(template, name)
    return found if isinstance(found, Mapping) else {}
