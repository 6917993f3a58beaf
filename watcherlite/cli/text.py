"""Names and counts of plans and actions, as they stand in sentences."""


def plan_label(uuid: str, name: str | None) -> str:
    """Return the name of a plan within a sentence."""
    return f'action plan {name} ({uuid})' if name else f'action plan {uuid}'


def action_count(count: int) -> str:
    """Return a number of actions: `1 action`, `2 actions`."""
    return f'{count} action{"" if count == 1 else "s"}'


def capitalized(text: str) -> str:
    """Return a text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]
