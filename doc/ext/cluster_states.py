"""The directive `cluster-statuses`: the statuses of clusters and nodes.

.. code-block:: rst

   .. cluster-statuses:: CLUSTER_STATUSES
   .. cluster-statuses:: NODE_STATUSES
"""

# Modules of this directory, which conf.py adds to sys.path.
import generated
import tables
from sphinx.application import Sphinx

from watcherlite.states import cluster


class ClusterStatuses(generated.Generated):
    """A table of the statuses of clusters, or of nodes."""

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
        return tables.list_table(('Status', 'Meaning'), (20, 80), rows)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive('cluster-statuses', ClusterStatuses)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
