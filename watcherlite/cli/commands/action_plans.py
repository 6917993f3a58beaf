"""`watcherlite actionplan`."""

import argparse
from typing import TYPE_CHECKING, Any

from watcherlite import exceptions
from watcherlite.cli import formatting
from watcherlite.cli.command import argument, flag
from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.formatting import Column, Row, fields
from watcherlite.states import action_plan as states

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

COLLECTION = 'action_plans'
IDENTIFIER = 'UUID'
LISTED = fields(
    'uuid',
    Column('Audit', 'audit_uuid'),
    'state updated_at',
    Column('Global efficacy', 'global_efficacy', formatting.indicators),
)
SHOWN = fields(
    'uuid created_at updated_at deleted_at',
    Column('Audit', 'audit_uuid'),
    Column('Strategy', 'strategy_name'),
    'state',
    Column('Efficacy indicators', 'efficacy_indicators', formatting.indicators),
    Column('Global efficacy', 'global_efficacy', formatting.indicators),
    'hostname status_message name',
)


class ActionPlanList(base.List):
    """List action plans."""

    collection = COLLECTION
    columns = LISTED
    detail_columns = SHOWN
    filters = (
        Filter(
            '--audit',
            'audit_uuid',
            'UUID',
            'filter by the audit that proposed the plan',
        ),
        Filter(
            '--strategy', 'strategy', 'STRATEGY', 'filter by strategy: UUID or name'
        ),
        Filter('--state', 'state', 'STATE', 'filter by state'),
    )


class ActionPlanShow(base.ShowFound):
    """Show an action plan."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN


class ActionPlanCreate(base.Show):
    """Create an action plan from a document.

    The document is the one that `watcherlite run` takes. The plan is RECOMMENDED until
    it is started.
    """

    columns = SHOWN
    arguments = (
        argument('plan', 'PLAN', 'plan document, YAML or JSON; - for standard input'),
        flag('--start', 'start the plan immediately'),
    )

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Store the plan; return it."""
        # Help needs no YAML
        from watcherlite.cli import input_files
        from watcherlite.domain.documents import plan_document

        # Reports line numbers of problems, which the API does not know
        document = input_files.read(parsed.plan)
        found: Row = client.post(COLLECTION, body=plan_document.to_mapping(document))
        if parsed.start:
            found = client.post(COLLECTION, str(found['uuid']), 'start', body={})
        return found


class ActionPlanUpdate(base.Update):
    """Change attributes of an action plan.

    Only the state can be changed: `replace state=PENDING` starts the plan,
    `replace state=CANCELLED` cancels it.
    """

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN


class ActionPlanStart(base.ShowFound):
    """Start an action plan."""

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Start the plan; return it."""
        return client.post(COLLECTION, parsed.identifier, 'start', body={})


class ActionPlanCancel(base.ShowFound):
    """Cancel an action plan.

    Actions that have not started become CANCELLED, running actions are signalled.
    """

    collection = COLLECTION
    identifier = IDENTIFIER
    columns = SHOWN

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Cancel the plan; return it.

        The new state depends on the current one; if the plan has started in the
        meantime, the request is repeated.
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


class ActionPlanDelete(base.Delete):
    """Delete action plans that have ended."""

    collection = COLLECTION
    identifier = IDENTIFIER
