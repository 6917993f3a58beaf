"""From what a user sends to the inputs of an action, as clients know them."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain.clusters import Node, Profile
from watcherlite.domain.handling import Operation
from watcherlite.engine.clusters import actions, asking
from watcherlite.engine.clusters.asking import Asker
from watcherlite.engine.clusters.parts import Parts
from watcherlite.plugins.base import ActionType

# What a recovery may be asked for with
OF_CLUSTERS = ('operation', 'operation_params', 'check', 'check_capacity')
OF_NODES = (
    *('operation', 'operation_params', 'check'),
    *('delete_timeout', 'force_recreate'),
)
_FLAGS = frozenset({'check', 'check_capacity', 'force_recreate'})
_RESIZE = (
    *('adjustment_type', 'number', 'min_size', 'max_size'),
    *('min_step', 'strict'),
)
#: What may be asked for with inputs alone: by receivers, and at certain times.
ASKABLE = frozenset(
    {
        *(actions.CLUSTER_RESIZE, actions.CLUSTER_SCALE_IN, actions.CLUSTER_SCALE_OUT),
        *(actions.CLUSTER_CHECK, actions.CLUSTER_RECOVER, actions.CLUSTER_OPERATION),
        *(actions.NODE_CHECK, actions.NODE_RECOVER, actions.NODE_OPERATION),
    }
)
#: By what the nodes are chosen that an operation is for.
FILTERS = ('name', 'profile_id', 'status', 'role')
#: More characters has no JSON path that anybody writes.
LONGEST_PATH = 1024

Values = Mapping[str, Any]


def fit(parts: Parts, schema: Values, values: Values, root: str) -> None:
    """Raise BadRequest for values that do not fit a JSON schema.

    :param root: what the places in the text begin with
    """
    fit_type(parts, type('Inputs', (ActionType,), {'schema': schema}), values, root)


def fit_type(parts: Parts, kind: Any, values: Values, root: str) -> None:
    """Raise BadRequest for inputs that an action type does not take; likewise."""
    try:
        parts.plugins.validate_inputs(kind, dict(values))
    except exceptions.InvalidInput as error:
        # That is what plans call them.
        text = str(error).replace('input_parameters', root)
        raise exceptions.BadRequest(text) from None


# sizes


def resizing(params: Values, most: int) -> dict[str, Any]:
    """Return the inputs of a resize.

    :param most: nodes that a cluster may have
    """
    asking.known_keys(params, _RESIZE)
    kind, number = params.get('adjustment_type'), params.get('number')
    inputs: dict[str, Any] = {}
    if kind is not None:
        if kind not in actions.ADJUSTMENTS:
            raise exceptions.BadRequest(
                f"Invalid value '{kind}' specified for 'adjustment_type': it is one of "
                f'{", ".join(actions.ADJUSTMENTS)}.'
            )
        if number is None:
            raise exceptions.BadRequest('Missing number value for size adjustment.')
        inputs |= {'adjustment_type': kind, 'number': _adjustment(kind, number, most)}
    elif number is not None:
        raise exceptions.BadRequest(
            'Missing adjustment_type value for size adjustment.'
        )
    for name, least in (('min_size', 0), ('max_size', -1), ('min_step', 0)):
        if params.get(name) is not None:
            inputs[name] = asking.number_of(params[name], name, least, most)
    if not inputs:
        raise exceptions.BadRequest(
            'No resize is asked for: an adjustment, or a new min_size or max_size, is '
            'needed.'
        )
    strict = params.get('strict')
    inputs['strict'] = False if strict is None else asking.flag_of(strict, 'strict')
    return inputs


def _adjustment(kind: str, number: Any, most: int) -> int | float:
    if kind == actions.EXACT_CAPACITY:
        return asking.number_of(number, 'number', 0, most)
    if kind == actions.CHANGE_IN_CAPACITY:
        return asking.number_of(number, 'number')
    wrong = exceptions.BadRequest(f"Invalid value '{number}' specified for 'number'")
    if isinstance(number, bool) or not isinstance(number, int | float | str):
        raise wrong
    try:
        value = float(number)
    except (ValueError, OverflowError):
        raise wrong from None
    if not math.isfinite(value) or abs(value) > asking.LARGEST:
        raise wrong
    return int(value) if value.is_integer() else value


def scaling(action_type: str, count: Any, most: int) -> dict[str, Any]:
    """Return the inputs of CLUSTER_SCALE_IN or CLUSTER_SCALE_OUT."""
    if count is None:
        return {}
    number = asking.number_of(count, 'count', 0, most)
    if number == 0:
        what = action_type.removeprefix('CLUSTER_').lower().replace('_', '-')
        raise exceptions.BadRequest(f'Count for {what} request cannot be 0.')
    return {'count': number}


# health


def checking(parts: Parts, action_type: str, params: Values) -> dict[str, Any]:
    """Return the inputs of CLUSTER_CHECK or NODE_CHECK."""
    schema = actions.KINDS[action_type].schema
    asking.known_keys(params, schema['properties'])
    inputs = {key: value for key, value in params.items() if value is not None}
    if 'delete_check_action' in inputs:
        flag = inputs['delete_check_action']
        inputs['delete_check_action'] = asking.flag_of(flag, 'delete_check_action')
    fit(parts, schema, inputs, 'params')
    return inputs


def recovery(
    parts: Parts, action_type: str, profile: Profile, params: Values
) -> dict[str, Any]:
    """Return the inputs of CLUSTER_RECOVER or NODE_RECOVER.

    :param profile: of the cluster or node
    """
    kind = actions.KINDS[action_type]
    asking.known_keys(params, OF_CLUSTERS if kind.on_cluster else OF_NODES)
    inputs = {key: value for key, value in params.items() if value is not None}
    for name in _FLAGS & set(inputs):
        inputs[name] = asking.flag_of(inputs[name], name)
    if 'delete_timeout' in inputs:
        inputs['delete_timeout'] = asking.number_of(
            inputs['delete_timeout'], 'delete_timeout', 0
        )
    if 'operation' in inputs:
        inputs['operation'] = _recovery_operation(parts, profile, inputs['operation'])
    fit(parts, kind.schema, inputs, 'params')
    return inputs


def _recovery_operation(parts: Parts, profile: Profile, value: Any) -> str:
    operation = str(value).upper()
    if operation not in actions.RECOVERIES:
        raise exceptions.BadRequest(
            f"Operation value '{value}' has to be one of the following: "
            f'{", ".join(actions.RECOVERIES)}.'
        )
    if operation != actions.RECREATE and operation.lower() not in known_operations(
        parts, profile
    ):
        raise _unsupported(operation, profile)
    return operation


# operations


def known_operations(parts: Parts, profile: Profile) -> Mapping[str, Operation]:
    """Return what can be done with nodes of a profile."""
    return parts.profile_types.find(profile.type).declared.operations


def operating(
    parts: Parts, profile: Profile, operation: str, params: Values
) -> dict[str, Any]:
    """Return the inputs of an operation of a profile; BadRequest."""
    known = known_operations(parts, profile).get(operation)
    if known is None:
        raise _unsupported(operation, profile)
    fit(parts, known.schema, params, 'params')
    return {'operation': operation, 'params': dict(params)}


def _unsupported(operation: str, profile: Profile) -> exceptions.BadRequest:
    return exceptions.BadRequest(
        f"The operation '{operation}' is not supported by profile type "
        f"'{profile.type}'."
    )


def filtered(
    store: Store, nodes: Sequence[Node], filters: Values, by: Asker
) -> list[Node]:
    """Return the nodes that an operation is for; BadRequest if there are none."""
    for key in filters:
        if key not in FILTERS:
            raise exceptions.BadRequest(f"Filter key '{key}' is unsupported")
    for key, value in filters.items():
        allowed = value if isinstance(value, list | tuple) else [value]
        if key == 'profile_id':
            found = [store.find_noun(Profile, str(one), by.tenant) for one in allowed]
            allowed = [profile.id for profile in found]
        nodes = [node for node in nodes if getattr(node, key) in allowed]
    if not nodes:
        raise exceptions.BadRequest('No node (matching the filter) could be found')
    return list(nodes)


def collected(
    nodes: Collection[Node], path: str, show: Callable[[Node], Values]
) -> list[tuple[str, Any]]:
    """Return (uuid, value) of the first thing that a JSON path finds in each node.

    :param show: a node as users see it
    :raises BadRequest: it is no JSON path
    """
    if not path or len(path) > LONGEST_PATH:
        raise exceptions.BadRequest(
            f'A JSON path has 1 to {LONGEST_PATH} characters, not {len(path)}.'
        )
    if path.count('..') > 1:
        # Each multiplies what the others find.
        raise exceptions.BadRequest(f"'{path[:80]}' has more than one '..'.")
    # Only an API that is asked for this needs it, and it takes three megabytes.
    import jsonpath_ng

    try:
        parsed = jsonpath_ng.parse(path)
    except Exception as error:
        # The library raises whatever its parser does, plain Exception included.
        raise exceptions.BadRequest(f"'{path[:80]}' is no JSON path.") from error
    found = []
    for node in nodes:
        matches = parsed.find(dict(show(node)))
        if matches:
            found.append((node.uuid, matches[0].value))
    return found


def known(action_type: str) -> Collection[str]:
    """Return what an action of ASKABLE may be asked for with."""
    if action_type in actions.SCALING:
        return ('count',)
    if action_type == actions.CLUSTER_RESIZE:
        return _RESIZE
    if action_type == actions.CLUSTER_RECOVER:
        return OF_CLUSTERS
    if action_type == actions.NODE_RECOVER:
        return OF_NODES
    found: Collection[str] = actions.KINDS[action_type].schema['properties']
    return found


def kept(parts: Parts, action_type: str, params: Values) -> None:
    """Check what is kept for later requests, which may bring what is missing.

    :raises BadRequest: what no request can do anything with
    """
    asking.known_keys(params, known(action_type))
    if action_type in actions.SCALING:
        scaling(action_type, params.get('count'), parts.limits.nodes)


def requested(
    parts: Parts, action_type: str, profile: Profile, params: Values
) -> dict[str, Any]:
    """Return the inputs of an action of ASKABLE, from what somebody sent.

    :param profile: of the cluster or node
    """
    most = parts.limits.nodes
    asking.known_keys(params, known(action_type))
    if action_type in actions.SCALING:
        return scaling(action_type, params.get('count'), most)
    if action_type == actions.CLUSTER_RESIZE:
        return resizing(params, most)
    if action_type in (actions.CLUSTER_CHECK, actions.NODE_CHECK):
        return checking(parts, action_type, params)
    if action_type in (actions.CLUSTER_RECOVER, actions.NODE_RECOVER):
        return recovery(parts, action_type, profile, params)
    given = asking.mapping_of(params.get('params'), 'params')
    inputs = operating(parts, profile, str(params.get('operation')), given)
    if params.get('nodes'):
        inputs['nodes'] = list(params['nodes'])
    fit(parts, actions.KINDS[action_type].schema, inputs, 'inputs')
    return inputs
