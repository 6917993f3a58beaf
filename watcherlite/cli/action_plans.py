"""`watcherlite actionplan`: proposed, reviewed, started, cancelled, deleted."""

import argparse
from typing import TYPE_CHECKING, Any

from watcherlite import exceptions
from watcherlite.cli import cells, remote
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.remote import Filter
from watcherlite.states import action_plan as states

if TYPE_CHECKING:
    from watcherlite.cli.client import Client

COLLECTION = 'action_plans'
IDENTIFIER = 'UUID'
LISTED = (
    Column('UUID', 'uuid'),
    Column('Audit', 'audit_uuid'),
    Column('State', 'state'),
    Column('Updated At', 'updated_at'),
    Column('Global efficacy', 'global_efficacy', cells.indicators),
)
SHOWN = (
    Column('UUID', 'uuid'),
    Column('Created At', 'created_at'),
    Column('Updated At', 'updated_at'),
    Column('Deleted At', 'deleted_at'),
    Column('Audit', 'audit_uuid'),
    Column('Strategy', 'strategy_name'),
    Column('State', 'state'),
    Column('Efficacy indicators', 'efficacy_indicators', cells.indicators),
    Column('Global efficacy', 'global_efficacy', cells.indicators),
    Column('Hostname', 'hostname'),
    Column('Status Message', 'status_message'),
    Column('Name', 'name'),
)


class ActionPlanList(remote.List):
    """List action plans."""

    collection = COLLECTION
    columns = LISTED
    detail_columns = SHOWN
    filters = (
        Filter('--audit', 'audit_uuid', 'UUID', 'those that this audit proposed'),
        Filter('--strategy', 'strategy', 'STRATEGY', 'those of this one: UUID or name'),
        Filter('--state', 'state', 'STATE', 'those in this state'),
    )


class ActionPlanShow(remote.ShowFound):
    """Show an action plan."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN


class ActionPlanCreate(remote.Show):
    """Store an action plan from its document.

    It is the document that `watcherlite run` takes. The plan is RECOMMENDED: it is
    executed when somebody starts it.
    """

    columns = SHOWN

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'plan',
            metavar='PLAN',
            help='the plan document, YAML or JSON; - for standard input',
        )
        parser.add_argument(
            '--start', action='store_true', help='start it at once as well'
        )
        return parser

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Store the plan; return it."""
        # Help needs no YAML
        from watcherlite.cli import plan_file
        from watcherlite.domain import documents

        # With the lines of what is wrong, which the API does not know
        document = plan_file.read(parsed.plan)
        found: Row = client.post(COLLECTION, body=documents.to_mapping(document))
        if parsed.start:
            found = client.post(COLLECTION, str(found['uuid']), 'start', body={})
        return found


class ActionPlanUpdate(remote.Update):
    """Change attributes of an action plan.

    What can be changed is its state: `replace state=PENDING` starts it,
    `replace state=CANCELLED` cancels it.
    """

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN


class ActionPlanStart(remote.ShowFound):
    """Start an action plan."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Start the plan; return it."""
        return client.post(COLLECTION, parsed.identifier, 'start', body={})


class ActionPlanCancel(remote.ShowFound):
    """Cancel an action plan.

    Actions that have not started become CANCELLED; running ones are told to stop.
    """

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Cancel the plan; return it.

        What to ask for depends on its state. That it began meanwhile is no refusal
        that anybody has to read.
        """
        state = client.get(COLLECTION, parsed.identifier)['state']
        try:
            return self._patch(client, parsed.identifier, state)
        except (exceptions.Invalid, exceptions.Conflict):
            now = client.get(COLLECTION, parsed.identifier)['state']
            if now == state:
                raise
            return self._patch(client, parsed.identifier, now)

    def _patch(self, client: 'Client', identifier: str, state: Any) -> Row:
        wanted = states.CANCELLING if state == states.ONGOING else states.CANCELLED
        changes = [{'op': 'replace', 'path': '/state', 'value': wanted}]
        return client.patch(COLLECTION, identifier, changes=changes)


class ActionPlanDelete(remote.Delete):
    """Delete action plans that have ended."""

    collection = COLLECTION
    identifier = IDENTIFIER
