"""Contents of stacks: template, environment, files and outputs."""

from collections.abc import Callable, Mapping
from typing import Any

from watcherlite.api.operation import Operation, Request, Response, Routes, Versioned
from watcherlite.api.orchestration import stack_requests
from watcherlite.api.orchestration.handlers import stacks
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.api.orchestration.schemas import stacks as schemas


def template(request: Request) -> Response:
    """Return the template of a stack."""
    stack = stack_requests.get_stack(request, deleted=True)
    return Response(dict(request.services.reading.template(stack)))


def environment(request: Request) -> Response:
    """Return the environment of a stack; hidden parameters are masked."""
    stack = stack_requests.get_stack(request, deleted=True)
    return Response({**_EMPTY, **request.services.reading.environment(stack)})


def files(request: Request) -> Response:
    """Return the files of a stack, by name."""
    stack = stack_requests.get_stack(request, deleted=True)
    return Response(dict(request.services.reading.files(stack)))


def outputs(request: Request) -> Response:
    """Return the outputs of a stack."""
    stack = stack_requests.get_stack(request)
    values = request.services.reading.outputs(stack)
    shown = [
        {'output_key': value.key, 'description': value.description} for value in values
    ]
    return Response({'outputs': shown})


def output(request: Request) -> Response:
    """Return one output with its value; NotFound."""
    stack = stack_requests.get_stack(request)
    value = request.services.reading.output(stack, request.path['output_key'])
    return Response({'output': stacks.show_output(request, value)})


#: Clients expect all sections.
_EMPTY: Mapping[str, Any] = {
    'parameters': {},
    'parameter_defaults': {},
    'resource_registry': {'resources': {}},
    'event_sinks': [],
    'encrypted_param_names': [],
}

_ONE = '/v1/{tenant}/stacks/{stack_name}/{stack_id}'


def _got(
    call: Callable[[Request], Response], rule: str, summary: str, answer: Versioned
) -> dict[str, Operation]:
    return {
        'GET': Operation(
            call, rule, summary, query=fragments.ANY_ARGUMENTS, responses={200: answer}
        )
    }


ROUTES: Routes = {
    f'{_ONE}/template': _got(
        template, 'stacks:template', 'Show the template of a stack.', schemas.DOCUMENT
    ),
    f'{_ONE}/environment': _got(
        environment,
        'stacks:environment',
        'Show the environment of a stack.',
        schemas.DOCUMENT,
    ),
    f'{_ONE}/files': _got(
        files, 'stacks:files', 'Show the files of a stack.', schemas.FILES
    ),
    f'{_ONE}/outputs': _got(
        outputs, 'stacks:list_outputs', 'List the outputs of a stack.', schemas.OUTPUTS
    ),
    f'{_ONE}/outputs/{{output_key}}': _got(
        output, 'stacks:show_output', 'Show an output of a stack.', schemas.OUTPUT
    ),
}
