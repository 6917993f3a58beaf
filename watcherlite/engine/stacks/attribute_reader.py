"""Attributes that the row of a resource does not have: of members, and live ones."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.engine.stacks import handlers, resolution
from watcherlite.engine.stacks.resource_context import (
    DryRunAction,
    HandlerContext,
    build_handler_context,
)
from watcherlite.plugins.base import NestedHandler, ResourceHandler

T = TypeVar('T')


class AttributeReader:
    """Reads attributes for the templates of a stack: implements `resolution.Reader`.

    :param known: the handlers of this process
    :param retry: calls the store
    """

    def __init__(
        self,
        store: Store,
        known: handlers.ResourceHandlers,
        stack: Stack,
        retry: Callable[[Callable[[], Any]], Any] = lambda call: call(),
    ) -> None:
        self._store = store
        self._known = known
        self._stacks = {stack.id: stack}
        self._retry = retry
        self._handlers: dict[str, ResourceHandler | None] = {}

    def members(self, row: Resource) -> Sequence[Resource]:
        """Return the resources of the stack that a resource is; none if it is none."""
        return self._call(lambda: resolution.stored_members(self._store, row))

    def live(self, row: Resource, name: str) -> Any:
        """Return the present value of a live attribute; None: it is none.

        :raises Invalid: it cannot be read
        """
        handler = self._handler(row)
        if handler is None or name not in handler.live_attributes or not row.exists:
            return None
        try:
            return handler.read_attribute(self._context(row), name)
        except exceptions.WatcherliteError as error:
            raise exceptions.Invalid(
                f'The attribute {name} of {row.name} cannot be read: {error}'
            ) from None

    def member_attribute(self, row: Resource, path: Sequence[Any]) -> int | None:
        """Return where in a path the name of an attribute of all members is.

        :returns: None: the path is not that of an attribute of members
        """
        handler = self._handler(row)
        if not isinstance(handler, NestedHandler):
            return None
        first = str(path[0])
        if first in handler.member_attributes:
            return 1 if len(path) > 1 else None
        lists = handler.lists_member_attributes and first not in handler.attributes
        return 0 if lists else None

    def gathered(
        self, row: Resource, members: Sequence[Resource], name: str
    ) -> Mapping[str, Any]:
        """Return the attributes of a group with a live attribute of its members.

        :raises Invalid: it cannot be read
        """
        handler = self._handler(row)
        values = {member.name: self.live(member, name) for member in members}
        if not isinstance(handler, NestedHandler) or not any(
            value is not None for value in values.values()
        ):
            return {}
        found = [one.evolve(attributes={name: values[one.name]}) for one in members]
        given = self._call(lambda: resolution.group_members(self._store, found))
        return handler.gather(self._context(row), given, {})

    def _context(self, row: Resource) -> HandlerContext:
        return build_handler_context(DryRunAction(), self._stack_of(row), row, {})

    def _stack_of(self, row: Resource) -> Stack:
        """Return the stack of a resource: a member belongs to that of its group."""
        if row.stack_id not in self._stacks:
            found = self._call(lambda: self._store.stacks_by_id([row.stack_id]))
            if row.stack_id not in found:
                raise exceptions.Invalid(f'The stack of {row.name} does not exist')
            self._stacks.update(found)
        return self._stacks[row.stack_id]

    def _handler(self, row: Resource) -> ResourceHandler | None:
        """Return the handler of a resource; None: it does not exist here."""
        if row.handler not in self._handlers:
            try:
                made = handlers.make_handler(self._known, row.handler)
            except exceptions.PluginError:
                made = None
            self._handlers[row.handler] = made
        return self._handlers[row.handler]

    def _call(self, call: Callable[[], T]) -> T:
        result: T = self._retry(call)
        return result
