"""Profiles: what nodes are made from."""

from watcherlite.api.clustering import asking, finding, links, pages, rules
from watcherlite.api.clustering.representations import specs as representations
from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.clustering.schemas import specs as schemas
from watcherlite.api.clustering.versioning import since
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.domain.clusters import Profile


def index(request: Request) -> Answer:
    """Answer a page of profiles."""
    filters = pages.given(request, 'name', 'type')
    return pages.answer(
        request,
        'profiles',
        lambda limit: request.services.store.list_noun(
            Profile, pages.query(request, Profile, filters, limit)
        ),
        lambda rows: [representations.profile(row) for row in rows],
    )


def create(request: Request) -> Answer:
    """Store a profile."""
    asked = request.body['profile']
    made = request.services.clusters.profiles.create(
        *(asked['name'], asked['spec'], asking.who(request), asked.get('metadata'))
    )
    return _answer(made, 201, links.location(request, 'profiles', made.uuid))


def show(request: Request) -> Answer:
    """Answer a profile; NotFound."""
    return _answer(finding.noun(request, Profile, request.path['profile']))


def update(request: Request) -> Answer:
    """Change what is not its spec; NotFound."""
    found, by = finding.reached(request, Profile, request.path['profile'])
    profiles = request.services.clusters.profiles
    return _answer(profiles.update(found.uuid, by, request.body['profile']))


def delete(request: Request) -> Answer:
    """Delete a profile; NotFound, or ResourceInUse while a cluster or node has it."""
    found, by = finding.reached(request, Profile, request.path['profile'])
    request.services.clusters.profiles.delete(found.uuid, by)
    return Answer(status=204)


def validate(request: Request) -> Answer:
    """Answer the profile that a spec would make, and store nothing."""
    spec = request.body['profile']['spec']
    profiles = request.services.clusters.profiles
    return _answer(profiles.validate(spec, asking.who(request)))


def _answer(
    row: Profile, status: int = 200, headers: dict[str, str] | None = None
) -> Answer:
    return Answer({'profile': representations.profile(row)}, status, headers or {})


_ALL = '/v1/profiles'
_ONE = f'{_ALL}/{{profile}}'

ROUTES: Routes = {
    _ALL: {
        'GET': Operation(
            index,
            'profiles:index',
            'List profiles.',
            query=schemas.INDEX,
            answers={200: schemas.PROFILES},
            rules=rules.index('profiles:index'),
        ),
        'POST': Operation(
            create,
            'profiles:create',
            'Create a profile.',
            query=shapes.NO_ARGUMENTS,
            body=schemas.NEW_PROFILE,
            answers={201: schemas.PROFILE, 409: None},
        ),
    },
    f'{_ALL}/validate': {
        'POST': Operation(
            validate,
            'profiles:validate',
            'Say whether a spec makes a profile.',
            query=shapes.NO_ARGUMENTS,
            body=schemas.VALIDATED_PROFILE,
            answers={200: schemas.PROFILE},
            **since((1, 2)),
        )
    },
    _ONE: {
        'GET': Operation(
            show,
            'profiles:get',
            'Show a profile.',
            query=shapes.NO_ARGUMENTS,
            answers={200: schemas.PROFILE},
        ),
        'PATCH': Operation(
            update,
            'profiles:update',
            'Change the name or the metadata of a profile.',
            query=shapes.NO_ARGUMENTS,
            body=schemas.CHANGED_PROFILE,
            answers={200: schemas.PROFILE, 409: None},
        ),
        'DELETE': Operation(
            delete,
            'profiles:delete',
            'Delete a profile that nothing is made from.',
            query=shapes.NO_ARGUMENTS,
            answers={204: None, 409: None},
        ),
    },
}
