"""What the actions of stacks work with."""

import dataclasses

from watcherlite.db.api import Store
from watcherlite.engine.operations import Tell
from watcherlite.engine.stacks.handlers import Handlers
from watcherlite.engine.stacks.resolving import Blueprints


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """How large stacks may become.

    :param depth: how many stacks may be around one
    :param resources: how many resources a stack and those in it may have together
    :param template: bytes of a template, and of each file
    :param stacks: how many a project may have, nested ones not counted; 0: any number
    :param timeout: seconds that an operation may take unless the request says else
    """

    depth: int = 5
    resources: int = 1000
    template: int = 524288
    stacks: int = 0
    timeout: int = 3600


@dataclasses.dataclass(frozen=True, slots=True)
class Parts:
    """What the actions of stacks work with.

    :param tell: see `StackOperations`
    """

    store: Store
    handlers: Handlers
    blueprints: Blueprints
    tell: Tell
    limits: Limits = Limits()
