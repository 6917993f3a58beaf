"""Which names are free in a project, where names are unique."""

from collections.abc import Mapping

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.db.clustering import TITLES, Noun
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters import actions

#: What changes names, where that is an action.
_RENAMING: Mapping[type, str] = {
    Cluster: actions.CLUSTER_UPDATE,
    Node: actions.NODE_UPDATE,
}


def check_free(
    tx: Transaction, kind: type[Noun], name: str, tenant: str, uuid: str = ''
) -> None:
    """Raise BadRequest for a name that something of its kind has, or is to get.

    Until the transaction ends nobody else names anything in the project.

    :param uuid: what gets the name, if that is there already
    """
    tx.lock_tenant(tenant)
    # In this order: what was to get it has it by the time of the second question
    if _is_to_be(tx, kind, name, tenant, uuid) or tx.has_name(kind, name, tenant):
        raise exceptions.BadRequest(f"A {TITLES[kind]} named '{name}' already exists.")


def _is_to_be(
    tx: Transaction, kind: type[Noun], name: str, tenant: str, uuid: str
) -> bool:
    action_type = _RENAMING.get(kind)
    if action_type is None:
        return False
    return any(
        action.inputs.get('name') == name and action.target != uuid
        for action in tx.unfinished_of(action_type, tenant)
    )
