"""Webhooks: something happened, so an EVENT audit runs."""

from watcherlite.api.infra_optim.schemas import webhooks as schemas
from watcherlite.api.operation import Answer, Operation, Request, Routes


def trigger(request: Request) -> Answer:
    """Have an EVENT audit run, with what happened; 202 without a body.

    :raises NotFound: there is no such audit
    :raises Invalid: it is of another type, or neither PENDING nor SUCCEEDED
    """
    request.services.audits.trigger(
        request.path['audit'], request.body, request.context
    )
    return Answer(status=202)


ROUTES: Routes = {
    '/v1/webhooks/{audit}': {
        'POST': Operation(
            trigger,
            'webhook:trigger',
            'Run an EVENT audit.',
            body=schemas.EVENT,
            answers={202: None},
            webhook=True,
        ),
    },
}
