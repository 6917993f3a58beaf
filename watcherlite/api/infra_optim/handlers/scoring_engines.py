"""Scoring engines, loaded from plugins; read only."""

from typing import Any

from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim.collection import ObjectCollection
from watcherlite.api.infra_optim.schemas import scoring_engines as schemas
from watcherlite.api.operation import Request, Routes
from watcherlite.db.query import ListedScoringEngine


def represent(
    request: Request, listed: ListedScoringEngine, detail: bool
) -> dict[str, Any]:
    """Return a scoring engine; `detail` adds its metainfo and its times."""
    engine = listed.engine
    shown: dict[str, Any] = {
        'uuid': engine.uuid,
        'name': engine.name,
        'description': engine.description,
        'links': links.object_links(request, 'scoring_engines', engine.uuid),
    }
    if detail:
        shown['metainfo'] = engine.metainfo
        shown.update(timestamps.of(engine))
    return shown


SCORING_ENGINES = ObjectCollection(
    'scoring_engines',
    'scoring_engine',
    lambda store: store.list_scoring_engines,
    lambda store, name, deleted: store.find_scoring_engine(name, deleted),
    represent,
)
ROUTES: Routes = SCORING_ENGINES.routes(
    schemas, schemas.ENGINE, 'Show a scoring engine.'
)
