"""The directive `cluster-statuses`: what clusters and nodes are doing.

.. code-block:: rst

   .. cluster-statuses:: CLUSTER_STATUSES
   .. cluster-statuses:: NODE_STATUSES
"""

# These two stand beside this file; conf.py has put the directory on the path.
import generated
import tables
from sphinx.application import Sphinx

from watcherlite.states import cluster


class ClusterStatuses(generated.Generated):
    """Shows the statuses of clusters, or of nodes."""

    required_arguments = 1

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        try:
            found: dict[str, str] = getattr(cluster, self.arguments[0])
        except AttributeError as error:
            raise self.error(str(error)) from error
        rows = [
            (f'``{name}``', f'{text[0].upper()}{text[1:]}.')
            for name, text in found.items()
        ]
        return tables.list_table(('Status', 'What it says'), (20, 80), rows)


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known to Sphinx."""
    app.add_directive('cluster-statuses', ClusterStatuses)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
