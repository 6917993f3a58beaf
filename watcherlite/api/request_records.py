"""Records of requests: who sent them, where to, and a summary of their body.

The summary shows which attributes a request changes. It contains neither credentials
nor documents, such as templates and parameters, whose values may be confidential.
"""

import datetime
import json
from collections.abc import Mapping
from typing import Any

from watcherlite.api.mounts import decode_slashes
from watcherlite.api.operation import Operation, Request
from watcherlite.conf.masking import MASK, mask_data
from watcherlite.db.requests import RecordedRequest

#: Attributes whose content is confidential; of objects the names are shown.
DOCUMENTS = frozenset(
    {
        *('template', 'environment', 'environment_files', 'files', 'parameters'),
        *('adopt_stack_data', 'input_parameters', 'default_parameters', 'context'),
        *('spec', 'metadata', 'params', 'actor', 'properties', 'overrides', 'config'),
        *('data', 'parameter_defaults', 'inputs', 'outputs', 'options'),
        *('input_values', 'output_values'),
    }
)
#: Limits of a summary: characters of a text, members of an object or list, levels, and
#: bytes in all.
MAX_TEXT, MAX_MEMBERS, MAX_DEPTH, MAX_SIZE = 255, 20, 3, 8192
#: Characters of a text in which credentials are searched.
MAX_MASKED = 65536
#: Characters of a recorded path.
MAX_PATH = 1024
ELLIPSIS = '...'


def record(
    operation: Operation,
    request: Request,
    method: str,
    mount: str,
    now: datetime.datetime,
) -> RecordedRequest:
    """Return the record of a request, without the object that it changes.

    :param mount: the prefix of the mount
    """
    caller = request.caller
    return RecordedRequest(
        request_id=request.request_id,
        occurred_at=now,
        user_id=_truncate_or_none(caller.user_id),
        user_name=_truncate_or_none(caller.user_name),
        project_id=_truncate_or_none(caller.project_id),
        roles=tuple(sorted(caller.roles)),
        method=method,
        path=_path(operation, request, mount),
        changes=summarize(request.body),
    )


def summarize(body: Any) -> Any:
    """Return a summary of a body, as a JSON value of limited size."""
    # Masking needs the whole text of a credential.
    summary = _truncate_texts(mask_data(_summary(body, MAX_DEPTH)))
    if len(json.dumps(summary)) > MAX_SIZE:
        return sorted(summary) if isinstance(summary, Mapping) else ELLIPSIS
    return summary


def _summary(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value[:MAX_MASKED]
    if not isinstance(value, Mapping | list):
        return value
    if depth == 0:
        return ELLIPSIS
    more = [ELLIPSIS] if len(value) > MAX_MEMBERS else []
    if isinstance(value, list):
        return [_summary(item, depth - 1) for item in value[:MAX_MEMBERS]] + more
    if 'op' in value and 'path' in value:
        value = _without_document(value)
    shown = {}
    for name in list(value)[:MAX_MEMBERS]:
        member = value[name]
        hidden = name in DOCUMENTS
        shown[name] = _names(member) if hidden else _summary(member, depth - 1)
    if more:
        shown[ELLIPSIS] = ELLIPSIS
    return shown


def _without_document(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an operation of a JSON patch without the value of a document."""
    first = str(operation['path']).strip('/').partition('/')[0]
    if first not in DOCUMENTS or 'value' not in operation:
        return operation
    return {**operation, 'value': MASK}


def _names(document: Any) -> Any:
    """Return the names in an object, and nothing of another value."""
    if document is None or document == {}:
        return document
    if not isinstance(document, Mapping):
        return MASK
    more = [ELLIPSIS] if len(document) > MAX_MEMBERS else []
    return [*list(document)[:MAX_MEMBERS], *more]


def _truncate_texts(value: Any) -> Any:
    if isinstance(value, str):
        return _truncate(value, MAX_TEXT)
    if isinstance(value, list):
        return [_truncate_texts(item) for item in value]
    if isinstance(value, Mapping):
        return {_truncate(k, MAX_TEXT): _truncate_texts(v) for k, v in value.items()}
    return value


def _path(operation: Operation, request: Request, mount: str) -> str:
    path = mount + decode_slashes(request.route_path)
    if operation.rule is None or operation.public:
        # The address itself is a credential.
        for name, value in request.path.items():
            path = path.replace(value, f'{{{name}}}')
    return _truncate(path, MAX_PATH)


def _truncate_or_none(text: str | None) -> str | None:
    return None if text is None else text[:MAX_TEXT]


def _truncate(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - len(ELLIPSIS)] + ELLIPSIS
