"""What a stack is made of, and what it gives: template, files, outputs."""

from collections.abc import Callable, Mapping
from typing import Any

from watcherlite.api.operation import Answer, Operation, Request, Routes, Versioned
from watcherlite.api.orchestration import finding
from watcherlite.api.orchestration.representations import stacks as representations
from watcherlite.api.orchestration.schemas import root as root_schemas
from watcherlite.api.orchestration.schemas import stacks as schemas


def template(request: Request) -> Answer:
    """Answer the template of a stack."""
    stack = finding.stack(request, deleted=True)
    return Answer(dict(request.services.reading.template(stack)))


def environment(request: Request) -> Answer:
    """Answer the environment of a stack; hidden parameters are masked."""
    stack = finding.stack(request, deleted=True)
    return Answer({**_EMPTY, **request.services.reading.environment(stack)})


def files(request: Request) -> Answer:
    """Answer the files of a stack, by name."""
    stack = finding.stack(request, deleted=True)
    return Answer(dict(request.services.reading.files(stack)))


def outputs(request: Request) -> Answer:
    """Answer which outputs a stack has."""
    stack = finding.stack(request)
    values = request.services.reading.outputs(stack)
    shown = [
        {'output_key': value.key, 'description': value.description} for value in values
    ]
    return Answer({'outputs': shown})


def output(request: Request) -> Answer:
    """Answer one output with its value; NotFound."""
    stack = finding.stack(request)
    value = request.services.reading.output(stack, request.path['output_key'])
    return Answer({'output': representations.output(value)})


#: Clients look for all sections.
_EMPTY: Mapping[str, Any] = {
    'parameters': {},
    'parameter_defaults': {},
    'resource_registry': {'resources': {}},
    'event_sinks': [],
    'encrypted_param_names': [],
}

_ONE = '/v1/{tenant}/stacks/{stack_name}/{stack_id}'


def _got(
    call: Callable[[Request], Answer], rule: str, summary: str, answer: Versioned
) -> dict[str, Operation]:
    return {
        'GET': Operation(
            call,
            rule,
            summary,
            query=root_schemas.NO_ARGUMENTS,
            answers={200: answer},
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
        outputs,
        'stacks:list_outputs',
        'List the outputs of a stack.',
        schemas.OUTPUTS,
    ),
    f'{_ONE}/outputs/{{output_key}}': _got(
        output, 'stacks:show_output', 'Show an output of a stack.', schemas.OUTPUT
    ),
}
