"""The registered payload classes."""

import functools

from watcherlite.objects import action, action_plan, audit, base, cluster, nested, stack

#: The modules of nested payloads come first.
_MODULES = (nested, audit, action_plan, action, stack, cluster)


@functools.cache
def payload_classes() -> dict[str, type[base.Payload]]:
    """Return all payload classes by their names on the wire, nested ones first."""
    registered = base.registered()
    return {
        cls.obj_name(): cls
        for module in _MODULES
        for cls in vars(module).values()
        if isinstance(cls, type)
        and issubclass(cls, base.Payload)
        and cls.obj_name() in registered
    }
