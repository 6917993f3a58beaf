"""The services and limits that operations and actions on stacks share."""

import dataclasses

from watcherlite.db.api import Store
from watcherlite.domain import commands
from watcherlite.domain.templates.scope import MAX_EVALUATED, MAX_SHOWN
from watcherlite.engine.affinity import LiveHosts
from watcherlite.engine.stacks.handlers import ResourceHandlers
from watcherlite.engine.stacks.resolution import Blueprints


@dataclasses.dataclass(frozen=True, slots=True)
class StackLimits:
    """The limits of stacks.

    :param depth: the maximum number of ancestors
    :param resources: the maximum number of resources in a tree of stacks
    :param template: the maximum size of a template, and of each file, in bytes
    :param stacks: the quota of root stacks of a project; 0: unlimited
    :param software_configs: the quota of software configs of a project, without those
        of stacks; 0: unlimited. `software_deployments` likewise
    :param timeout: the default timeout of an operation, in seconds
    :param evaluated: the maximum number of characters and values that the functions of
        templates produce for one request
    :param shown: the maximum size of the outputs of a stack, and of a preview, in bytes
    """

    depth: int = 5
    resources: int = 1000
    template: int = 524288
    stacks: int = 0
    timeout: int = 3600
    evaluated: int = MAX_EVALUATED
    shown: int = MAX_SHOWN
    software_configs: int = 4096
    software_deployments: int = 4096


@dataclasses.dataclass(frozen=True, slots=True)
class StackServices:
    """The services for operations and actions on stacks.

    :param hosts: this host, and the others that are alive
    """

    store: Store
    handlers: ResourceHandlers
    blueprints: Blueprints
    messenger: commands.Messenger
    limits: StackLimits = StackLimits()
    hosts: LiveHosts = dataclasses.field(default_factory=LiveHosts)
