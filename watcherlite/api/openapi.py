"""The OpenAPI 3.1 documents, generated from the operations and their schemas.

The schemas of the documents are those that validate the requests. Each microversion has
its own document.
"""

import dataclasses
import importlib.metadata
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib import parse

from watcherlite.api import microversions
from watcherlite.api.idempotency import HEADER as IDEMPOTENCY_KEY
from watcherlite.api.microversions import HEADER, MAXIMUM, MINIMUM, Versions
from watcherlite.api.mounts import Mount
from watcherlite.api.operation import (
    EVENT_STREAM,
    JSON,
    Operation,
    Request,
    Response,
    Version,
    at,
    unversioned,
)

Document = dict[str, Any]

DIALECT = '3.1.0'
NAME = 'openapi.json'

_VARIABLE = re.compile(r'\{(\w+)\}')
_ERROR = 'Error'
_ERRORS: Mapping[int, str] = {
    400: 'The request is not valid.',
    401: 'Authentication is required.',
    403: 'The caller is not allowed to do this.',
    404: 'Not found.',
    406: 'The version or the media type is not supported.',
    409: 'The state of the object, or its name, conflicts with the request.',
    413: 'The body is too large.',
    415: 'The body is not JSON.',
    422: 'The Idempotency-Key was used with a different request.',
    503: 'The database is not available, or too many streams are open.',
    504: 'The request may have taken effect.',
}
_REASONS: Mapping[int, str] = {
    200: 'Done.',
    201: 'Created.',
    202: 'Accepted.',
    204: 'Done; no content.',
    300: 'Multiple choices.',
    302: 'Found at the address in Location.',
}


def with_openapi(mount: Mount, rule: str = 'openapi:get') -> Mount:
    """Return a mount with an additional route for the documents.

    :param rule: the policy rule of the route
    """
    made: dict[Version, Document] = {}

    def show(request: Request) -> Response:
        """Return the document of the requested version."""
        if request.version not in made:
            made[request.version] = document(described, request.version)
        root = parse.urlsplit(request.root_url).path
        return Response({**made[request.version], 'servers': _servers(mount, root)})

    own = Operation(
        show,
        rule,
        'Show the OpenAPI document of the API.',
        responses={200: unversioned({'type': 'object'})},
    )
    routes = {**mount.routes, f'{mount.version_prefix}/{NAME}': {'GET': own}}
    described = dataclasses.replace(mount, routes=routes)
    return described


def document(mount: Mount, version: Version) -> Document:
    """Return the document of one version of a mount."""
    versions = mount.versions
    text = microversions.text(version)
    name = 'Microversion' if versions.in_headers else 'Version'
    return {
        'openapi': DIALECT,
        'info': {
            'title': f'watcherlite: {versions.service_type}',
            'version': text,
            'summary': f'{name} {text}, of watcherlite '
            f'{importlib.metadata.version("watcherlite")}.',
            'description': versions.history[version],
            'license': {'name': 'Apache 2.0', 'identifier': 'Apache-2.0'},
        },
        'servers': _servers(mount),
        'security': [{'token': []}, {'password': []}, {}],
        'paths': {
            template: item
            for template, operations in mount.routes.items()
            if (item := _path(mount, template, operations, version))
        },
        'components': {
            'parameters': _common_parameters(mount, version),
            'headers': _common_headers(versions),
            'responses': {
                f'{_ERROR}{status}': {
                    'description': description,
                    'content': {JSON: {'schema': _reference('schemas', _ERROR)}},
                }
                for status, description in _ERRORS.items()
            },
            'schemas': {_ERROR: mount.errors.schema},
            'securitySchemes': {
                'token': {
                    'type': 'apiKey',
                    'in': 'header',
                    'name': 'X-Auth-Token',
                    'description': 'auth_strategy keystone.',
                },
                'password': {
                    'type': 'http',
                    'scheme': 'basic',
                    'description': 'auth_strategy http_basic.',
                },
            },
        },
    }


def _servers(mount: Mount, root: str = '') -> list[Document]:
    """Return the addresses of a mount below a prefix of a proxy."""
    return [{'url': root + prefix or '/'} for prefix in mount.prefixes]


def _path(
    mount: Mount, template: str, operations: Mapping[str, Operation], version: Version
) -> Document:
    there = {
        method.lower(): _operation(mount, template, method, operation, version)
        for method, operation in operations.items()
        if operation.since <= version
    }
    variables = [_variable(name) for name in _VARIABLE.findall(template)]
    return {'parameters': variables, **there} if there and variables else there


def _operation(
    mount: Mount, template: str, method: str, operation: Operation, version: Version
) -> Document:
    parts = [part for part in re.split(r'[/.]', template) if part]
    nouns = [part for part in parts[1:] if not part.startswith('{')]
    made: Document = {
        'operationId': '_'.join(
            [method.lower(), *(part.strip('{}') for part in parts)]
        ),
        'summary': operation.summary,
        'tags': [nouns[0] if nouns else 'versions'],
        'parameters': list(_parameters(mount, template, operation, version)),
    }
    if operation.rule is not None:
        made['x-policy-rule'] = operation.rule
    elif template == '/' or operation.public:
        made['security'] = []
    if operation.body is not None:
        made['requestBody'] = {
            'required': operation.needs_body,
            'content': {JSON: {'schema': at(operation.body, version)}},
        }
    made['responses'] = dict(_responses(mount, template, operation, version))
    return made


def _parameters(
    mount: Mount, template: str, operation: Operation, version: Version
) -> Iterator[Document]:
    schema = at(operation.query, version)
    required = schema.get('required', ())
    for name, kind in schema.get('properties', {}).items():
        parameter = {
            'name': name,
            'in': 'query',
            'required': name in required,
            'schema': {k: v for k, v in kind.items() if k != 'description'},
        }
        if 'description' in kind:
            parameter['description'] = kind['description']
        yield parameter
    if template == '/':
        return
    common = _common_parameters(mount, version)
    if 'Version' in common:
        yield _reference('parameters', 'Version')
    verb = (operation.rule or '').partition(':')[2]
    if 'ShowDeleted' in common and verb in _SHOWS:
        yield _reference('parameters', 'ShowDeleted')
    if operation.restore is not None:
        yield _reference('parameters', 'IdempotencyKey')


#: Verbs of the rules of operations that can show deleted objects.
_SHOWS = frozenset({'get', 'get_all', 'detail'})


def _responses(
    mount: Mount, template: str, operation: Operation, version: Version
) -> Iterator[tuple[str, Document]]:
    for status, schemas in sorted(operation.responses.items()):
        if status in _ERRORS:
            continue
        answer: Document = {'description': _REASONS.get(status, 'Response.')}
        headers = _common_headers(mount.versions)
        if template != '/' and headers:
            answer['headers'] = {name: _reference('headers', name) for name in headers}
        if schemas is not None:
            answer['content'] = {JSON: {'schema': at(schemas, version)}}
        if operation.streams and status == 200:
            answer.setdefault('content', {})[EVENT_STREAM] = {
                'schema': {'type': 'string'}
            }
        yield str(status), answer
    for status in sorted(
        {*_implicit_statuses(operation), *operation.responses} & set(_ERRORS)
    ):
        yield str(status), _reference('responses', f'{_ERROR}{status}')


def _implicit_statuses(operation: Operation) -> set[int]:
    """Return the error statuses that operations have implicitly."""
    # 404 also without a variable: the object of a marker may not exist.
    found = {400, 404, 406, 413, 415, 503}
    if operation.rule is not None:
        found |= {401, 403}
    if operation.restore is not None:
        found |= {409, 422, 504}
    return found


def _variable(name: str) -> Document:
    kind: Document = {'type': 'string', 'minLength': 1}
    if name == 'uuid':
        kind = {'type': 'string', 'format': 'uuid'}
    return {'name': name, 'in': 'path', 'required': True, 'schema': kind}


def _common_parameters(mount: Mount, version: Version) -> Document:
    found: Document = {}
    if any(
        operation.restore is not None
        for operations in mount.routes.values()
        for operation in operations.values()
    ):
        found['IdempotencyKey'] = {
            'name': IDEMPOTENCY_KEY,
            'in': 'header',
            'required': False,
            'description': 'The request takes effect once, regardless of how often it '
            'is sent with this key.',
            'schema': {'type': 'string', 'pattern': '^[!-~]{1,255}$'},
        }
    versions = mount.versions
    if versions.in_headers:
        found['Version'] = {
            'name': HEADER,
            'in': 'header',
            # Without the header a request has the first version.
            'required': version != versions.minimum,
            'description': 'The microversion of the request.',
            'schema': {
                'type': 'string',
                'const': f'{versions.service_type} {microversions.text(version)}',
            },
        }
    if mount.shows_deleted:
        found['ShowDeleted'] = {
            'name': 'X-Show-Deleted',
            'in': 'header',
            'required': False,
            'description': 'Softly deleted objects are shown as well.',
            'schema': {'type': 'string', 'enum': ['true', 'false']},
        }
    return found


def _common_headers(versions: Versions) -> dict[str, Document]:
    if not versions.in_headers:
        return {}
    described = {
        HEADER: 'The microversion of the response.',
        MINIMUM: 'The first microversion.',
        MAXIMUM: 'The last microversion.',
    }
    return {
        name: {'description': text, 'schema': {'type': 'string'}}
        for name, text in described.items()
    }


def _reference(kind: str, name: str) -> Document:
    return {'$ref': f'#/components/{kind}/{name}'}
