"""What a strategy needs and whether it is there, as clients show it."""

from typing import Any

from watcherlite import exceptions
from watcherlite.plugins import base
from watcherlite.plugins.loader import Plugins

NO_DATASOURCE = 'Datasource is not presented for this strategy'
NOT_AVAILABLE = 'not available'
#: What upstream can keep; nothing here feeds one of these.
MODELS = ('compute_model', 'storage_model', 'baremetal_model')


def of(name: str, plugins: Plugins) -> list[dict[str, Any]]:
    """Return one object for each kind of thing that a strategy can need.

    None of them is mandatory: a strategy says itself, when it runs, what it cannot
    do without. The last one tells in `comment` why a strategy cannot be used, if
    it cannot.
    """
    return [
        _requirement('Datasource', NO_DATASOURCE),
        _requirement('Metrics', []),
        _requirement('CDM', [{model: NOT_AVAILABLE} for model in MODELS]),
        {**_requirement('Name', name, _problem(name, plugins)), 'mandatory': ''},
    ]


def _requirement(kind: str, state: Any, comment: str = '') -> dict[str, Any]:
    return {'type': kind, 'state': state, 'mandatory': False, 'comment': comment}


def _problem(name: str, plugins: Plugins) -> str:
    try:
        plugins.plugin(base.STRATEGIES, name)
    except exceptions.PluginError as error:
        return str(error)
    return ''
