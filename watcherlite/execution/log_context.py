"""The log context of an action: its request and its uuid in every line.

oslo.log asks for the context of the thread, or takes the one that comes with a line,
and writes the request id and the resource of it. Most actions log nothing: what is
written is put together only when a line asks for it.
"""

from typing import Any

from oslo_context import context

from watcherlite.domain.actions import Action


class LogContext(context.RequestContext):
    """The request that an action goes back to, and the action as its resource.

    Whoever reads it, plugins and their libraries included, finds what
    `oslo_context.context.RequestContext` promises. There are no credentials in it.
    """

    # Not the one above it, which takes ten times as long: see `__getattr__`.
    def __init__(self, action: Action) -> None:
        self._action = action

    #: Makes it the context of this thread, until another one is.
    enter = context.RequestContext.update_store

    def update_store(self) -> None:
        """Leave the thread as it is: who reads a context does not work in it."""

    def __getattr__(self, name: str) -> Any:
        """Return what nobody has asked for before, and fill everything in for that."""
        if name.startswith('__') or 'request_id' in self.__dict__:
            raise AttributeError(f'{type(self).__name__} has no {name}')
        asked = self._action.context
        super().__init__(
            user_id=asked.get('user_id'),
            user_name=asked.get('user_name'),
            project_id=asked.get('project_id'),
            resource_uuid=self._action.uuid,
            overwrite=False,
        )
        # Where nobody asked it would have made an id up, which would lead nowhere.
        self.request_id = asked.get('request_id') or ''
        return getattr(self, name)


def about(action: Action) -> dict[str, Any]:
    """Return the `extra` of a line about an action, where no thread is in it."""
    return {'context': LogContext(action)}
