"""Unique names in a project."""

from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.db.clusters import TITLES, ClusterObject
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.requests import values

#: The action types that rename objects.
_RENAME_ACTIONS: Mapping[type, str] = {
    Cluster: action_types.CLUSTER_UPDATE,
    Node: action_types.NODE_UPDATE,
}


def check_available(
    tx: Transaction,
    kind: type[ClusterObject],
    name: str,
    tenant: str,
    uuid: str = '',
    before: int | None = None,
) -> None:
    """Raise BadRequest for a name that is in use or reserved by an action.

    The names of the project stay locked until the transaction ends.

    :param uuid: of the object that gets the name; '': a new one
    :param before: only actions with a lower id reserve names; None: all
    """
    tx.lock_tenant(tenant)
    # In this order: an action that ends in between has given the name to its target.
    action_type = _RENAME_ACTIONS.get(kind)
    is_reserved = action_type is not None and any(
        action.inputs.get('name') == name
        and action.target != uuid
        and (before is None or action.id < before)
        for action in tx.unfinished_of(action_type, tenant)
    )
    if is_reserved or tx.has_name(kind, name, tenant):
        raise exceptions.BadRequest(f"A {TITLES[kind]} named '{name}' already exists.")


def check_rename(
    tx: Transaction, row: Cluster | Node, name: Any, action_id: int, unique: bool
) -> None:
    """Raise BadRequest if an action cannot rename its target.

    The names in plans are not checked earlier. Of two actions with the same name the
    older one succeeds.

    :param unique: whether names are unique in a project
    """
    if name == row.name:
        return
    values.parse_name(name)
    if unique:
        kind: type[Any] = type(row)
        check_available(tx, kind, name, row.owner.tenant, row.uuid, action_id)
