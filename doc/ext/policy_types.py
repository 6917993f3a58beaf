"""The directive `policy-type`: the declarations of a policy, as tables.

.. code-block:: rst

   .. policy-type:: watcherlite.plugins.policies.scaling:Scaling
"""

import importlib

# Modules of this directory, which conf.py adds to sys.path.
import generated
import policy_tables
from sphinx.application import Sphinx


class PolicyType(generated.Generated):
    """The tables of a policy type."""

    required_arguments = 1

    def lines(self) -> list[str]:
        """Return the lines of the tables."""
        module, _, name = self.arguments[0].partition(':')
        try:
            policy = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise self.error(str(error)) from error
        return policy_tables.lines(policy)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive('policy-type', PolicyType)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
