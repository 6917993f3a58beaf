"""`watcherlite goal`: what audits can be asked to reach."""

from watcherlite.cli import cells, remote
from watcherlite.cli.cells import Column

LISTED = (
    Column('UUID', 'uuid'),
    Column('Name', 'name'),
    Column('Display name', 'display_name'),
)
SHOWN = (
    *LISTED,
    Column('Efficacy specification', 'efficacy_specification', cells.specification),
)


class GoalList(remote.List):
    """List goals."""

    collection = 'goals'
    columns = LISTED
    detail_columns = SHOWN


class GoalShow(remote.ShowFound):
    """Show a goal."""

    collection = 'goals'
    identifier = 'UUID or name'
    columns = SHOWN
