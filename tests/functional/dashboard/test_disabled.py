"""An API without the dashboard."""

import sys
from typing import Any, ClassVar

from tests import base
from tests.functional.api.fixtures import ApiFixture
from tests.functional.dashboard.visitor import Visitor


class WithoutPages(ApiFixture):
    options: ClassVar[dict[tuple[str, str], Any]] = {('dashboard', 'enabled'): False}


def loaded() -> dict[str, Any]:
    """Return the modules of the dashboard that are imported."""
    modules = sys.modules.items()
    return {name: m for name, m in modules if name.startswith('watcherlite.dashboard')}


class TestDisabled(base.TestCase):
    def test_pages_are_not_found_and_not_imported_and_the_api_is_unchanged(
        self,
    ) -> None:
        others = loaded()
        self.addCleanup(sys.modules.update, others)
        for name in others:
            del sys.modules[name]

        visitor = Visitor(WithoutPages.of(self).application)
        statuses = {
            path: visitor.request('GET', path).status_code
            for path in (
                '/dashboard',
                '/dashboard/login',
                '/dashboard/static/dashboard.css',
                '/v1/action_plans',
                '/orchestration',
                '/healthcheck',
            )
        }

        self.assertEqual([404, 404, 404, 200, 300, 200], list(statuses.values()))
        self.assertEqual({}, loaded())
