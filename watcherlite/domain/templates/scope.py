"""What functions are evaluated with, and how much they may make."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from watcherlite.domain.json_values import MAX_DEPTH

#: How many characters and values all functions of one resource, or of one output,
#: may make: a few nested replacements of a short text would fill any memory.
MAX_MADE = 4 * 1024 * 1024


class References(Protocol):
    """What has become of the resources of a stack.

    What has not been made, and what it does not have, is None.
    """

    def reference(self, name: str) -> Any:
        """Return what get_resource gives."""

    def attribute(self, name: str, path: Sequence[Any]) -> Any:
        """Return what get_attr gives; the path begins with the attribute."""


class NothingMade:
    """References before anything has been made."""

    def reference(self, name: str) -> Any:
        """Return None."""
        return None

    def attribute(self, name: str, path: Sequence[Any]) -> Any:
        """Return None."""
        return None


class Unfit(Exception):
    """A function cannot work on what it was given; the text says why.

    It repeats no value: any may be of a hidden parameter.

    :ivar names: what else to say, if the template has these names as they are
    """

    def __init__(self, text: str, names: Iterable[str] = ()) -> None:
        self.names = tuple(names)
        super().__init__(text)


class _Omitted:
    """What stands where an `if` without an alternative leaves out what it is in."""

    def __repr__(self) -> str:
        return 'OMITTED'


OMITTED = _Omitted()


@dataclasses.dataclass(slots=True)
class Scope:
    """The surroundings of one evaluation; not to be shared by threads.

    :param parameters: by name, with the pseudo parameters
    :param conditions: the named ones, decided
    :param left: how much may still be made
    """

    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    conditions: Mapping[str, bool] = dataclasses.field(default_factory=dict)
    references: References = dataclasses.field(default_factory=NothingMade)
    left: int = MAX_MADE

    def again(self) -> 'Scope':
        """Return the same surroundings, for another evaluation."""
        return dataclasses.replace(self, left=MAX_MADE)

    def spend(self, amount: int) -> None:
        """Count what is about to be made; raises Unfit when it is too much."""
        self.left -= amount
        if self.left < 0:
            raise Unfit(
                f'this makes more than {MAX_MADE} characters and values; make less'
            )

    def made(self, value: Any) -> Any:
        """Return a copy that nobody shares, and count it."""
        return self._made(value, 0)

    def _made(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            self.spend(len(value))
            return value
        self.spend(1)
        if depth > MAX_DEPTH:
            raise Unfit(f'this is nested deeper than {MAX_DEPTH} levels')
        if isinstance(value, Mapping):
            return {k: self._made(v, depth + 1) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._made(v, depth + 1) for v in value]
        return value


def copied(value: Any) -> Any:
    """Return a copy of what a template says; it is no deeper than templates are."""
    if isinstance(value, dict):
        return {key: copied(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [copied(inner) for inner in value]
    return value
