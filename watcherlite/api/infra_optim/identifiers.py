"""What stands for an object in an address or an argument."""

from watcherlite import exceptions
from watcherlite.api import arguments


def uuid(name: str, text: str) -> str:
    """Return a uuid as it is stored, in lower case; Invalid if the text is none.

    :param name: of the argument, for the text of the refusal
    """
    if not arguments.is_uuid(text):
        raise exceptions.Invalid(
            f"Invalid input for field/attribute {name}. Value: '{text}'. unable to "
            f'convert to uuid. Error: Expected a uuid but received {text}'
        )
    return text.lower()
