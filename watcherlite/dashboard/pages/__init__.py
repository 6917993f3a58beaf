"""The pages: one module a noun, with the handlers of its pages and forms."""

import dataclasses
from collections.abc import Mapping, Sequence

from watcherlite.dashboard.pages import (
    action_plans,
    actions,
    audit_templates,
    audits,
    clusters,
    home,
    nodes,
    notifications,
    plugins,
    requests,
    services,
    stacks,
    strategies,
)
from watcherlite.dashboard.views import PageTable


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the navigation.

    :param path: the segment after the prefix; '' for the home page
    :param rule: the policy rule without which a user does not see it; '': everybody
    """

    path: str
    title: str
    rule: str = ''


NAVIGATION: Sequence[Entry] = (
    Entry('', 'Overview'),
    Entry('action_plans', 'Action plans', 'action_plan:get_all'),
    Entry('actions', 'Actions', 'action:get_all'),
    Entry('audits', 'Audits', 'audit:get_all'),
    Entry('audit_templates', 'Audit templates', 'audit_template:get_all'),
    Entry('goals', 'Goals and strategies', 'goal:get_all'),
    Entry('stacks', 'Stacks', 'stacks:index'),
    Entry('clusters', 'Clusters', 'clusters:index'),
    Entry('nodes', 'Nodes', 'nodes:index'),
    Entry('services', 'Services', 'service:detail'),
    Entry('notifications', 'Notifications', 'notification:get_all'),
    Entry('requests', 'Requests', 'request:get_all'),
    Entry('plugins', 'Plugins', 'plugin:get_all'),
)
TABLES: Sequence[PageTable] = (
    home.PAGES,
    action_plans.PAGES,
    actions.PAGES,
    audits.PAGES,
    audit_templates.PAGES,
    strategies.PAGES,
    clusters.PAGES,
    nodes.PAGES,
    services.PAGES,
    notifications.PAGES,
    plugins.PAGES,
    requests.PAGES,
    stacks.PAGES,
)
#: Path of a stream -> path of the API's history.
STREAMS: Mapping[str, str] = {
    '/dashboard/action_plans/{uuid}/events': '/v1/action_plans/{uuid}/events',
    '/dashboard/actions/{uuid}/logs': '/v1/actions/{uuid}/logs',
}
#: Argument `done` of a page -> the message after a form was executed.
DONE: Mapping[str, str] = {
    'started': 'The action plan was started.',
    'changed': 'The change was requested.',
    'created': 'It was created.',
    'deleted': 'It was deleted.',
    'cancelled': 'The cancellation was requested.',
    'retried': 'This action plan has the actions that did not succeed; start it when '
    'you have reviewed it.',
    'skipped': 'The chosen actions were skipped.',
    'reason': 'The reason was changed.',
    'suspended': 'The suspension was requested.',
    'resumed': 'The action was resumed.',
    'check': 'The check was requested.',
    'recovery': 'The recovery was requested.',
}
