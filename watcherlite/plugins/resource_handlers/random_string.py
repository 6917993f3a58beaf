"""A random text that is constant for the lifetime of its resource."""

import secrets
import string
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.resource_results import Property, Ready
from watcherlite.plugins.base import ResourceContext, ResourceHandler

CLASSES: Mapping[str, str] = {
    'lettersdigits': string.ascii_letters + string.digits,
    'letters': string.ascii_letters,
    'lowercase': string.ascii_lowercase,
    'uppercase': string.ascii_uppercase,
    'digits': string.digits,
    'hexdigits': string.digits + 'ABCDEF',
    'octdigits': string.octdigits,
}
MOST = 512
_LEAST = {'type': 'integer', 'minimum': 0, 'maximum': MOST, 'default': 1}


class RandomString(ResourceHandler):
    """Generate a random text of the given characters.

    Each class and each sequence of characters has a minimum number of occurrences; the
    rest is drawn from all of them. get_resource returns the text.
    """

    description = 'A random text, for passwords and names.'
    # No user has seen the text of a lost worker.
    idempotent = True
    modified_by_signals = False
    properties: ClassVar[Mapping[str, Property]] = {
        'length': Property(
            {'type': 'integer', 'minimum': 1, 'maximum': MOST, 'default': 32},
            'The number of characters.',
        ),
        'sequence': Property(
            {'enum': list(CLASSES)},
            'The class of its characters; superseded by `character_classes`, with '
            'which it cannot be combined.',
        ),
        'character_classes': Property(
            {
                'type': 'array',
                'items': {
                    'type': 'object',
                    'properties': {
                        'class': {'enum': list(CLASSES), 'default': 'lettersdigits'},
                        'min': _LEAST,
                    },
                    'additionalProperties': False,
                },
            },
            'Classes of characters, with the minimum number of each. The default, '
            'without sequences: letters and digits.',
        ),
        'character_sequences': Property(
            {
                'type': 'array',
                'items': {
                    'type': 'object',
                    'properties': {
                        'sequence': {'type': 'string', 'minLength': 1},
                        'min': _LEAST,
                    },
                    'required': ['sequence'],
                    'additionalProperties': False,
                },
            },
            'Sequences of characters, with the minimum number of each.',
        ),
        'salt': Property(
            {'type': 'string'}, 'Any value: a change generates a new text.'
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {'value': 'The text.'}

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Validate that the length suffices for all requirements."""
        if properties.get('sequence') and (
            properties.get('character_classes') or properties.get('character_sequences')
        ):
            raise exceptions.StackValidationFailed(
                'properties.sequence: only one of sequence and character_classes or '
                'character_sequences can be given'
            )
        length = properties.get('length')
        least = sum(least for _, least in _pools(properties))
        if length is not None and length < least:
            raise exceptions.StackValidationFailed(
                f'properties.length: {length} is less than the {least} characters '
                'that the minimums of its classes and sequences add up to'
            )

    def create(self, context: ResourceContext) -> Ready:
        text = generate(context.properties['length'], _pools(context.properties))
        return Ready(physical_id=context.physical_name, attributes={'value': text})

    def check(self, context: ResourceContext) -> Ready:
        return Ready()

    def delete(self, context: ResourceContext) -> None:
        """Do nothing."""

    def reference(self, context: ResourceContext) -> str:
        return str(context.attributes.get('value') or super().reference(context))


def generate(length: int, pools: Sequence[tuple[str, int]]) -> str:
    """Return a text with the minimum number of characters of each pool."""
    chosen = [
        secrets.choice(characters) for characters, least in pools for _ in range(least)
    ]
    everything = ''.join(characters for characters, _ in pools)
    chosen += [secrets.choice(everything) for _ in range(length - len(chosen))]
    secrets.SystemRandom().shuffle(chosen)
    return ''.join(chosen)


def _pools(properties: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return the pools of characters with their minimum numbers.

    Unknown values are not counted.
    """
    pools = []
    for item in properties.get('character_classes') or ():
        if item and item.get('class') and item.get('min') is not None:
            pools.append((CLASSES[item['class']], item['min']))
    for item in properties.get('character_sequences') or ():
        if item and item.get('sequence') and item.get('min') is not None:
            pools.append((item['sequence'], item['min']))
    return pools or [(CLASSES[properties.get('sequence') or 'lettersdigits'], 0)]
