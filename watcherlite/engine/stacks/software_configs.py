"""Software configs that a template refers to, and that it does not have itself."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain import software

#: As both kinds of configs have it.
_ID = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
#: The attributes of a resource that is a config.
_CONFIG = frozenset({'config', 'show'})


def read_attributes(
    store: Store, tenant: str, references: Iterable[str]
) -> dict[str, Mapping[str, Any]]:
    """Return the attributes of the software configs of a project, by reference.

    Two statements at most for each reference that looks like an id.

    :param references: those that are not the ids of configs are ignored
    """
    found = {}
    for reference in set(references):
        if not isinstance(reference, str) or not _ID.fullmatch(reference):
            continue
        attributes = _attributes(store, tenant, reference)
        if attributes is not None:
            found[reference] = attributes
    return found


def _attributes(store: Store, tenant: str, uuid: str) -> Mapping[str, Any] | None:
    try:
        return software.attributes_of(store.find_software_config(uuid, tenant))
    except exceptions.NotFound:
        # The id of a config of a stack is the uuid of its resource.
        row = store.resource_of_project(uuid, tenant)
    if row is None or not row.attributes.keys() >= _CONFIG:
        return None
    return row.attributes
