"""Rendering: the templates, and the representation of states, times and data."""

import datetime
import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2
import markupsafe

from watcherlite import clock
from watcherlite.dashboard import graph
from watcherlite.dashboard.views import address

#: State -> the icon beside its name; colour is never the only sign.
ICONS: Mapping[str, str] = {
    'RECOMMENDED': '◇',
    'PENDING': '○',
    'ONGOING': '▶',
    'SUSPENDED': '‖',
    'SUCCEEDED': '✓',
    'FAILED': '✗',
    'CANCELLING': '◐',
    'CANCELLED': '⊘',
    'SKIPPED': '↷',
    'SUPERSEDED': '⇢',
    'DELETED': '⌫',
    # Clusters and nodes
    'INIT': '○',
    'ACTIVE': '●',
    'WARNING': '△',
    'ERROR': '✗',
    'CRITICAL': '✗',
    'CREATING': '↻',
    'UPDATING': '↻',
    'RESIZING': '↻',
    'DELETING': '↻',
    'CHECKING': '↻',
    'RECOVERING': '↻',
    'OPERATING': '↻',
    # Actions on them
    'WAITING': '○',
    'READY': '○',
    'RUNNING': '▶',
    # Health of the service
    'OK': '✓',
    'DEGRADED': '△',
    'DISABLED': '⊘',
    'UNKNOWN': '?',
}
#: Longest text of a node of a graph, in characters.
_LABEL = 24
#: The number of rendered actions that are kept, for each of their two forms.
_RENDERED = 4096


@functools.cache
def environment() -> jinja2.Environment:
    """Return the environment of the templates, one for a process.

    All values are escaped. An undefined variable is an error. It has the templates that
    are installed now, see `read_templates`.
    """
    made = jinja2.Environment(
        loader=read_templates(jinja2.PackageLoader('watcherlite.dashboard')),
        auto_reload=False,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        age=age,
        duration=duration,
        icon=icon,
        label=label,
        pretty=pretty,
        short=short,
        state_class=state_class,
        time=time,
    )
    made.globals.update(
        icons=ICONS,
        node_width=graph.NODE_WIDTH,
        node_height=graph.NODE_HEIGHT,
        plan_actions=PlanActions(made),
    )
    return made


def read_templates(loader: jinja2.BaseLoader) -> jinja2.BaseLoader:
    """Return a loader with the present templates of another one.

    An upgrade of the package replaces the files of a running process, whose pages need
    the templates of its own version.
    """
    reader = jinja2.Environment(autoescape=True)
    names = loader.list_templates()
    sources = {name: loader.get_source(reader, name) for name in names}
    return jinja2.FunctionLoader(sources.get)


class PlanActions:
    """The parts of a plan's page for each action, kept for all viewers.

    A large plan has a thousand of each. Rendering them took most of the time of its
    page, and few of them change between two views.
    """

    def __init__(self, environment: jinja2.Environment) -> None:
        self._environment = environment
        keep = functools.lru_cache(_RENDERED)
        self._node = keep(functools.partial(self._render, 'node'))
        self._row = keep(functools.partial(self._render, 'row'))

    def nodes(
        self,
        root: str,
        actions: Sequence[Mapping[str, Any]],
        places: Mapping[str, tuple[int, int]],
    ) -> markupsafe.Markup:
        """Return the nodes of the graph.

        :param root: of the addresses
        :param actions: as `plan_actions.show` returns them
        :param places: the position of each by uuid
        """
        nodes = [
            self._node(root, *_columns(action), *places[action['uuid']])
            for action in actions
        ]
        return markupsafe.Markup('').join(nodes)

    def rows(
        self,
        root: str,
        actions: Sequence[Mapping[str, Any]],
        now: datetime.datetime,
        can_skip: bool,
    ) -> markupsafe.Markup:
        """Return the rows of the table.

        :param root: of the addresses
        :param actions: as `plan_actions.show` returns them, with the text `after`
        :param can_skip: whether the table has a column to choose actions
        """
        rows = [
            self._row(
                root,
                *_columns(action),
                action['after'],
                duration(action['start_time'], action['end_time'], now),
                action['state'] == 'PENDING' if can_skip else None,
            )
            for action in actions
        ]
        return markupsafe.Markup('').join(rows)

    def _render(
        self, macro: str, root: str, uuid: str, *values: Any
    ) -> markupsafe.Markup:
        template = self._environment.get_template('plan_action.html')
        rendered: markupsafe.Markup = getattr(template.module, macro)(
            address(root, 'actions', uuid), uuid, *values
        )
        return rendered


def _columns(action: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ('uuid', 'name', 'action_type', 'shown_state', 'status_message')
    return tuple(action[name] for name in names)


def icon(state: str) -> str:
    """Return the icon of a state."""
    return ICONS.get(_stack_state(state), '?')


def state_class(state: str) -> str:
    """Return the end of the CSS class of a state."""
    return _stack_state(state).lower()


def _stack_state(state: str) -> str:
    """Return the state with the icon of a state of stacks: ACTION_STATUS."""
    if state in ICONS:
        return state
    if state == 'LOCK_COMPLETE':
        return 'SUSPENDED'
    ends = {'COMPLETE': 'SUCCEEDED', 'FAILED': 'FAILED', 'IN_PROGRESS': 'ONGOING'}
    return next((icon for end, icon in ends.items() if state.endswith(end)), state)


def time(value: str | None) -> markupsafe.Markup:
    """Return a time of the API as an element, which a script shows in local time.

    :param value: in ISO 8601; without an offset it is UTC
    """
    if not value:
        return markupsafe.Markup('<span class="none">–</span>')
    moment = parse_time(value)
    exact = moment.astimezone(datetime.UTC)
    return markupsafe.Markup('<time datetime="{}" title="{}">{}</time>').format(
        exact.isoformat(),
        f'{exact:%Y-%m-%d %H:%M:%S.%f} UTC',
        f'{exact:%Y-%m-%d %H:%M:%S}',
    )


def parse_time(value: str) -> datetime.datetime:
    """Return a time of the API."""
    moment = datetime.datetime.fromisoformat(value)
    return moment.replace(tzinfo=datetime.UTC) if moment.tzinfo is None else moment


def duration(begin: str | None, end: str | None, now: datetime.datetime) -> str:
    """Return the time from begin to end, or to now; '' before the begin."""
    if not begin:
        return ''
    until = parse_time(end) if end else now
    seconds = max((until - parse_time(begin)).total_seconds(), 0.0)
    return clock.duration_text(seconds)


def age(value: str, now: datetime.datetime) -> markupsafe.Markup:
    """Return the time since a time of the API, whose exact value is the title."""
    exact = parse_time(value).astimezone(datetime.UTC)
    return markupsafe.Markup('<span class="age" title="{}">{}</span>').format(
        f'{exact:%Y-%m-%d %H:%M:%S.%f} UTC', duration(value, None, now)
    )


def pretty(value: Any) -> str:
    """Return a value as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def short(uuid: str) -> str:
    """Return the beginning of a uuid."""
    return uuid[:8]


def label(text: str) -> str:
    """Return a text that fits into a node of a graph."""
    return text if len(text) <= _LABEL else f'{text[: _LABEL - 1]}…'
