"""Contents of stacks: template, environment, files and outputs."""

from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.api.orchestration import stack_requests
from watcherlite.api.orchestration.handlers import stacks
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.api.orchestration.schemas import stacks as schemas
from watcherlite.domain.templates import environment as environments

_ONE = '/v1/{tenant}/stacks/{stack_name}/{stack_id}'
ROUTES = RouteTable(query=fragments.ANY_ARGUMENTS)


@ROUTES.route(f'GET {_ONE}/template', 'stacks:template', {200: schemas.DOCUMENT})
def template(request: Request) -> Response:
    """Show the template of a stack."""
    stack = stack_requests.get_stack(request, deleted=True)
    return Response(dict(request.services.reading.template(stack)))


@ROUTES.route(f'GET {_ONE}/environment', 'stacks:environment', {200: schemas.DOCUMENT})
def environment(request: Request) -> Response:
    """Show the environment of a stack."""
    stack = stack_requests.get_stack(request, deleted=True)
    shown = environments.complete(request.services.reading.environment(stack))
    return Response({environments.ENCRYPTED: [], **shown})


@ROUTES.route(f'GET {_ONE}/files', 'stacks:files', {200: schemas.FILES})
def files(request: Request) -> Response:
    """Show the files of a stack."""
    stack = stack_requests.get_stack(request, deleted=True)
    return Response(dict(request.services.reading.files(stack)))


@ROUTES.route(f'GET {_ONE}/outputs', 'stacks:list_outputs', {200: schemas.OUTPUTS})
def outputs(request: Request) -> Response:
    """List the outputs of a stack."""
    stack = stack_requests.get_stack(request)
    values = request.services.reading.outputs(stack)
    shown = [
        {'output_key': value.key, 'description': value.description} for value in values
    ]
    return Response({'outputs': shown})


@ROUTES.route(
    f'GET {_ONE}/outputs/{{output_key}}', 'stacks:show_output', {200: schemas.OUTPUT}
)
def output(request: Request) -> Response:
    """Show an output of a stack."""
    stack = stack_requests.get_stack(request)
    value = request.services.reading.output(stack, request.path['output_key'])
    return Response({'output': stacks.show_output(request, value)})
