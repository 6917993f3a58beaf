"""`watcherlite actionplan`."""

import argparse
import datetime
from typing import TYPE_CHECKING, Any

from watcherlite import exceptions
from watcherlite.cli import formatting
from watcherlite.cli.command import argument, flag
from watcherlite.cli.commands import base
from watcherlite.cli.formatting import Column, Row, fields
from watcherlite.states import action_plan as states

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client


START = flag('--start', 'start the plan immediately')


def _age(created_at: Any) -> int | None:
    return formatting.age(created_at, datetime.datetime.now(datetime.UTC))


#: Columns that the API of Watcher does not have.
_PROGRESS = (
    Column('Progress', 'progress', formatting.progress),
    Column('Age', 'created_at', formatting.duration, derive=_age),
)
PLAN_COLUMNS = fields(
    'uuid created_at updated_at deleted_at',
    Column('Audit', 'audit_uuid'),
    Column('Strategy', 'strategy_name'),
    'state',
    Column('Efficacy indicators', 'efficacy_indicators', formatting.indicators),
    Column('Global efficacy', 'global_efficacy', formatting.indicators),
    'hostname status_message name',
    *_PROGRESS,
)


class _ActionPlans(base.Remote):
    collection = 'action_plans'
    metavar = 'UUID'
    identifier = 'UUID of the object'
    listed = fields(
        'uuid',
        Column('Audit', 'audit_uuid'),
        'state updated_at',
        Column('Global efficacy', 'global_efficacy', formatting.indicators),
        *_PROGRESS,
    )
    columns = PLAN_COLUMNS


class ActionPlanList(_ActionPlans, base.List):
    """List action plans."""

    needs_details = True
    filters = (base.BY_AUDIT, base.BY_STRATEGY, base.BY_STATE, *base.SEARCH)


class ActionPlanShow(_ActionPlans, base.ShowFound):
    """Show an action plan."""


class ActionPlanCreate(_ActionPlans, base.Show):
    """Create an action plan from a document.

    The document is the one that `watcherlite run` takes. The plan is RECOMMENDED until
    it is started.
    """

    arguments = (
        argument('plan', 'PLAN', 'plan document, YAML or JSON; - for standard input'),
        START,
    )

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        # Help needs no YAML
        from watcherlite.cli import input_files
        from watcherlite.domain.documents import plan_document

        # Reports line numbers of problems, which the API does not know
        document = input_files.read(parsed.plan)
        found: Row = client.post(
            self.collection, body=plan_document.to_mapping(document)
        )
        return start_if_requested(client, parsed, found)


class ActionPlanRetry(_ActionPlans, base.ShowFound):
    """Create an action plan that retries the unsuccessful actions of a plan.

    The plan must be FAILED or CANCELLED. The new plan is RECOMMENDED until it is
    started. Its actions depend on each other as before.
    """

    arguments = (START,)

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        found = client.post(self.collection, parsed.identifier, 'retry', body={})
        return start_if_requested(client, parsed, found)


def start_if_requested(client: 'Client', parsed: argparse.Namespace, plan: Row) -> Row:
    """Start a new plan if the option `--start` is given; return the plan."""
    if not parsed.start:
        return plan
    return client.post('action_plans', str(plan['uuid']), 'start', body={})


class ActionPlanUpdate(_ActionPlans, base.Update):
    """Change attributes of an action plan.

    Only the state can be changed: `replace state=PENDING` starts the plan,
    `replace state=CANCELLED` cancels it.
    """


class ActionPlanStart(_ActionPlans, base.ShowFound):
    """Start an action plan."""

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        return client.post(self.collection, parsed.identifier, 'start', body={})


class ActionPlanCancel(_ActionPlans, base.ShowFound):
    """Cancel an action plan.

    Actions that have not started become CANCELLED, running actions are signalled.
    """

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Cancel the plan; return it.

        The new state depends on the current one; if the plan has started in the
        meantime, the request is repeated.
        """
        state = client.get(self.collection, parsed.identifier)['state']
        try:
            return self._patch(client, parsed.identifier, state)
        except (exceptions.Invalid, exceptions.Conflict):
            now = client.get(self.collection, parsed.identifier)['state']
            if now == state:
                raise
            return self._patch(client, parsed.identifier, now)

    def _patch(self, client: 'Client', identifier: str, state: Any) -> Row:
        desired = states.CANCELLING if state == states.ONGOING else states.CANCELLED
        changes = [{'op': 'replace', 'path': '/state', 'value': desired}]
        return client.patch(self.collection, identifier, changes=changes)


class ActionPlanDelete(_ActionPlans, base.Delete):
    """Delete action plans that have ended."""
