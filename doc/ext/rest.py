"""The directives `rest-operations`, `rest-versions`, `rest-policies` and the like.

They show the operations of the API, its microversions, and its policy rules, as the
code has them. Each microversion links to its OpenAPI document, which an HTML build
has as openapi/infra-optim-1.7.json, openapi/clustering-1.15.json and so on; that of
stacks is openapi/orchestration.json.
"""

import pathlib

# Modules of this directory, which conf.py adds to sys.path.
import generated
import rest_tables
from sphinx.application import Sphinx


class Operations(generated.Generated):
    """A table of all operations."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return rest_tables.operations()


class StackOperations(generated.Generated):
    """A table of all operations on stacks."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return rest_tables.stack_operations()


class ClusterOperations(generated.Generated):
    """A table of all operations on clusters and related objects."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return rest_tables.cluster_operations()


class ClusterMicroversions(generated.Generated):
    """A table of the microversions of the clustering API."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return rest_tables.cluster_versions()


class Microversions(generated.Generated):
    """A table of all microversions."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return rest_tables.versions()


class Policies(generated.Generated):
    """A table of all policy rules."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return rest_tables.rules()


def write_documents(app: Sphinx, error: Exception | None) -> None:
    """Write the OpenAPI documents beside the pages."""
    if error is None and app.builder.format == 'html':
        rest_tables.write_documents(pathlib.Path(app.outdir))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive('rest-operations', Operations)
    app.add_directive('rest-stack-operations', StackOperations)
    app.add_directive('rest-cluster-operations', ClusterOperations)
    app.add_directive('rest-cluster-versions', ClusterMicroversions)
    app.add_directive('rest-versions', Microversions)
    app.add_directive('rest-policies', Policies)
    app.connect('build-finished', write_documents)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
