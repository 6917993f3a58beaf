"""Signal tokens are visible only to callers with the right `resource:signal`."""

import dataclasses
from typing import Any

from tests import base
from watcherlite.api.orchestration.handlers import stacks
from watcherlite.domain.templates.blueprint import OutputValue

URL = f'http://api/orchestration/v1/signals/s/up?token={"a" * 43}'


@dataclasses.dataclass
class FakeRequest:
    """A request of a caller with some rights."""

    rules: frozenset[str]

    def allows(self, rule: str) -> bool:
        return rule in self.rules


class TestShowOutput(base.TestCase):
    def shown(self, value: Any, *rules: str) -> Any:
        asked: Any = FakeRequest(frozenset(rules))
        return stacks.show_output(asked, OutputValue('k', value))['output_value']

    def test_token_is_shown_only_to_callers_that_may_signal(self) -> None:
        value = {'urls': [URL], 'text': f'{URL}&x=1', 'n': 1}
        hidden = URL.replace('a' * 43, '***')

        self.assertEqual(value, self.shown(value, 'resource:signal'))
        self.assertEqual(
            {'urls': [hidden], 'text': f'{hidden}&x=1', 'n': 1},
            self.shown(value, 'stacks:show_output'),
        )
