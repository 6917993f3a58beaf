"""The example strategy of the documentation runs as printed."""

import pathlib
import re
import textwrap
from typing import Any

from tests.audit_worlds import AuditCase
from tests.worlds import kind

PAGE = pathlib.Path(__file__).parents[2] / 'doc/source/strategies.rst'


class DocumentedExampleTest(AuditCase):
    """RestartOld."""

    def test_the_documented_strategy_proposes_the_documented_plan(self) -> None:
        block = re.search(
            r'\.\. code-block:: python\n\n((?:   .*\n|\n)+)', PAGE.read_text()
        )
        assert block is not None
        names: dict[str, Any] = {}
        exec(textwrap.dedent(block[1]), names)
        world = self.create_engine_world(
            strategies={'restart_old': names['RestartOld']}, types={'command': kind()}
        )
        services = {
            'b': '2029-11-01T00:00:00+00:00',
            'a': '2029-01-01T00:00:00+00:00',
            'young': '2029-12-31T00:00:00+00:00',
        }
        audit = world.audit(
            goal='unclassified',
            strategy='restart_old',
            parameters={'services': services},
        )
        audit = world.wait_for_audit_end(audit)
        self.assertEqual(('SUCCEEDED', None), (audit.state, audit.status_message))
        (plan,) = world.plans_of(audit)
        first, second = world.store.list_actions(plan_id=plan.id)
        self.assertEqual(
            [('a', ()), ('b', (first.uuid,))],
            [(a.inputs['argv'][-1], a.parents) for a in (first, second)],
        )
