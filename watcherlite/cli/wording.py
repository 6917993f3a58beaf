"""How plans and their actions are called in sentences."""


def plan(uuid: str, name: str | None) -> str:
    """Return how a plan is called within a sentence."""
    return f'action plan {name} ({uuid})' if name else f'action plan {uuid}'


def actions(count: int) -> str:
    """Return how many actions: `1 action`, `2 actions`."""
    return f'{count} action{"" if count == 1 else "s"}'


def begun(text: str) -> str:
    """Return a text as it begins a sentence."""
    return text[:1].upper() + text[1:]
