"""Whether a template is valid, and what it asks for."""

from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.api.orchestration import bodies
from watcherlite.api.orchestration.schemas import validation as schemas


def validate(request: Request) -> Answer:
    """Answer what the template of the body asks for.

    :raises StackValidationFailed: it is not valid; with all that is wrong
    """
    new = bodies.new_stack(request, 'template-validation')
    nested = request.query.get('show_nested', False)
    return Answer(request.services.stacks.validate(new, nested))


ROUTES: Routes = {
    '/v1/{tenant}/validate': {
        'POST': Operation(
            validate,
            'stacks:validate_template',
            'Say whether a template is valid, and what it asks for.',
            query=schemas.QUERY,
            body=schemas.BODY,
            answers={200: schemas.ANSWER},
        )
    }
}
