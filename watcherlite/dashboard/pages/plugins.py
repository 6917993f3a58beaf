"""Plugins that are installed where the API runs."""

import itertools
from collections.abc import Mapping
from typing import Any

from watcherlite.dashboard.views import PageTable, View

PAGES = PageTable()


@PAGES.page('/plugins', 'plugins.html')
def list_plugins(view: View) -> Mapping[str, Any]:
    """List plugins by namespace, those that cannot be used first."""
    plugins = view.api.get('/v1/plugins')['plugins']
    groups = itertools.groupby(plugins, key=lambda plugin: plugin['namespace'])
    return {
        'namespaces': {name: list(found) for name, found in groups},
        'unusable': [plugin for plugin in plugins if plugin['error']],
    }
