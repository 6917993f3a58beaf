"""The inputs of actions, built from the parameters of requests."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain import capacity
from watcherlite.domain.clusters import Node, Profile
from watcherlite.domain.documents import json_values
from watcherlite.domain.resource_results import Operation
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.requests import values
from watcherlite.engine.clusters.requests.values import RequestContext
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.plugins.base import ActionType

_FLAGS = frozenset({'check', 'check_capacity', 'delete_check_action', 'force_recreate'})
#: Inputs of CLUSTER_RECOVER that only policies decide.
_OF_POLICIES = frozenset({'delete_timeout', 'force_recreate'})
#: Actions that need only inputs: receivers can request them, and users schedule them.
REQUESTABLE = frozenset(
    {
        action_types.CLUSTER_RESIZE,
        action_types.CLUSTER_SCALE_IN,
        action_types.CLUSTER_SCALE_OUT,
        action_types.CLUSTER_CHECK,
        action_types.CLUSTER_RECOVER,
        action_types.CLUSTER_OPERATION,
        action_types.NODE_CHECK,
        action_types.NODE_RECOVER,
        action_types.NODE_OPERATION,
    }
)
#: Filters of the nodes of an operation.
FILTERS = ('name', 'profile_id', 'status', 'role')
#: Maximum number of values that a JSON path visits in all nodes of a cluster.
MAX_VISITS = 100_000

Values = Mapping[str, Any]


def validate(parts: ClusterServices, schema: Values, values: Values, root: str) -> None:
    """Raise BadRequest for values that do not fit a JSON schema.

    :param root: what the places in the text begin with
    """
    validate_for_type(
        parts, type('Inputs', (ActionType,), {'schema': schema}), values, root
    )


def validate_for_type(
    parts: ClusterServices, kind: Any, values: Values, root: str
) -> None:
    """Raise BadRequest for inputs that an action type rejects.

    :param root: see `validate`
    """
    try:
        parts.plugins.validate_inputs(kind, dict(values))
    except exceptions.InvalidInput as error:
        # Plans call them so.
        text = str(error).replace('input_parameters', root)
        raise exceptions.BadRequest(text) from None


# sizes


def resize(params: Values, most: int) -> dict[str, Any]:
    """Return the inputs of a resize.

    :param most: nodes that a cluster may have
    """
    values.check_known_keys(params, known_parameters(action_types.CLUSTER_RESIZE))
    kind, number = params.get('adjustment_type'), params.get('number')
    inputs: dict[str, Any] = {}
    if kind is not None:
        if kind not in capacity.ADJUSTMENTS:
            raise exceptions.BadRequest(
                f"Invalid value '{kind}' specified for 'adjustment_type': it is one of "
                f'{", ".join(capacity.ADJUSTMENTS)}.'
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
            inputs[name] = values.parse_integer(params[name], name, least, most)
    if not inputs:
        raise exceptions.BadRequest(
            'No resize is requested: an adjustment, or a new min_size or max_size, is '
            'needed.'
        )
    strict = params.get('strict')
    inputs['strict'] = (
        False if strict is None else values.parse_boolean(strict, 'strict')
    )
    return inputs


def _adjustment(kind: str, number: Any, most: int) -> int | float:
    if kind == capacity.EXACT_CAPACITY:
        return values.parse_integer(number, 'number', 0, most)
    if kind == capacity.CHANGE_IN_CAPACITY:
        return values.parse_integer(number, 'number')
    wrong = exceptions.BadRequest(f"Invalid value '{number}' specified for 'number'")
    if isinstance(number, bool) or not isinstance(number, int | float | str):
        raise wrong
    try:
        value = float(number)
    except (ValueError, OverflowError):
        raise wrong from None
    if not math.isfinite(value) or abs(value) > values.MAX_INTEGER:
        raise wrong
    return int(value) if value.is_integer() else value


def scale(action_type: str, count: Any, most: int) -> dict[str, Any]:
    """Return the inputs of CLUSTER_SCALE_IN or CLUSTER_SCALE_OUT."""
    if count is None:
        return {}
    number = values.parse_integer(count, 'count', 0, most)
    if number == 0:
        what = action_type.removeprefix('CLUSTER_').lower().replace('_', '-')
        raise exceptions.BadRequest(f'Count for {what} request cannot be 0.')
    return {'count': number}


# health


def _known_values(action_type: str, params: Values) -> dict[str, Any]:
    """Return the parameters that are not null, with parsed flags; BadRequest."""
    values.check_known_keys(params, known_parameters(action_type))
    return {
        key: values.parse_boolean(value, key) if key in _FLAGS else value
        for key, value in params.items()
        if value is not None
    }


def check(parts: ClusterServices, action_type: str, params: Values) -> dict[str, Any]:
    """Return the inputs of CLUSTER_CHECK or NODE_CHECK."""
    inputs = _known_values(action_type, params)
    validate(parts, action_types.DEFINITIONS[action_type].schema, inputs, 'params')
    return inputs


def recover(
    parts: ClusterServices, action_type: str, profile: Profile, params: Values
) -> dict[str, Any]:
    """Return the inputs of CLUSTER_RECOVER or NODE_RECOVER.

    :param profile: of the cluster or node
    """
    inputs = _known_values(action_type, params)
    if 'delete_timeout' in inputs:
        inputs['delete_timeout'] = values.parse_integer(
            inputs['delete_timeout'], 'delete_timeout', 0
        )
    if 'operation' in inputs:
        inputs['operation'] = _recovery_operation(parts, profile, inputs['operation'])
    validate(parts, action_types.DEFINITIONS[action_type].schema, inputs, 'params')
    return inputs


def _recovery_operation(parts: ClusterServices, profile: Profile, value: Any) -> str:
    operation = str(value).upper()
    if operation not in action_types.RECOVERIES:
        raise exceptions.BadRequest(
            f"Operation value '{value}' has to be one of the following: "
            f'{", ".join(action_types.RECOVERIES)}.'
        )
    if operation != action_types.RECREATE and operation.lower() not in known_operations(
        parts, profile
    ):
        raise _unsupported(operation, profile)
    return operation


# operations


def known_operations(
    parts: ClusterServices, profile: Profile
) -> Mapping[str, Operation]:
    """Return the operations of a profile."""
    return parts.profile_types.find(profile.type).declared.operations


def operate(
    parts: ClusterServices, profile: Profile, operation: str, params: Values
) -> dict[str, Any]:
    """Return the inputs of an operation of a profile; BadRequest."""
    known = known_operations(parts, profile).get(operation)
    if known is None:
        raise _unsupported(operation, profile)
    validate(parts, known.schema, params, 'params')
    return {'operation': operation, 'params': dict(params)}


def _unsupported(operation: str, profile: Profile) -> exceptions.BadRequest:
    return exceptions.BadRequest(
        f"The operation '{operation}' is not supported by profile type "
        f"'{profile.type}'."
    )


def filter_nodes(
    store: Store, nodes: Sequence[Node], filters: Values, by: RequestContext
) -> list[Node]:
    """Return the nodes that an operation is for; BadRequest if there are none."""
    for key in filters:
        if key not in FILTERS:
            raise exceptions.BadRequest(f"Filter key '{key}' is unsupported")
    for key, value in filters.items():
        allowed = value if isinstance(value, list | tuple) else [value]
        if key == 'profile_id':
            found = [store.find_object(Profile, str(one), by.tenant) for one in allowed]
            allowed = [profile.id for profile in found]
        nodes = [node for node in nodes if getattr(node, key) in allowed]
    if not nodes:
        raise exceptions.BadRequest('No node (matching the filter) could be found')
    return list(nodes)


def collect(
    nodes: Collection[Node], path: str, show: Callable[[Node], Values]
) -> list[tuple[str, Any]]:
    """Return (uuid, value) of the first match of a JSON path in each node.

    :param show: returns the representation of a node
    :raises BadRequest: the JSON path is invalid, or visits too many values
    """
    steps = json_values.parse(path)
    budget = json_values.Budget(MAX_VISITS)
    found = []
    for node in nodes:
        for value in json_values.find(steps, show(node), budget):
            found.append((node.uuid, value))
            break
    return found


def known_parameters(action_type: str) -> Collection[str]:
    """Return the parameters of an action of REQUESTABLE."""
    known = action_types.DEFINITIONS[action_type].schema['properties'].keys()
    return (
        known - _OF_POLICIES if action_type == action_types.CLUSTER_RECOVER else known
    )


def validate_parameters(
    parts: ClusterServices, action_type: str, params: Values
) -> None:
    """Validate stored parameters; later requests may add missing ones.

    :raises BadRequest: a parameter is unknown or invalid
    """
    values.check_known_keys(params, known_parameters(action_type))
    if action_type in action_types.SCALING:
        scale(action_type, params.get('count'), parts.limits.nodes)


def build(
    parts: ClusterServices, action_type: str, profile: Profile, params: Values
) -> dict[str, Any]:
    """Return the inputs of an action of REQUESTABLE from request parameters.

    :param profile: of the cluster or node
    """
    most = parts.limits.nodes
    values.check_known_keys(params, known_parameters(action_type))
    if action_type in action_types.SCALING:
        return scale(action_type, params.get('count'), most)
    if action_type == action_types.CLUSTER_RESIZE:
        return resize(params, most)
    if action_type in (action_types.CLUSTER_CHECK, action_types.NODE_CHECK):
        return check(parts, action_type, params)
    if action_type in (action_types.CLUSTER_RECOVER, action_types.NODE_RECOVER):
        return recover(parts, action_type, profile, params)
    given = values.parse_mapping(params.get('params'), 'params')
    inputs = operate(parts, profile, str(params.get('operation')), given)
    if params.get('nodes'):
        inputs['nodes'] = list(params['nodes'])
    validate(parts, action_types.DEFINITIONS[action_type].schema, inputs, 'inputs')
    return inputs
