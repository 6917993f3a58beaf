"""The description of the API, OpenAPI 3.1, from the operations and their schemas.

What validates a request is what describes it, so that the two cannot differ. There
is a document for each microversion, because what an address takes and answers
depends on it.
"""

import dataclasses
import importlib.metadata
import re
from collections.abc import Iterator, Mapping
from typing import Any

from watcherlite.api import microversions
from watcherlite.api.microversions import HEADER, MAXIMUM, MINIMUM, Versions
from watcherlite.api.mounts import Mount
from watcherlite.api.operation import (
    EVENT_STREAM,
    JSON,
    Answer,
    Operation,
    Request,
    Version,
    always,
    at,
)

Document = dict[str, Any]

DIALECT = '3.1.0'
NAME = 'openapi.json'

_VARIABLE = re.compile(r'\{(\w+)\}')
_ERROR = 'Error'
_ERRORS: Mapping[int, str] = {
    400: 'The request is not valid.',
    401: 'The request does not prove who makes it.',
    403: 'The caller may not do this.',
    404: 'There is no such object.',
    406: 'There is no such version, or no such form of the answer.',
    409: 'The object is in a state, or has a name, that does not allow this.',
    413: 'The body is too large.',
    415: 'The body is not JSON.',
    503: 'The database cannot be used at the moment, or too many streams are open.',
}
_REASONS: Mapping[int, str] = {
    200: 'Done.',
    201: 'Created.',
    202: 'Accepted.',
    204: 'Done; there is nothing to say.',
    300: 'There are several; one is to be chosen.',
    302: 'It is at the address in Location.',
}


def described(mount: Mount) -> Mount:
    """Return a mount with the route that serves the documents of all its routes."""
    made: dict[Version, Document] = {}

    def show(request: Request) -> Answer:
        """Answer the document of the version that is asked for."""
        if request.version not in made:
            made[request.version] = document(whole, request.version)
        return Answer(made[request.version])

    own = Operation(
        show,
        'openapi:get',
        'Show this description of the API.',
        answers={200: always({'type': 'object'})},
    )
    routes = {**mount.routes, f'{mount.version_prefix}/{NAME}': {'GET': own}}
    whole = dataclasses.replace(mount, routes=routes)
    return whole


def document(mount: Mount, version: Version) -> Document:
    """Return the description of one version of what a mount serves."""
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
        'servers': [{'url': prefix or '/'} for prefix in mount.prefixes],
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
                    'description': said,
                    'content': {JSON: {'schema': _reference('schemas', _ERROR)}},
                }
                for status, said in _ERRORS.items()
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


#: The verbs of rules of operations that show softly deleted objects on demand.
_SHOWS = frozenset({'get', 'get_all', 'detail'})


def _responses(
    mount: Mount, template: str, operation: Operation, version: Version
) -> Iterator[tuple[str, Document]]:
    for status, schemas in sorted(operation.answers.items()):
        if status in _ERRORS:
            continue
        answer: Document = {'description': _REASONS.get(status, 'Answered.')}
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
    for status in sorted({*_possible(operation), *operation.answers} & set(_ERRORS)):
        yield str(status), _reference('responses', f'{_ERROR}{status}')


def _possible(operation: Operation) -> set[int]:
    """Return the error statuses that need not be named by an operation."""
    # 404 also where there is no variable: a marker may be of nothing
    found = {400, 404, 406, 413, 415, 503}
    if operation.rule is not None:
        found |= {401, 403}
    return found


def _variable(name: str) -> Document:
    kind: Document = {'type': 'string', 'minLength': 1}
    if name == 'uuid':
        kind = {'type': 'string', 'format': 'uuid'}
    return {'name': name, 'in': 'path', 'required': True, 'schema': kind}


def _common_parameters(mount: Mount, version: Version) -> Document:
    found: Document = {}
    versions = mount.versions
    if versions.in_headers:
        found['Version'] = {
            'name': HEADER,
            'in': 'header',
            # Without it a request is of the first version.
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
    return {
        HEADER: {
            'description': 'The microversion of the answer.',
            'schema': {'type': 'string'},
        },
        MINIMUM: {
            'description': 'The first microversion.',
            'schema': {'type': 'string'},
        },
        MAXIMUM: {
            'description': 'The last microversion.',
            'schema': {'type': 'string'},
        },
    }


def _reference(kind: str, name: str) -> Document:
    return {'$ref': f'#/components/{kind}/{name}'}
