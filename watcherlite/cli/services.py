"""`watcherlite service`: the daemons that are known, and whether they are there."""

from watcherlite.cli import remote
from watcherlite.cli.cells import Column

LISTED = (
    Column('ID', 'id'),
    Column('Name', 'name'),
    Column('Host', 'host'),
    Column('Status', 'status'),
)
SHOWN = (*LISTED, Column('Last seen up', 'last_seen_up'))


class ServiceList(remote.List):
    """List the daemons that are known."""

    collection = 'services'
    columns = LISTED
    detail_columns = SHOWN
    # It would be a number, which nobody sees in a list
    has_marker = False


class ServiceShow(remote.ShowFound):
    """Show a daemon."""

    collection = 'services'
    identifier = 'ID or name'
    columns = SHOWN
