"""A group of numbered resources of one definition."""

import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain import groups
from watcherlite.domain.resource_results import Expansion, Member, Property
from watcherlite.plugins.base import NestedContext, NestedHandler
from watcherlite.plugins.resource_handlers import group_batches

BATCH_CREATE = 'batch_create'
#: In its data: the removed names and their references.
REMOVED = 'removed'


class ResourceGroup(NestedHandler):
    """Create `count` resources of one definition, named `0`, `1` and so on.

    When the group shrinks, the highest numbers are removed, unless removal policies
    select others. Removed names are not reused.
    """

    description = 'A number of identical resources.'
    idempotent = True
    member_attributes = ('attributes',)
    lists_member_attributes = True
    properties: ClassVar[Mapping[str, Property]] = {
        'count': Property(
            {**group_batches.COUNT, 'default': 1},
            'The number of members.',
            updatable=True,
        ),
        'index_var': Property(
            {'type': 'string', 'minLength': 3, 'default': '%index%'},
            'The placeholder for the name of a member in `resource_def`.',
        ),
        'resource_def': group_batches.definition_property(
            'The definition of every member.'
        ),
        'removal_policies': Property(
            {
                'type': 'array',
                'items': {
                    'type': 'object',
                    'properties': {'resource_list': {'type': 'array', 'default': []}},
                    'additionalProperties': False,
                },
                'default': [],
            },
            'Members to remove: names, or values of get_resource.',
            updatable=True,
        ),
        'removal_policies_mode': Property(
            {'enum': [groups.APPEND, groups.UPDATE], 'default': groups.APPEND},
            '`append`: a removed name is never reused; `update`: it is reused when '
            'it is no longer listed.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'refs': 'The value of get_resource for each member, in the order of names.',
        'refs_map': 'The same by name.',
        'attributes': 'The attributes of the members: attribute, name, value.',
        'removed_rsrc_list': 'The names that are not reused.',
    }

    def expand(self, context: NestedContext, members: Sequence[Member]) -> Expansion:
        desired = context.properties
        removed = groups.removed(
            context.data.get(REMOVED) or {},
            members,
            desired['removal_policies'],
            desired['removal_policies_mode'],
        )
        names = _names(members, removed)
        target = [next(names) for _ in range(desired['count'])]
        policies = group_batches.policies(
            context, (group_batches.ROLLING_UPDATE, BATCH_CREATE)
        )
        rolling, creation = (
            group_batches.pace(policies[key], key, batch_only=key == BATCH_CREATE)
            if policies.get(key) is not None
            else None
            for key in (group_batches.ROLLING_UPDATE, BATCH_CREATE)
        )
        define = _definition(desired)
        if creation is not None and not members:
            batches = group_batches.creation_batches(context, target, define, creation)
        else:
            # The members with the highest numbers are removed and changed first.
            batches = group_batches.convergence_batches(
                context, members, target[::-1], define, rolling, names
            )
        return Expansion(batches, {**context.data, REMOVED: removed})

    def adopted(self, context: NestedContext, members: Sequence[Member]) -> Expansion:
        """Return the batch of all members, by their names."""
        desired, there = context.properties, {member.name for member in members}
        removed: dict[str, str | None] = dict(context.data.get(REMOVED) or {})
        missing = max(0, desired['count'] - len(there))
        if not missing:
            # All members exist: a missing number was removed.
            numbers = {int(name) for name in there if name.isdecimal()}
            left_out = set(range(max(numbers, default=0))) - numbers
            removed = dict.fromkeys(map(str, sorted(left_out))) | removed
        fresh = groups.index_names(there | removed.keys())
        names = [*there, *itertools.islice(fresh, missing)]
        batches = group_batches.existing_batch(
            context, members, names, _definition(desired)
        )
        return Expansion(batches, {**context.data, REMOVED: removed})

    def gather(
        self,
        context: NestedContext,
        members: Sequence[Member],
        outputs: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        known = sorted(members, key=lambda member: groups.by_index(member.name))
        attributes = group_batches.attributes(known)
        removed = context.data.get(REMOVED) or {}
        return {
            **{name: list(values.values()) for name, values in attributes.items()},
            **group_batches.references(known),
            'attributes': attributes,
            'removed_rsrc_list': sorted(removed, key=groups.by_index),
        }


def _names(members: Iterable[Member], removed: Collection[str]) -> Iterator[str]:
    """Return the possible names of members, in the order of use.

    A name that is not a number is that of an adopted member, which keeps it.
    """
    own = {m.name for m in members if not m.name.isdecimal() and m.name not in removed}
    return itertools.chain(sorted(own), groups.index_names(removed))


def _definition(desired: Mapping[str, Any]) -> Callable[[str], Mapping[str, Any]]:
    """Return a function that returns the definition of a member by its name."""
    definition, variable = desired['resource_def'], desired['index_var']

    @functools.cache
    def define(name: str) -> Mapping[str, Any]:
        defined: Mapping[str, Any] = groups.with_index(definition, variable, name)
        return defined

    return define
