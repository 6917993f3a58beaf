"""Helpers of the tests of templates."""

import textwrap
from typing import Any

from watcherlite.domain.stacks import Definition
from watcherlite.domain.templates import document
from watcherlite.domain.templates.blueprint import Blueprint, NoReferences

VERSION = '2021-04-16'


class CreatedResources:
    """References to a stack whose resources have all been created."""

    def __init__(self, **attributes: Any) -> None:
        self._attributes = attributes

    def reference(self, name):
        return f'id-of-{name}'

    def attribute(self, name, path):
        value = self._attributes.get(name)
        for step in path:
            value = value[step]
        return value


def parsed(text: str) -> dict[str, Any]:
    """Return the template of an indented text."""
    return document.parse(textwrap.dedent(text).lstrip())


def blueprint(template: Any, version: str = VERSION, **given: Any) -> Blueprint:
    """Return the blueprint of a template, whose version may be missing.

    :param given: fields of the definition
    """
    if isinstance(template, str):
        template = parsed(template)
    template.setdefault('heat_template_version', version)
    definition = Definition(template, **given)
    return Blueprint.of(definition, name='teapot', uuid='1-2-3', tenant='tenant-1')


def evaluated(
    written: Any, references: Any = None, version: str = VERSION, **given: Any
) -> Any:
    """Return the evaluated value of a property."""
    template = {
        'heat_template_version': version,
        'parameters': given.pop('declared', {}),
        'resources': {
            'web': {'type': 'T', 'properties': {'value': written}},
            'db': {'type': 'T'},
        },
    }
    if 'conditions' in given:
        template['conditions'] = given.pop('conditions')
    made = blueprint(template, **given)
    return made.properties('web', references or NoReferences()).get('value')
