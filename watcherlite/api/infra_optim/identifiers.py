"""What stands for an object in an address or an argument."""

import re

from watcherlite import exceptions

_UUID = re.compile(
    r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', re.IGNORECASE
)


def uuid(name: str, text: str) -> str:
    """Return a uuid as it is stored, in lower case; Invalid if the text is none.

    :param name: of the argument, for the text of the refusal
    """
    if not _UUID.fullmatch(text):
        raise exceptions.Invalid(
            f"Invalid input for field/attribute {name}. Value: '{text}'. unable to "
            f'convert to uuid. Error: Expected a uuid but received {text}'
        )
    return text.lower()
