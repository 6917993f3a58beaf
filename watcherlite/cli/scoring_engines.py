"""`watcherlite scoringengine`: what strategies may ask for scores."""

from watcherlite.cli import remote
from watcherlite.cli.cells import Column

LISTED = (
    Column('UUID', 'uuid'),
    Column('Name', 'name'),
    Column('Description', 'description'),
)
SHOWN = (*LISTED, Column('Metainfo', 'metainfo'))


class ScoringEngineList(remote.List):
    """List scoring engines."""

    collection = 'scoring_engines'
    columns = LISTED
    detail_columns = SHOWN


class ScoringEngineShow(remote.ShowFound):
    """Show a scoring engine."""

    collection = 'scoring_engines'
    identifier = 'UUID or name'
    columns = SHOWN
