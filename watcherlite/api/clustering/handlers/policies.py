"""Policies: what looks after clusters."""

from watcherlite.api.clustering import asking, finding, links, pages, rules
from watcherlite.api.clustering.representations import specs as representations
from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.clustering.schemas import specs as schemas
from watcherlite.api.clustering.versioning import since
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.domain.clusters import PolicyObject


def index(request: Request) -> Answer:
    """Answer a page of policies."""
    filters = pages.given(request, 'name', 'type')
    return pages.answer(
        request,
        'policies',
        lambda limit: request.services.store.list_noun(
            PolicyObject, pages.query(request, PolicyObject, filters, limit)
        ),
        lambda rows: [representations.policy(row) for row in rows],
    )


def create(request: Request) -> Answer:
    """Store a policy."""
    asked = request.body['policy']
    made = request.services.clusters.policies.create(
        asked['name'], asked['spec'], asking.who(request)
    )
    return _answer(made, 201, links.location(request, 'policies', made.uuid))


def show(request: Request) -> Answer:
    """Answer a policy; NotFound."""
    return _answer(finding.noun(request, PolicyObject, request.path['policy']))


def update(request: Request) -> Answer:
    """Change what is not its spec; NotFound."""
    found, by = finding.reached(request, PolicyObject, request.path['policy'])
    policies = request.services.clusters.policies
    return _answer(policies.update(found.uuid, by, request.body['policy']))


def delete(request: Request) -> Answer:
    """Delete a policy; NotFound, or ResourceInUse while a cluster is bound to it."""
    found, by = finding.reached(request, PolicyObject, request.path['policy'])
    request.services.clusters.policies.delete(found.uuid, by)
    return Answer(status=204)


def validate(request: Request) -> Answer:
    """Answer the policy that a spec would make, and store nothing."""
    spec = request.body['policy']['spec']
    policies = request.services.clusters.policies
    return _answer(policies.validate(spec, asking.who(request)))


def _answer(
    row: PolicyObject, status: int = 200, headers: dict[str, str] | None = None
) -> Answer:
    return Answer({'policy': representations.policy(row)}, status, headers or {})


_ALL = '/v1/policies'
_ONE = f'{_ALL}/{{policy}}'

ROUTES: Routes = {
    _ALL: {
        'GET': Operation(
            index,
            'policies:index',
            'List policies.',
            query=schemas.INDEX,
            answers={200: schemas.POLICIES},
            rules=rules.index('policies:index'),
        ),
        'POST': Operation(
            create,
            'policies:create',
            'Create a policy.',
            query=shapes.NO_ARGUMENTS,
            body=schemas.NEW_POLICY,
            answers={201: schemas.POLICY, 409: None},
        ),
    },
    f'{_ALL}/validate': {
        'POST': Operation(
            validate,
            'policies:validate',
            'Say whether a spec makes a policy.',
            query=shapes.NO_ARGUMENTS,
            body=schemas.VALIDATED_POLICY,
            answers={200: schemas.POLICY},
            **since((1, 2)),
        )
    },
    _ONE: {
        'GET': Operation(
            show,
            'policies:get',
            'Show a policy.',
            query=shapes.NO_ARGUMENTS,
            answers={200: schemas.POLICY},
        ),
        'PATCH': Operation(
            update,
            'policies:update',
            'Change the name of a policy.',
            query=shapes.NO_ARGUMENTS,
            body=schemas.CHANGED_POLICY,
            answers={200: schemas.POLICY, 409: None},
        ),
        'DELETE': Operation(
            delete,
            'policies:delete',
            'Delete a policy that no cluster is bound to.',
            query=shapes.NO_ARGUMENTS,
            answers={204: None, 409: None},
        ),
    },
}
