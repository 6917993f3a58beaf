"""Patches of actions with any content."""

from typing import Any

import hypothesis
from hypothesis import strategies as st

from tests.unit.api.infra_optim import fakes
from tests.unit.api.infra_optim.handlers.case import HandlerCase
from watcherlite import exceptions
from watcherlite.api.infra_optim.handlers import actions

values = st.recursive(
    st.sampled_from(['SKIPPED', 'PENDING', 'CANCELLED', 'skipped', None, True, 5, 'x'])
    | st.text(max_size=300),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner)
    ),
    max_leaves=3,
)
lines = st.fixed_dictionaries(
    {
        'op': st.sampled_from(['add', 'replace', 'remove']),
        'path': st.sampled_from(['/state', '/status_message', '/state/0', '/x']),
    },
    optional={'value': values},
)


class TestPatches(HandlerCase):
    @hypothesis.settings(deadline=None, database=None, derandomize=True)
    @hypothesis.given(st.lists(lines, max_size=3), st.booleans())
    def test_any_patch_is_applied_or_rejected_without_change(
        self, body: list[dict[str, Any]], skipped: bool
    ) -> None:
        self.world.create('a')
        uuid = self.world.action('a').uuid
        if skipped:
            self.world.plans.skip_action(uuid)
        before = self.world.action('a')
        request = fakes.request(self.services, path={'uuid': uuid}, body=body)
        try:
            answer = actions.update(request)
        except (exceptions.Invalid, exceptions.Conflict):
            self.assertEqual(before, self.world.action('a'))
            return
        after = self.world.action('a')
        self.assertEqual(
            (after.state, after.status_message),
            (answer.body['state'], answer.body['status_message']),
        )
        self.assertIn(after.state, ('PENDING', 'SKIPPED'))
        self.assertEqual(after.state == 'SKIPPED', bool(after.status_message))
