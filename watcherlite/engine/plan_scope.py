"""The objects that a plan names, checked against the authority of its creator.

An object of another project is rejected like one that does not exist.
"""

import dataclasses
import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.db.query import Query
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Node, PolicyObject, Profile
from watcherlite.domain.creators import Creator, of_context
from watcherlite.domain.documents.plan_document import Draft, PlanDocument
from watcherlite.domain.documents.yaml_values import Path
from watcherlite.domain.stacks import Stack
from watcherlite.engine.clusters import action_types
from watcherlite.engine.stacks.actions.plan_actions import TYPES

Kind = type[Stack] | type[Cluster] | type[Node] | type[PolicyObject] | type[Profile]

#: Prefix of a target -> kind of object. A part after a slash is inside of it.
PREFIXES: Mapping[str, Kind] = {'stack:': Stack, 'cluster:': Cluster, 'node:': Node}
#: Input of the actions on clusters and nodes -> kind of the objects that it names.
INPUTS: Mapping[str, Kind] = {
    'candidates': Node,
    'cluster_id': Cluster,
    'new_profile_id': Profile,
    'nodes': Node,
    'policy_id': PolicyObject,
}
#: Maximum number of problems that are reported for one document.
MOST_PROBLEMS = 20
#: Stacks per statement.
CHUNK = 500

_UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z', re.IGNORECASE)


@dataclasses.dataclass(frozen=True, slots=True)
class ObjectReference:
    """An object that an action of a plan names.

    :param kind: Stack, Cluster, Node, Profile or PolicyObject; None: a target that is
        just a uuid, which locks the cluster or node that has it
    :param project: that the action names beside it
    """

    kind: Kind | None
    name: str
    path: Path
    project: str | None = None


class PlanScope:
    """Rejects objects outside the project of a plan's creator."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def check(self, document: PlanDocument, creator: Creator) -> None:
        """Raise InvalidDocument for objects that the creator may not act on."""
        if creator.everywhere:
            return
        named = [
            (index, action.name, reference)
            for index, action in enumerate(document.actions)
            for reference in references(
                action.action_type, action.target, action.input_parameters
            )
        ]
        known = self._find_named([reference for _, _, reference in named], creator)
        find: Any = functools.cache(functools.partial(self._problem, creator))
        problems: list[tuple[Path, Path, str]] = []
        for index, name, reference in named:
            kinds = (reference.kind,) if reference.kind else (Cluster, Node)
            found = any((kind, reference.name) in known for kind in kinds)
            if found and not reference.project:
                continue
            text = find(reference.kind, reference.name, reference.project)
            if text is not None:
                path: Path = ('actions', index, *reference.path)
                problems.append((path, path, f'action {name}: {text}'))
            if len(problems) == MOST_PROBLEMS:
                break
        Draft(document, problems, document.markup).finished()

    def rejection_reason(self, action: Action) -> str | None:
        """Return why an action of a plan may not start; None if it may."""
        creator = of_context(action.context)
        if creator.everywhere:
            return None
        for reference in references(action.action_type, action.target, action.inputs):
            text = self._problem(
                creator, reference.kind, reference.name, reference.project
            )
            if text is not None:
                return text
        return None

    def _find_named(
        self, named: list[ObjectReference], creator: Creator
    ) -> set[tuple[Kind | None, str]]:
        """Return the objects named by uuid that the creator may act on."""
        uuids: dict[Kind | None, set[str]] = {}
        for reference in named:
            if _UUID.match(reference.name):
                for kind in (reference.kind,) if reference.kind else (Cluster, Node):
                    uuids.setdefault(kind, set()).add(reference.name)
        desired = [sorted(uuids.get(kind, ())) for kind in (Stack, Cluster, Node)]
        found: set[tuple[Kind | None, str]] = set()
        for start in range(0, len(desired[0]), CHUNK):
            query = Query(
                {'uuid': desired[0][start : start + CHUNK]},
                nested=True,
                tenant=creator.tenant,
            )
            found |= {
                (Stack, listed.stack.uuid) for listed in self._store.list_stacks(query)
            }
        rows: list[Cluster | Node] = []
        if desired[1]:
            rows += self._store.clusters_by_uuid(desired[1]).values()
        if desired[2]:
            rows += self._store.nodes_by_uuid(desired[2]).values()
        return found | {
            (type(row), row.uuid)
            for row in rows
            if row.deleted_at is None and creator.may_act_on(row.owner.tenant)
        }

    def _problem(
        self, creator: Creator, kind: Any, name: str, project: str | None
    ) -> str | None:
        """Return why a named object is rejected; None if it is not."""
        try:
            if kind is Stack:
                self._store.find_stack(name, creator.lookup_project(project))
            elif kind is not None:
                self._store.find_object(kind, name, creator.tenant)
            else:
                return self._problem_of_uuid(creator, name)
        except (exceptions.NotFound, exceptions.Ambiguous) as error:
            return str(error)
        return None

    def _problem_of_uuid(self, creator: Creator, name: str) -> str | None:
        for kind in (Cluster, Node):
            if self._find_named([ObjectReference(kind, name, ())], creator):
                return None
        return f"The target '{name}' could not be found in the project of the plan."


def references(
    action_type: str, target: str | None, inputs: Mapping[str, Any]
) -> Iterator[ObjectReference]:
    """Return the stacks, clusters, nodes, policies and profiles an action names."""
    if action_type in TYPES:
        yield ObjectReference(
            Stack,
            str(inputs['stack']),
            ('input_parameters', 'stack'),
            inputs.get('tenant'),
        )
    if action_type in action_types.DEFINITIONS:
        for key in sorted(set(INPUTS) & set(inputs)):
            for name in _names(inputs[key]):
                yield ObjectReference(INPUTS[key], name, ('input_parameters', key))
    if target is None:
        return
    for prefix, kind in PREFIXES.items():
        if target.startswith(prefix):
            name = target.removeprefix(prefix).partition('/')[0]
            yield ObjectReference(kind, name, ('target',))
            return
    if _UUID.match(target):
        yield ObjectReference(None, target, ('target',))


def _names(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [str(name) for pair in value.items() for name in pair]
    return [str(name) for name in value]
