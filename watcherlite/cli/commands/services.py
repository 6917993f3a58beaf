"""`watcherlite service`."""

from watcherlite.cli.commands import base
from watcherlite.cli.formatting import Column, fields

LISTED = fields('id name host status')
SHOWN = (*LISTED, Column('Last seen up', 'last_seen_up'))


class ServiceList(base.List):
    """List the daemons."""

    collection = 'services'
    columns = LISTED
    detail_columns = SHOWN
    # It would be a number, which nobody sees in a list
    has_marker = False


class ServiceShow(base.ShowFound):
    """Show a daemon."""

    collection = 'services'
    identifier = 'ID or name'
    columns = SHOWN
